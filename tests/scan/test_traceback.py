"""Tracebacks: what Python, rich, torch, Ray and multiprocessing print, and what is made of it."""

from __future__ import annotations

import io
import textwrap

import pytest

from triage.scan.traceback import Traceback, parse_faulthandler, parse_traceback
from triage.scan.tracebacks.frames import path_kind


def parse(text: str, start: int = 0) -> Traceback:
    lines = textwrap.dedent(text).strip("\n").split("\n")
    found = parse_traceback(lines, start)
    assert found is not None
    return found


def summary(found: Traceback) -> list[tuple[str | None, str, str]]:
    """Type, message and link of every exception of a chain, oldest first."""
    return [(e.exception_type, e.message, e.link) for e in (*found.chain, found)]


ONE = """
Traceback (most recent call last):
  File "/workspace/train.py", line 355, in <module>
    main()
  File "/opt/venv/lib/python3.12/site-packages/torch/cuda/__init__.py", line 1162, in synchronize
    return torch._C._cuda_synchronize()
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  [Previous line repeated 3 more times]
torch.AcceleratorError: CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call.
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.

terminate called after throwing an instance of 'c10::Error'
"""


def test_frames_type_and_message_over_several_lines() -> None:
    found = parse(ONE)
    assert found.exception_type == "torch.AcceleratorError"
    assert found.message.split("\n")[0] == "CUDA error: device-side assert triggered"
    assert found.message.count("\n") == 2
    assert [(f.path[-11:], f.line, f.function, f.kind) for f in found.frames] == [
        ("ce/train.py", 355, "<module>", "user"),
        ("__init__.py", 1162, "synchronize", "torch"),
    ]
    assert found.frames[1].code == "return torch._C._cuda_synchronize()"
    assert found.user_frame == found.frames[0]
    assert found.raising_frame == found.frames[1]
    assert (found.start, found.end, found.message_line) == (0, 10, 7)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (["ValueError: x", "srun: error: gpu-2: task 1: Killed"], "x"),
        (["ValueError: x", "[rank1]:[E1104 18:38:34 a.cpp:1] y"], "x"),
        (["ValueError: x", " 10%|█ | 3/30 [00:01<00:02]"], "x"),
        (["ValueError: x", "Traceback (most recent call last):", '  File "b.py", line 1, in g'], "x"),
        (["ValueError: x", "more of it", "", "not of it"], "x\nmore of it"),
        (["ValueError: x", "Unhandled exception <class 'ValueError'> in thread 3"], "x"),
        (["ValueError: ", "only here"], "only here"),
        (["ValueError", "somebody else"], ""),
        (["ValueError: " + "y" * 20] + ["more"] * 200, "y" * 20 + "\nmore" * 59),
    ],
)
def test_where_a_message_ends(tail: list[str], message: str) -> None:
    found = parse_traceback(["Traceback (most recent call last):", '  File "a.py", line 1, in f', *tail], 0)
    assert found is not None
    assert (found.exception_type, found.message) == ("ValueError", message)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("KeyboardInterrupt", "KeyboardInterrupt"),
        ("torch.distributed.DistBackendError: NCCL error", "torch.distributed.DistBackendError"),
        ("socket.timeout: timed out", "socket.timeout"),
        ("__main__.main.<locals>.Bad: x", "__main__.main.<locals>.Bad"),
        ("ray.exceptions.RayTaskError(ValueError): x", "ray.exceptions.RayTaskError(ValueError)"),
        ("Killed", None),
        ("srun: error: x", None),
        ("step 5 loss=2", None),
    ],
)
def test_exception_names(line: str, expected: str | None) -> None:
    lines = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", line]
    found = parse_traceback(lines, 0)
    assert found is not None
    assert found.exception_type == expected


def test_a_console_breaks_a_frame_right_behind_its_path() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/home/user/envs/train/lib/python3.8/site-packages/torch/nn/parallel/distributed.py"',
        ", line 578, in __init__                                     ",
        "    dist._verify_model_across_ranks(self.process_group, parameters)",
        "RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:891, internal error",
    ]
    found = parse_traceback(lines, 0)
    assert found is not None
    assert found.exception_type == "RuntimeError"
    assert [(frame.line, frame.function) for frame in found.frames] == [(578, "__init__")]


def test_text_before_the_header_and_a_traceback_that_is_cut() -> None:
    found = parse(
        'Scheduler hit an exception: Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()'
    )
    assert (found.exception_type, len(found.frames), found.end) == (None, 1, 3)
    assert parse_traceback(["nothing here"], 0) is None
    assert parse_traceback([], 0) is None


def test_loguru_points_at_the_frame_that_caught() -> None:
    found = parse(
        "Traceback (most recent call last):\n\n"
        '  File "/w/train.py", line 88, in <module>\n    main()\n    └ <function main at 0x7f4ac1>\n\n'
        "> File \"/w/train.py\", line 61, in main\n    x = np.load(path)['x']\n        │       └ '/data/a.npz'\n\n"
        '  File "/usr/lib/python3/dist-packages/numpy/lib/npyio.py", line 462, in load\n    raise ValueError(\n\n'
        "ValueError: Cannot load file containing pickled data"
    )
    assert (found.exception_type, found.message) == ("ValueError", "Cannot load file containing pickled data")
    assert [frame.line for frame in found.frames] == [88, 61, 462]


def test_lines_of_somebody_else_between_frames() -> None:
    found = parse(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in f
            g()
        step 12 loss 3.2

          File "b.py", line 2, in g
            raise E
        ValueError: x
        """
    )
    assert [f.path for f in found.frames] == ["a.py", "b.py"]
    assert found.exception_type == "ValueError"


def test_lines_that_were_held_back_stand_above_the_first_frame() -> None:
    lines = [
        "Traceback (most recent call last):",
        "Step: 99 (0) | Loss: 1.81973 | Grad: 12.10879",
        "Generating samples at epoch 0",
        '  File "/workspace/train.py", line 166, in <module>',
        "    image = make_grid(x)",
        "NameError: name 'cmocean' is not defined",
    ]
    found = parse_traceback(lines, 0)
    assert found is not None
    assert found.exception_type == "NameError"
    assert [frame.line for frame in found.frames] == [166]


@pytest.mark.parametrize("between", ["ValueError: no frames above", "Traceback (most recent call last):", ""])
def test_frames_of_somebody_else_below_a_header(between: str) -> None:
    lines = ["Traceback (most recent call last):", between, '  File "a.py", line 1, in f', "KeyError: 1"]
    found = parse_traceback(lines, 0)
    assert found is not None
    assert found.exception_type != "KeyError" or not between


def test_numpy_shows_a_stack_that_no_exception_ends() -> None:
    lines = [
        'Traceback (most recent call last):  File "/opt/venv/bin/torchrun", line 5, in <module>',
        "    from torch.distributed.run import main",
    ]
    assert parse_traceback(lines, 0) is None


def test_handled_and_causing_exceptions() -> None:
    found = parse(
        """
        Traceback (most recent call last):
          File "/v/site-packages/torch/serialization.py", line 1004, in save
            _save(
        RuntimeError: basic_ios::clear: iostream error

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "/workspace/train.py", line 266, in main
            torch.save(
        RuntimeError: unexpected pos 704 vs 598

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "/workspace/train.py", line 270, in main
            raise Stop from e
        app.Stop: no checkpoint
        """
    )
    assert summary(found) == [
        ("RuntimeError", "basic_ios::clear: iostream error", ""),
        ("RuntimeError", "unexpected pos 704 vs 598", "context"),
        ("app.Stop", "no checkpoint", "cause"),
    ]
    assert found.root.message == "basic_ios::clear: iostream error"
    assert (found.start, found.end) == (0, 18)


@pytest.mark.parametrize(
    ("path", "root"), [("/v/lib/python3.12/functools.py", "ValueError"), ("/workspace/a.py", "KeyError")]
)
def test_a_handled_miss_inside_a_library_is_not_the_root(path: str, root: str) -> None:
    found = parse(
        f"""
        Traceback (most recent call last):
          File "{path}", line 1, in get
            cache[key]
        KeyError: 'labels'

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "/workspace/b.py", line 2, in load
            raise ValueError("x")
        ValueError: x
        """
    )
    assert found.root.exception_type == root


def test_data_loader_workers_are_quoted() -> None:
    found = parse(
        """
        Traceback (most recent call last):
          File "/workspace/train.py", line 222, in main
            for b in loader:
          File "/v/site-packages/torch/_utils.py", line 785, in reraise
            raise exception
        RuntimeError: Caught RuntimeError in DataLoader worker process 0.
        Original Traceback (most recent call last):
          File "/v/site-packages/torch/utils/data/_utils/worker.py", line 358, in _worker_loop
            data = fetcher.fetch(index)
                   ^^^^^^^^^^^^^^^^^^^^
          File "/workspace/data.py", line 12, in __getitem__
            return load(path)
        RuntimeError: unable to allocate shared memory(shm) for file </torch_5107>: Resource unavailable (11)

        [W1120 CudaIPCTypes.cpp:16] Producer process has been terminated
        """
    )
    assert [e[0::2] for e in summary(found)] == [("RuntimeError", ""), ("RuntimeError", "quoted")]
    assert found.root.message.startswith("unable to allocate")
    assert found.root.user_frame is not None
    assert found.root.user_frame.line == 12
    assert (found.root.start, found.root.message_line, found.end) == (6, 12, 13)


def test_spawned_processes_and_pools_are_quoted() -> None:
    spawned = parse(
        """
        Traceback (most recent call last):
          File "/workspace/train.py", line 9, in <module>
            mp.spawn(run, nprocs=2)
        torch.multiprocessing.spawn.ProcessRaisedException: 

        -- Process 1 terminated with the following error:
        Traceback (most recent call last):
          File "/workspace/train.py", line 5, in run
            x[3]
        IndexError: list index out of range
        """  # noqa: W291
    )
    assert (spawned.exception_type, spawned.root.exception_type) == (
        "torch.multiprocessing.spawn.ProcessRaisedException",
        "IndexError",
    )
    pool = parse(
        '''
        multiprocessing.pool.RemoteTraceback: 
        """
        Traceback (most recent call last):
          File "/workspace/prep.py", line 3, in one
            1 / 0
        ZeroDivisionError: division by zero
        """

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "/workspace/prep.py", line 9, in <module>
            pool.map(one, x)
        ZeroDivisionError: division by zero
        ''',  # noqa: W291
        2,
    )
    assert [e[2] for e in summary(pool)] == ["", "cause"]
    assert pool.root.frames[0].function == "one"


def test_distributed_checkpoints_quote_every_rank() -> None:
    found = parse(
        """
        Traceback (most recent call last):
          File "/workspace/train.py", line 303, in main
            dcp.load(state)
        torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([0, 1])
        Traceback (most recent call last): (RANK 0)
          File "/v/site-packages/torch/distributed/checkpoint/utils.py", line 193, in reduce_scatter
            local_data = map_fun()
        RuntimeError: Missing key in checkpoint state_dict: w2.
        Traceback (most recent call last): (RANK 1)
          File "/v/site-packages/torch/distributed/checkpoint/utils.py", line 193, in reduce_scatter
            local_data = map_fun()
        OSError: [Errno 5] Input/output error
        """
    )
    assert [e[0::2] for e in summary(found)] == [
        ("RuntimeError", ""),
        ("OSError", "sibling"),
        ("torch.distributed.checkpoint.api.CheckpointException", "quoted"),
    ]
    assert found.root.exception_type == "RuntimeError"


def test_ray_tasks_are_quoted_without_a_header() -> None:
    found = parse(
        """
        Traceback (most recent call last):
          File "/workspace/main.py", line 4, in <module>
            ray.get(g.remote())
        ray.exceptions.RayTaskError(ZeroDivisionError): ray::g() (pid=71, ip=10.0.0.6)
          At least one of the input arguments for this task could not be computed:
        ray.exceptions.RayTaskError: ray::f() (pid=70, ip=10.0.0.6)
          File "/workspace/main.py", line 2, in f
            1 / 0
        ZeroDivisionError: division by zero
        """
    )
    assert found.root.exception_type == "ZeroDivisionError"
    assert found.root.user_frame is not None
    assert found.root.user_frame.line == 2
    assert len(found.chain) == 2
    actor = parse(
        """
        ray::Worker.step() (pid=71, ip=10.0.0.6)
          File "/workspace/w.py", line 2, in step
            raise KeyError(1)
        KeyError: 1
        """
    )
    assert (actor.exception_type, len(actor.frames)) == ("KeyError", 1)


def test_torchrun_s_box_is_the_agent_s_message() -> None:
    text = """
        Traceback (most recent call last):
          File "/opt/venv/bin/torchrun", line 8, in <module>
            sys.exit(main())
        torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
        ============================================================
        train.py FAILED
        ------------------------------------------------------------
        Root Cause (first observed failure):
        [0]:
          rank      : 1 (local_rank: 1)
          traceback : Traceback (most recent call last):
            File "/workspace/train.py", line 10, in main
              raise RuntimeError("boom on rank 1")
          RuntimeError: boom on rank 1
          
        ============================================================
        srun: error: gpu-1: task 0: Exited with exit code 1
        """  # noqa: W291, W293
    box = parse(text)
    assert box.message.endswith("=" * 60)
    assert box.end == 16
    assert box.user_frame is None
    inner = parse(text, 10)
    assert (inner.exception_type, inner.message, inner.end) == ("RuntimeError", "boom on rank 1", 14)


def test_rich_boxes_as_rich_draws_them() -> None:
    rich_console = pytest.importorskip("rich.console")

    def fail() -> None:
        raise RuntimeError(
            "CUDA out of memory. Tried to allocate 128.00 MiB. GPU 2 has a total capacity of 15.78 GiB"
        )

    out = io.StringIO()
    try:
        fail()
    except RuntimeError:
        rich_console.Console(file=out, width=80).print_exception(show_locals=True)
    found = parse(out.getvalue())
    assert found.exception_type == "RuntimeError"
    assert " ".join(found.message.split()).endswith("GPU 2 has a total capacity of 15.78 GiB")
    assert [f.function for f in found.frames] == ["test_rich_boxes_as_rich_draws_them", "fail"]
    assert {f.path for f in found.frames} == {__file__}
    assert found.frames[-1].code == "raise RuntimeError("


def test_rich_boxes_are_chained_and_wrap_long_paths() -> None:
    found = parse(
        """
        ╭───────────────────── Traceback (most recent call last) ──────────────────────╮
        │ /a_rather_long_folder_name_for/a_test/of_wrapping/r.py:6 in                  │
        │ a_very_long_name_that_goes_on                                                │
        │                                                                              │
        │ ❱  6 │   try: {}['a']                                                        │
        ╰──────────────────────────────────────────────────────────────────────────────╯
        KeyError: 'a'

        During handling of the above exception, another exception occurred:

        ╭───────────────────── Traceback (most recent call last) ──────────────────────╮
        │ /opt/conda/lib/python3.11/site-packages/a_rather_long_package_name/and_a_fold │
        │ er/module.py:7 in load                                                       │
        │                                                                              │
        │ ╭─ locals ─╮                                                                 │
        │ │ x = 1    │                                                                 │
        │ ╰──────────╯                                                                 │
        ╰──────────────────────────────────────────────────────────────────────────────╯
        OSError: CUDA out of memory. Tried to allocate 128.00 MiB. GPU 2 has a
        total capacity of 15.78 GiB
        Loading modules: 100%|██████████| 4/4 [00:15<00:00,  3.85s/it]
        """
    )
    assert summary(found) == [
        ("KeyError", "'a'", ""),
        (
            "OSError",
            "CUDA out of memory. Tried to allocate 128.00 MiB. GPU 2 has a\ntotal capacity of 15.78 GiB",
            "context",
        ),
    ]
    assert found.frames[0].path.endswith("and_a_folder/module.py")
    assert (found.chain[0].frames[0].function, found.chain[0].frames[0].code) == (
        "a_very_long_name_that_goes_on",
        "try: {}['a']",
    )


def test_faulthandler() -> None:
    lines = (
        textwrap.dedent(
            """
        Fatal Python error: Segmentation fault

        Thread 0x00007f1a15e47b80 (most recent call first):
          File "/usr/lib/python3.12/threading.py", line 324 in wait

        Current thread 0x00007f1a15e47b80 [python] (most recent call first):
          File "/usr/lib/python3.12/ctypes/__init__.py", line 525 in string_at
          File "/workspace/fail1.py", line 12 in main
          File "/workspace/fail1.py", line ??? in <module>

        Extension modules: numpy._core._multiarray_umath (total: 20)
        step 3
        """
        )
        .strip()
        .split("\n")
    )
    fault = parse_faulthandler(lines, 0)
    assert fault is not None
    assert fault.reason == "Segmentation fault"
    assert [(f.line, f.function, f.kind) for f in fault.frames] == [
        (525, "string_at", "stdlib"),
        (12, "main", "user"),
        (None, "<module>", "user"),
    ]
    assert fault.user_frame == fault.frames[1]
    assert fault.end == len(lines) - 1
    assert parse_faulthandler(lines, 1) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/workspace/train.py", "user"),
        ("train.py", "user"),
        ("/work/returnn/torch/updater.py", "user"),
        ("<ipython-input-3-abc>", "user"),
        ("/v/lib/python3.12/site-packages/torch/nn/module.py", "torch"),
        ("torch/distributed/distributed_c10d.py", "torch"),
        ("/tmp/torchinductor_root/ab/cabc.py", "torch"),
        ("/opt/pytorch/pytorch/torch/nn/module.py", "torch"),
        ("/usr/local/lib/python3.10/dist-packages/vllm/worker.py", "library"),
        ("sglang/srt/managers/scheduler.py", "library"),
        (".../vllm/v1/executor/multiproc_executor.py", "library"),
        ("…/torch/_dynamo/eval_frame.py", "torch"),
        (".../project/train.py", "user"),
        ("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", "library"),
        ("/opt/Megatron-LM/megatron/training/training.py", "library"),
        ("/opt/TensorRT-LLM/tensorrt_llm/runtime.py", "library"),
        ("/root/.cache/huggingface/modules/transformers_modules/x.py", "library"),
        ("python/ray/_raylet.pyx", "library"),
        ("/usr/bin/torchrun", "library"),
        ("/opt/conda/bin/deepspeed", "library"),
        ("<string>", "library"),
        ("/usr/lib/python3.12/multiprocessing/queues.py", "stdlib"),
        ("<frozen runpy>", "frozen"),
    ],
)
def test_whose_code_it_is(path: str, kind: str) -> None:
    assert path_kind(path) == kind


NOTEBOOK = """
RuntimeError                              Traceback (most recent call last)
Cell In[7], line 20
      5 training_args = Config(
      6     output_dir="out",
   (...)     17     workers=4,
     18 )
---> 20 trainer = Trainer(
     21     model=model,
     22 )

File ~/envs/t/lib/python3.12/site-packages/torch/nn/modules/module.py:210, in Module._call_impl(self, *args, **kwargs)
    208 kwargs["args"] = config
--> 210 forward_call(*input, **kwargs)
    213     raise RuntimeError(
    214         "quoted: "

RuntimeError: Expected all tensors to be on the same device
"""


def test_a_notebook_names_the_exception_first_and_its_message_last() -> None:
    found = parse(NOTEBOOK)
    assert found.exception_type == "RuntimeError"
    assert found.message == "Expected all tensors to be on the same device"
    assert [(f.path[-9:], f.line, f.function) for f in found.frames] == [
        ("on-input>", 20, "<module>"),
        ("module.py", 210, "Module._call_impl"),
    ]
    assert found.frames[0].code == "trainer = Trainer("
    assert found.message_line == 16


def test_an_older_notebook_has_the_line_only_beside_the_source() -> None:
    found = parse(
        """
        ---------------------------------------------------------------------------
        ValueError                                Traceback (most recent call last)
        <ipython-input-5-3a1f2> in <module>
              1 model = build()
        ----> 2 model.fit(data)

        ~/work/train.py in fit(self, data)
             41     def fit(self, data):
        ---> 42         raise ValueError("no data")

        ValueError: no data
        """,
        start=1,
    )
    assert (found.exception_type, found.message) == ("ValueError", "no data")
    assert [(f.line, f.function) for f in found.frames] == [(2, "<module>"), (42, "fit")]


def test_a_notebook_cut_off_before_its_message_has_no_type() -> None:
    lines = NOTEBOOK.strip("\n").split("\n")[:8]
    found = parse_traceback(lines, 0)
    assert found is None or found.exception_type is None


def test_a_key_is_no_longer_than_its_quotes() -> None:
    lines = TRACE_OF_A_KEY.splitlines()
    found = parse_traceback(lines, 0)
    assert found is not None
    assert (found.exception_type, found.message, found.end) == ("KeyError", "'warmup'", 4)


TRACE_OF_A_KEY = """\
Traceback (most recent call last):
  File "/w/train.py", line 6, in main
    run(cfg["warmup"])
KeyError: 'warmup'
{   'data': {   'batch_size': 192,
                'workers': 16}}
"""


@pytest.mark.parametrize(("function", "named"), [("get_task", "'Missing task wino'"), ("main", "'wino'")])
def test_who_looks_up_in_vain_and_says_so_in_words_is_heard(function: str, named: str) -> None:
    path = "/v/lib/python3.12/site-packages/tasks/registry.py"
    lines = (
        "Traceback (most recent call last):\n"
        f"  File \"{path}\", line 296, in get_task\n    return TASKS[name]\nKeyError: 'wino'\n"
        "\nDuring handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/work/zero_shot.py", line 28, in <module>\n    evaluate(tasks)\n'
        f'  File "{path}", line 300, in {function}\n    raise KeyError(f"Missing task {{name}}")\n'
        "KeyError: 'Missing task wino'\n"
    ).splitlines()
    found = parse_traceback(lines, 0)
    assert found is not None
    assert found.root.message == named
