"""Exceptions that no rule knows: their name, words and stack tell what kind of failure they are."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

SITE = "/opt/venv/lib/python3.12/site-packages"


def frame(path: str, function: str, code: str = "pass") -> str:
    """A frame as Python prints it."""
    return f'  File "{path}", line 41, in {function}\n    {code}\n'


def traceback(*frames: str, ends: str) -> str:
    """A traceback of rank 3."""
    text = "Traceback (most recent call last):\n" + "".join(frames) + ends + "\n"
    return "".join(f"[rank3]: {line}\n" for line in text.splitlines())


MAIN = frame("/work/run.py", "main", "trainer.fit()")


def told(engine: Engine, text: str) -> Diagnosis:
    """The diagnosis of one log."""
    return engine.diagnose(Source(name="job.err", data=text.encode()))


@pytest.mark.parametrize(
    ("log", "category"),
    [
        (
            traceback(
                frame(f"{SITE}/verl/trainer/main_ppo.py", "main_task"),
                frame(f"{SITE}/verl/workers/reward_manager/naive.py", "__call__"),
                frame(f"{SITE}/verl/utils/reward_score/__init__.py", "_default_compute_score", "raise NotImplementedError"),
                ends="NotImplementedError",
            ),
            "config",
        ),
        (
            traceback(
                MAIN, frame("/work/src/checkpoints.py", "initialize_directory"),
                ends="FileExistsError: Directory /data/out/run7 already exists. Use --overwrite or --resume",
            ),
            "config",
        ),
        (
            traceback(
                MAIN, frame("/work/settings.py", "__init__", "with open(name) as file:"),
                ends="IsADirectoryError: [Errno 21] Is a directory: '/work/v2'",
            ),
            "config",
        ),
        (
            traceback(
                MAIN, frame(f"{SITE}/paddle/distributed/parallel.py", "init_parallel_env"),
                ends="AttributeError: module 'paddle.fluid.core_avx' has no attribute 'NCCLParallelContext'",
            ),
            "driver-or-version",
        ),
        (
            traceback(
                MAIN, frame("/work/model.py", "build", "return layers.Fancy()"),
                ends="AttributeError: module 'layers' has no attribute 'Fancy'",
            ),
            "user-code",
        ),
        (
            traceback(
                MAIN, frame(f"{SITE}/somelib/trainer.py", "_save_checkpoint"),
                frame("/usr/lib/python3.12/os.py", "renames"),
                ends="OSError: [Errno 39] Directory not empty: 'tmp-7' -> 'step-7'",
            ),
            "checkpoint",
        ),
        (
            traceback(
                MAIN, frame(f"{SITE}/torch/utils/data/dataloader.py", "__next__"),
                frame("/work/data.py", "__getitem__"), ends="OSError: unexpected end of shard 12",
            ),
            "data-loading",
        ),
        (
            traceback(
                MAIN, frame(f"{SITE}/torch/_inductor/codegen/triton.py", "codegen_kernel"),
                ends="NotImplementedError: no lowering for this layout",
            ),
            "compile-or-graph-capture",
        ),
        (
            traceback(
                MAIN, frame(f"{SITE}/huggingface_hub/file_download.py", "_raise_on_head_call"),
                ends="SomeNewHubError: the file is neither cached nor reachable",
            ),
            "auth-or-hub",
        ),
        (traceback(MAIN, ends="ValueError: loss is nan at step 812, stopping"), "numerics"),
        (traceback(MAIN, frame(f"{SITE}/somelib/io.py", "link"), ends="OSError: [Errno 31] Too many links"), "storage"),
        (traceback(MAIN, frame("/work/data.py", "__getitem__"), ends="NameError: name 'indx' is not defined"), "user-code"),
        (
            traceback(
                MAIN, frame(f"{SITE}/somelib/conf.py", "read"),
                ends="FileNotFoundError: [Errno 2] No such file or directory: '/w/run.yaml'",
            ),
            "config",
        ),
        (traceback(MAIN, ends="ConnectionRefusedError: [Errno 111] Connection refused"), "network-config"),
        # a slip of torch's own, with nobody above who called it: what it was doing is all that is known
        (
            traceback(
                frame(f"{SITE}/torch/distributed/checkpoint/utils.py", "reduce_scatter"),
                frame(f"{SITE}/torch/distributed/checkpoint/default_planner.py", "create_local_plan"),
                ends="AttributeError: 'NoneType' object has no attribute 'device_mesh'",
            ),
            "checkpoint",
        ),
        # recomputation in the backward pass is called a checkpoint too
        (
            traceback(
                MAIN, frame(f"{SITE}/torch/utils/checkpoint.py", "checkpoint"), frame("/work/model.py", "forward"),
                ends="RuntimeError: expected 4 heads",
            ),
            "user-code",
        ),
    ],
)  # fmt: skip
def test_what_was_being_done_tells_the_kind(engine: Engine, log: str, category: str) -> None:
    diagnosis = told(engine, log)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == category
    assert diagnosis.root_cause.origin.rank == 3


def test_a_name_in_rays_wrapper_counts(engine: Engine) -> None:
    diagnosis = told(
        engine, "ray.exceptions.RayTaskError(OutOfMemoryError): ray::Worker.step() (pid=81, ip=10.0.0.7)\n"
    )
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "gpu-oom"


def test_rays_wrapper_without_the_remote_traceback_blames_nobodys_code(engine: Engine) -> None:
    diagnosis = told(
        engine,
        "(RayWorkerVllm pid=2079, ip=10.0.1.75) [E socket.cpp:922] [c10d] The client socket has timed out after 1800s "
        "while trying to connect to (10.0.0.7, 44737).\n"
        "Traceback (most recent call last):\n" + frame("/work/train_ppo.py", "train", "ray.get(refs)")
        + "ray.exceptions.RayTaskError(DistNetworkError): ray::RayWorkerVllm.execute_method() (pid=2079, ip=10.0.1.75)\n",
    )  # fmt: skip
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "rendezvous"


def test_a_log_that_begins_within_a_traceback(engine: Engine) -> None:
    whole = traceback(MAIN, frame("/work/model.py", "load_checkpoint"), ends="KeyError: 'optimizer.state.7'")
    diagnosis = told(engine, whole.split("\n", 2)[2])
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "checkpoint"
    assert diagnosis.root_cause.origin.rank == 3
    assert any("optimizer.state.7" in e.text for e in diagnosis.root_cause.evidence)


def test_frames_that_only_show_where_somebody_is(engine: Engine) -> None:
    log = (
        "Stack (most recent call last):\n" + MAIN + "INFO trainer: step 12 loss 2.1\n"
        "INFO trainer: step 13 loss 2.0\nINFO trainer: Training complete\n"
    )
    assert told(engine, log).verdict == "healthy"


def test_a_log_that_ends_before_the_exception_is_named(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        + MAIN
        + frame(f"{SITE}/somelib/cache.py", "fetch", 'raise LocalEntryNotFoundError("not in the cache')
    )
    diagnosis = told(engine, log)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "auth-or-hub"


@pytest.mark.parametrize("cut", ["some", ", line", ", in"])
def test_a_console_breaks_the_lines_of_frames(engine: Engine, cut: str) -> None:
    path = f"{SITE}/" + "a/" * 20 + "somelib/storage.py"
    text = frame(path, "write").replace(cut, cut + "\n")
    log = "Traceback (most recent call last):\n" + MAIN + text + "BlobError: quota\n"
    diagnosis = told(engine, log)
    assert diagnosis.root_cause is not None
    assert "BlobError" in diagnosis.root_cause.summary


def test_what_a_rule_knows_in_one_process_is_known_in_the_other(engine: Engine) -> None:
    refused = "RuntimeError: NCCL error in: /pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:911, invalid usage, NCCL version 2.9.6"
    log = "".join(
        'Traceback (most recent call last):\n  File "' + path + '", line 12, in <module>\n    fit(model)\n'
        f'  File "{SITE}/torch/nn/parallel/distributed.py", line 446, in __init__\n    verify(group)\n{refused}\n'
        for path in ("fit.py", "/home/u/fit.py")
    )
    root = told(engine, log).root_cause
    assert root is not None
    assert root.rule_id == "torch.nccl-invalid-usage"


def test_a_library_that_slips_while_it_is_imported_does_not_fit(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        + frame(f"{SITE}/engine/core.py", "run", "from sharedbuf.exchange import swap")
        + frame(f"{SITE}/sharedbuf/exchange.py", "<module>", "def swap(fds: array.array[int]) -> None:")
        + "TypeError: type 'array.array' is not subscriptable\n"
    )
    root = told(engine, log).root_cause
    assert root is not None
    assert root.category == "driver-or-version"


def test_torn_tracebacks_of_processes_that_were_interrupted(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\nTraceback (most recent call last):\n"
        + frame("/w/train.py", "<module>", "import nltk")
        + "[2026-03-01 22:22:49,956] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 4064612\n"
        + "    import nltkimport nltk\n\n"
        + frame(f"{SITE}/nltk/__init__.py", "<module>", "from nltk.text import *")
        + "KeyboardInterrupt\n"
        + "[2026-03-01 22:22:50,094] [INFO] [launch.py:328:sigkill_handler] Main process received SIGINT, exiting\n"
        + "Traceback (most recent call last):\n"
        + frame(f"{SITE}/deepspeed/launcher/runner.py", "main", "result.wait()")
        + "KeyboardInterrupt\n"
    )
    root = told(engine, log).root_cause
    assert root is not None
    assert root.category == "scheduler"


def test_a_request_refused_again_and_again_is_known_each_time(engine: Engine) -> None:
    refused = "".join(
        f"ERROR 08-18 19:5{n}:43 [serving_chat.py:203] {line}\n"
        for n in range(3)
        for line in (
            "Error in preprocessing prompt inputs",
            "Traceback (most recent call last):",
            f'  File "{SITE}/vllm/entrypoints/openai/serving_engine.py", line 626, in _validate_input',
            "    raise ValueError(",
            f"ValueError: This model's maximum context length is 2048 tokens. However, you requested 54{n}8 tokens.",
        )
    )
    log = (
        "INFO 08-18 19:57:21 [api_server.py:1818] Starting vLLM API server 0 on http://0.0.0.0:8000\n"
        + refused
    )
    log += "INFO:     Shutting down\nINFO:     Application shutdown complete.\n"
    assert told(engine, log).verdict == "healthy"


SCRIPT = "/work/run.py"


@pytest.mark.parametrize(
    ("log", "category"),
    [
        # what lets itself be indexed is no data set
        (
            traceback(
                frame(SCRIPT, "train", "if not settings_of(run)['tune']:"), frame(f"{SITE}/tracker/sdk/run_config.py", "__getitem__"),
                ends="KeyError: 'tune'",
            ),
            "user-code",
        ),
        (
            traceback(
                frame(SCRIPT, "train", "x = pairs[4]"), frame(f"{SITE}/h5py/_hl/group.py", "__getitem__"),
                ends="KeyError: \"Unable to open object (object 'frames' doesn't exist)\"",
            ),
            "data-loading",
        ),
        # a key that is looked up among the settings is one of them
        (
            traceback(
                frame("/work/datasets/build.py", "build"),
                frame("/work/datasets/scaler.py", "__init__", 'names = conf["data"]["channels"]'),
                ends="KeyError: 'channels'",
            ),
            "config",
        ),
        # what was to be written was not read
        (
            traceback(
                frame(SCRIPT, "draw", "fig.savefig(path, dpi=200)"), frame(f"{SITE}/PIL/Image.py", "save"),
                ends="FileNotFoundError: [Errno 2] No such file or directory: '/out/figures/heat.png'",
            ),
            "storage",
        ),
        (
            traceback(
                frame(SCRIPT, "main", "keys = [k for k in os.listdir(folder)]"),
                ends="FileNotFoundError: [Errno 2] No such file or directory: '/data/pockets'",
            ),
            "storage",
        ),
        # what is data by its name, wherever it lies
        (
            traceback(
                frame(SCRIPT, "main", "with open(path) as f:"),
                ends="FileNotFoundError: [Errno 2] No such file or directory: '/data/shapes/train_manifest.json'",
            ),
            "data-loading",
        ),
        (
            traceback(
                frame(SCRIPT, "main", "with open(path) as f:"),
                ends="FileNotFoundError: [Errno 2] No such file or directory: '/data/shapes/run.json'",
            ),
            "user-code",
        ),
        # a descriptor that is closed is the program's own doing
        (
            traceback(frame(SCRIPT, "ask", 'note = input("Notes: ")'), ends="OSError: [Errno 9] Bad file descriptor"),
            "user-code",
        ),
    ],
)  # fmt: skip
def test_what_was_looked_up_or_written_tells_the_kind(engine: Engine, log: str, category: str) -> None:
    root = told(engine, log).root_cause
    assert root is not None
    assert root.category == category


def test_harmless_words_below_a_message_do_not_make_the_exception_harmless(engine: Engine) -> None:
    """What a library quotes as its last words may be a line that is harmless where it stands alone."""
    retry = "socketPollConnect: connect to 10.0.0.5<41233> returned Connection refused, retrying (3/34) after sleep for 300 msec"
    below = f"Last error:\n{retry}\n"
    found = told(
        engine, MAIN + frame(f"{SITE}/zoo/gate.py", "open") + "zoo.GateError: the gate did not open\n" + below
    )
    assert found.verdict == "failed"


def test_what_is_printed_below_a_slip_is_not_its_message(engine: Engine) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/work/engine.py", line 584, in train_step\n    loss = probs[best]\n'
        "TypeError: only integer tensors of a single element can be converted to an index\n"
        "Consistency loss: tensor(nan, device='cuda:0')\n"
    )
    root = told(engine, log).root_cause
    assert root is not None and root.category == "user-code"


def test_the_line_of_an_assertion_is_not_what_it_says(engine: Engine) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/work/engine.py", line 443, in train_step\n    scaler.step(optimizer)\n'
        f'  File "{SITE}/torch/amp/grad_scaler.py", line 372, in step\n'
        '    assert len(state["found_inf"]) > 0, "No inf checks were recorded for this optimizer."\n'
        "AssertionError: No inf checks were recorded for this optimizer.\n"
    )
    root = told(engine, log).root_cause
    assert root is not None and root.category == "user-code"
    assert root.evidence[0].text.startswith("AssertionError: ")


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ('spec = json.loads(os.environ["RUN_SPEC"])', "config"),
        ("spec = json.loads(os.getenv('RUN_SPEC'))", "config"),
        ("spec = json.loads(answer.text)", "user-code"),
    ],
)
def test_what_a_program_was_started_with_cannot_be_read(engine: Engine, code: str, category: str) -> None:
    log = traceback(
        frame("/work/agent.py", "<module>", code),
        frame("/usr/lib/python3.11/json/__init__.py", "loads", "return _default_decoder.decode(s)"),
        ends="json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    )
    cause = told(engine, log).root_cause
    assert cause is not None and cause.category == category


def test_what_is_raised_of_a_known_symptom_is_no_cause_of_its_own(engine: Engine) -> None:
    # a program that waits for workers says in its own words that one of them has gone
    text = (
        "(raylet) The node with node id: 5ad7 and address: 10.1.0.8 and node name: 10.1.0.8 has been marked dead"
        " because the detector has missed too many heartbeats from it.\n"
        "Traceback (most recent call last):\n"
        + frame("/work/run.py", "main", "result = ray.get(refs)")
        + "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n"
        "\tclass_name: Learner\n\tpid: 61\n\tip: 10.1.0.8\n"
        "\nThe above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        + frame("/work/run.py", "<module>", "main()")
        + "run.LearnersGone: learners 4 to 7 have left\n"
    )
    diagnosis = told(engine, text)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.rule_id == "ray.node-dead"


def test_importing_a_module_of_data_sets_loads_no_data(engine: Engine) -> None:
    log = traceback(
        frame("/work/train.py", "<module>", "from reader.datasets import build_dataset"),
        frame("/work/reader/datasets/__init__.py", "<module>", "from .loading import Decode"),
        frame("/work/reader/datasets/loading.py", "<module>", "class Decode:"),
        frame(
            f"{SITE}/mmcv/utils/registry.py",
            "_register_module",
            "raise KeyError(f'{name} is already registered '",
        ),
        ends="KeyError: 'Decode is already registered in pipeline'",
    )
    diagnosis = told(engine, log)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "user-code"


def test_what_breaks_while_an_exception_is_handled_does_not_explain_it(engine: Engine) -> None:
    # the process cannot tell its parent, which has gone by then
    pipe = "/usr/lib/python3.12/multiprocessing/connection.py"
    text = (
        "Process SpawnProcess-1:\nTraceback (most recent call last):\n"
        + frame(f"{SITE}/torch/multiprocessing/spawn.py", "_wrap", "fn(i, *args)")
        + frame("/work/evaluate.py", "evaluate", "for data in self.loader:")
        + "TypeError: 'Loader' object is not iterable\n"
        "\nDuring handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        + frame("/usr/lib/python3.12/multiprocessing/process.py", "_bootstrap", "self.run()")
        + frame(pipe, "_send_bytes", "self._send(header + buf)")
        + frame(pipe, "_send", "n = write(self._handle, buf)")
        + "BrokenPipeError: [Errno 32] Broken pipe\n"
    )
    diagnosis = told(engine, text)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "user-code"
    assert "not iterable" in diagnosis.root_cause.summary


def test_a_slip_deep_in_a_library_is_about_what_it_was_given(engine: Engine) -> None:
    log = traceback(
        MAIN, *(frame(f"{SITE}/somelib/layer{i}.py", "forward") for i in range(6)),
        frame(f"{SITE}/somelib/trainer.py", "step", "for ref in [self.model, self.accelerator.get('model')]:"),
        ends="AttributeError: 'Accelerator' object has no attribute 'get'",
    )  # fmt: skip
    diagnosis = told(engine, log)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.rule_id == "unknown.refused-call"


def test_a_status_with_which_a_launcher_ends_is_no_refusal(engine: Engine) -> None:
    text = (
        '*** Aborted at 1576123353 (unix time) try "date -d @1576123353" if you are using GNU date ***\n'
        "*** SIGSEGV (@0x0) received by PID 24044 (TID 0x7f6406bd7740) from PID 0; stack trace: ***\n"
        "    @     0x7f64067b55d0 (unknown)\n"
        "Traceback (most recent call last):\n"
        + frame(f"{SITE}/somelauncher/launch.py", "terminate_procs", "sys.exit(1)")
        + "SystemExit: 1\n"
    )
    diagnosis = told(engine, text)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "rank-crash"


def test_what_a_launcher_says_below_an_exception_is_not_the_exception(engine: Engine) -> None:
    text = (
        "LAUNCH INFO 2023-04-07 11:21:32,488 Pod failed\n"
        "Traceback (most recent call last):\n"
        + frame("train.py", "<module>", "main()")
        + frame("train.py", "main", "table = names[17]")
        + "IndexError: list index out of range\n"
        "LAUNCH INFO 2023-04-07 11:21:33,490 Exit code 1\n"
    )
    diagnosis = told(engine, text)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "user-code"
    assert "list index" in diagnosis.root_cause.evidence[0].text


def test_a_library_that_fails_while_the_program_imports_it_does_not_fit(engine: Engine) -> None:
    log = traceback(
        frame("/work/pretrain.py", "<module>", "from somelib.training import get_args"),
        frame(f"{SITE}/somelib/__init__.py", "<module>", "_load_library()"),
        frame(f"{SITE}/somelib/__init__.py", "_load_library", "so_path = next(folder.glob(pattern))"),
        ends="StopIteration",
    )
    diagnosis = told(engine, log)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "driver-or-version"


def test_the_status_of_a_child_is_not_what_it_died_of(engine: Engine) -> None:
    text = (
        "Traceback (most recent call last):\n"
        + frame("train.py", "launch", "raise RuntimeError(words)")
        + "RuntimeError: Step 1 exited with non-zero status 1\n"
        "[E socket.cpp:435] [c10d] The server socket has failed to listen on any local network address.\n"
        "RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed"
        " to bind to [::]:29600 (errno: 98 - Address already in use).\n"
    )
    diagnosis = told(engine, text)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "port-conflict"


def test_frames_of_windows_have_libraries_too(engine: Engine) -> None:
    home = r"C:\Users\u\.conda\envs\fusion"
    text = (
        "Traceback (most recent call last):\n"
        + frame(rf"{home}\lib\runpy.py", "_run_code", "exec(code, run_globals)")
        + frame(rf"{home}\Scripts\launch.exe\__main__.py", "<module>")
        + frame(rf"{home}\lib\site-packages\launch\runner.py", "main", "raise LaunchError(words)")
        + "launch.errors.LaunchError: the word of a launcher\n"
    )
    diagnosis = told(engine, text)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.rule_id != "unknown.user-code"


def test_a_pipe_between_processes_of_a_node_is_no_network(engine: Engine) -> None:
    lib = "/opt/venv/lib/python3.12"
    ends = "ConnectionRefusedError: [Errno 111] Connection refused"
    pins = traceback(
        frame(f"{lib}/threading.py", "_bootstrap_inner", "self.run()"),
        frame(f"{SITE}/torch/utils/data/_utils/pin_memory.py", "do_one_step", "r = in_queue.get(timeout=5)"),
        frame(f"{lib}/multiprocessing/queues.py", "get", "return _ForkingPickler.loads(res)"),
        frame(f"{lib}/multiprocessing/resource_sharer.py", "get_connection", "c = Client(address)"),
        frame(f"{lib}/multiprocessing/connection.py", "SocketClient", "s.connect(address)"),
        ends=ends,
    )
    root = told(engine, pins).root_cause
    assert root is not None
    assert root.category == "data-loading"
    asks = traceback(MAIN, frame("/work/client.py", "ask", "s.connect(address)"), ends=ends)
    root = told(engine, asks).root_cause
    assert root is not None
    assert root.category == "network-config"


ENGINE = "ERROR 04-07 10:56:15 [core.py:390] "
INDUCTOR = "/root/.cache/vllm/torch_compile_cache/ea2d/rank_1_0/inductor_cache/7a/c7an.py"


def engine_failed(*frames: str, ends: str) -> str:
    """How vLLM's engine core names itself on the line on which its traceback begins."""
    text = "EngineCore hit an exception: Traceback (most recent call last):\n" + "".join(frames) + ends + "\n"
    return "".join(f"{ENGINE}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("path", "category"),
    [(f"{SITE}/vllm/v1/executor/multiproc_executor.py", "user-code"), (INDUCTOR, "compile-or-graph-capture")],
)
def test_who_is_named_where_a_traceback_begins_does_not_stand_for_it(
    engine: Engine, path: str, category: str
) -> None:
    main = frame(f"{SITE}/vllm/v1/engine/core.py", "run_engine_core", "engine_core = EngineCoreProc(*args)")
    log = engine_failed(main, frame(path, "call"), ends="ValueError: too many values to unpack (expected 12)")
    diagnosis = told(engine, log + "Killed\n")
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == category
    assert "too many values" in diagnosis.root_cause.evidence[0].text
