"""The rank of a cause that stands beside it: in a launcher's note, in the box around its words, on a GPU of its process."""

from __future__ import annotations

from triage import Engine, Source
from triage.model import Hypothesis


def cause(engine: Engine, *logs: str) -> Hypothesis:
    """The root cause of one job's logs."""
    root = engine.diagnose([Source(f"{n}.log", data=log.encode()) for n, log in enumerate(logs)]).root_cause
    assert root is not None
    return root


def test_an_exception_of_native_code_is_of_the_rank_that_its_launcher_saw_abort(engine: Engine) -> None:
    thrown = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
    note = (
        "--------------------------------------------------------------------------\n"
        "mpirun noticed that process rank 7 with PID 0 on node n12 exited on signal 6 (Aborted).\n"
        "--------------------------------------------------------------------------\n"
    )
    root = cause(engine, thrown, note)
    assert (root.category, root.origin.rank) == ("host-oom", 7)


def test_words_in_a_box_are_of_the_rank_that_the_box_names(engine: Engine) -> None:
    box = (
        "-------------------------------------------------------\n"
        "Program:     gmx mdrun, version 2023.1\n"
        "Source file: src/gromacs/mdlib/constr.cpp (line 239)\n"
        "MPI rank:    3 (out of 4)\n\n"
        "Fatal error:\nToo many LINCS warnings (1001)\n"
        "If you know what you are doing you can adjust the lincs warning threshold in\nyour mdp file\n"
    )
    root = cause(engine, box)
    assert (root.category, root.origin.rank) == ("numerics", 3)


TEST = (
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n"
    "#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid {0} on      box4 device  0 [0x03] GPU\n"
    "#  Rank  1 Group  0 Pid {1} on      box4 device  1 [0x06] GPU\n"
)
FAILED = (
    "box4:{0}:{0} [{1}] enqueue.cc:66 NCCL WARN Cuda failure 'invalid kernel file'\n"
    "box4: Test NCCL failure common.cu:1285 'unhandled cuda error'\n"
)


def test_one_process_with_several_ranks_names_them_by_their_gpus(engine: Engine) -> None:
    assert cause(engine, TEST.format(501, 501) + FAILED.format(501, 1)).origin.rank == 1


def test_a_thread_that_chose_no_gpu_is_nobody_of_a_process_with_several_ranks(engine: Engine) -> None:
    assert cause(engine, TEST.format(501, 501) + FAILED.format(501, 0)).origin.rank is None


def test_a_line_is_shown_as_it_stands(engine: Engine) -> None:
    """What is left out of a line before its words are weighed is not left out of what is shown."""
    said = (
        "Assertion failed in file ../src/mpid/common/cray/gpu_ops.c at line 188: mpi_errno == MPI_SUCCESS\n"
    )
    end = "aborting job:\nsrun: error: n171: task 0: Exited with exit code 255\n"
    assert cause(engine, said + end).evidence[0].text == said.strip()


def test_a_negative_status_that_a_launcher_passes_on_is_a_signal(engine: Engine) -> None:
    node = "n12: step 3 loss 1.5\n"
    root = cause(engine, node + "pdsh@head: n12: ssh exited with exit code 247\n")
    assert root.category == "rank-crash"
    assert "SIGKILL" in root.title
    assert cause(engine, node + "pdsh@head: n12: ssh exited with exit code 3\n").category == "unknown"


def test_with_an_exit_code_stands_what_was_raised_before_it(engine: Engine) -> None:
    raised = (
        "Traceback (most recent call last):\n"
        '  File "/opt/env/bin/torchrun", line 8, in <module>\n'
        "    sys.exit(main())\n"
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError\n"
    )
    root = cause(engine, raised + "srun: error: n96: task 1: Exited with exit code 1\n")
    assert any("RendezvousClosedError" in piece.text for piece in root.evidence)


def test_a_call_that_mpi_refuses_is_of_the_rank_that_it_ends(engine: Engine) -> None:
    abort = "Abort(201935621) on node 3 (rank 3 in comm 0): Fatal error in PMPI_Send: Invalid rank, error stack:\n"
    root = cause(engine, abort + "PMPI_Send(171): MPI_Send(buf=0x7ffe, count=1, MPI_INT, dest=9) failed\n")
    assert (root.rule_id, root.origin.rank) == ("mpi.bad-call", 3)
