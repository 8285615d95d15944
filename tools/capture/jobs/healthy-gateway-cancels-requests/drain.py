import asyncio, signal, os, logging, traceback
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"); log=logging.getLogger("gateway")
async def req(i):
    try: await asyncio.sleep(0.05*i); log.info("request %d answered in %d ms", i, 50*i)
    except asyncio.CancelledError:
        log.error("request %d cancelled by shutdown", i, exc_info=True); raise
async def main():
    stop=asyncio.Event(); loop=asyncio.get_running_loop(); loop.add_signal_handler(signal.SIGTERM, stop.set)
    log.info("listening on 0.0.0.0:8000"); ts=[asyncio.create_task(req(i)) for i in range(1,12)]
    loop.call_later(0.3, os.kill, os.getpid(), signal.SIGTERM); await stop.wait()
    log.warning("received SIGTERM, draining %d requests", sum(not t.done() for t in ts))
    for t in ts: t.cancel()
    await asyncio.gather(*ts, return_exceptions=True); log.info("shutdown complete")
asyncio.run(main())
