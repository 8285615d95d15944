import unittest, multiprocessing as mp, os, signal, logging
logging.basicConfig(level=logging.INFO)
def die(): os.kill(os.getpid(), signal.SIGSEGV)
def raise_(): raise RuntimeError("NCCL error: unhandled system error (injected)")
class T(unittest.TestCase):
    def _p(self,f): p=mp.get_context("fork").Process(target=f); p.start(); p.join(); return p.exitcode
    def test_child_raises(self): logging.error("expecting a traceback below"); self.assertEqual(self._p(raise_),1)
    def test_child_segv(self): self.assertEqual(self._p(die),-11)
    @unittest.expectedFailure
    def test_known_bug(self): self.assertEqual(1,2)
    def test_ok(self): self.assertTrue(True)
    @unittest.skip("needs 8 GPUs")
    def test_big(self): pass
unittest.main(verbosity=2)
