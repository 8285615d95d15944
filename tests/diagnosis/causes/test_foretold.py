"""A risk that was seen before the failure that it can lead to is shown beside it."""

from __future__ import annotations

from triage import Engine, Source

NAN = "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 2e-06, 'epoch': 0.01}\n"
SAMPLING = (
    "Traceback (most recent call last):\n"
    '  File "/workspace/grpo.py", line 40, in sample\n'
    "    token = torch.multinomial(p, 1)\n"
    "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0\n"
)


def lines(engine: Engine, text: str) -> tuple[str, list[str]]:
    """Rule and evidence of the root cause."""
    root = engine.diagnose(Source("job.err", data=text.encode())).root_cause
    assert root is not None
    return root.rule_id, [e.text for e in root.evidence]


def test_the_first_value_that_was_not_finite_is_shown(engine: Engine) -> None:
    rule, shown = lines(engine, NAN + SAMPLING)
    assert rule == "torch.nonfinite-sampling"
    assert "'grad_norm': nan" in shown[1]
    assert [text for text in shown if "grad_norm" in text] == shown[1:2]


ASSERTION = (
    "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [3,0,0] "
    "Assertion `t >= 0 && t < n_classes` failed.\n"
)
RAISED = (
    "[rank2]: Traceback (most recent call last):\n"
    '[rank2]:   File "/workspace/train.py", line 81, in step\n'
    "[rank2]:     loss = loss.float()\n"
    "[rank2]: RuntimeError: CUDA error: device-side assert triggered\n"
)


def test_an_assertion_that_the_output_shows_late_still_is_the_cause(engine: Engine) -> None:
    rule, shown = lines(engine, RAISED + ASSERTION)
    assert rule == "torch.device-assertion"
    assert "n_classes" in shown[0]
