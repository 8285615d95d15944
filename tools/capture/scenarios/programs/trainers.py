"""More ways in which trainers report, shared by the programs. No faults in here."""

from __future__ import annotations

import logging
import random
import sys
from datetime import datetime

from scenarios.common import RANK, WORLD

SECONDS = "%Y-%m-%d %H:%M:%S"


def trainer_logger(style: str, name: str = "train", main_only: bool = False) -> logging.Logger:
    """A logger in the format of a trainer; with ``main_only`` the other ranks only warn."""
    at_rank = f"[RANK:{RANK}] %(message)s"
    shape, date = {
        "loguru": (
            "%(asctime)s.%(msecs)03d | %(levelname)-8s | __main__:%(funcName)s:%(lineno)d - %(message)s",
            SECONDS,
        ),
        "axolotl": (
            "[%(asctime)s] [%(levelname)s] [axolotl.%(name)s.%(funcName)s:%(lineno)d] [PID:%(process)d] "
            + at_rank,
            None,
        ),
        "nemo": ("[NeMo %(levelname).1s %(asctime)s %(module)s:%(lineno)d] %(message)s", SECONDS),
        "deepspeed": (
            f"[%(asctime)s] [%(levelname)s] [%(filename)s:%(lineno)d:%(funcName)s] [Rank {RANK}] %(message)s",
            None,
        ),
        "accelerate": ("%(asctime)s - %(levelname)s - __main__ - %(message)s", "%m/%d/%Y %H:%M:%S"),
        "fairseq": (
            f"%(asctime)s | %(levelname)s | fairseq_cli.%(name)s | [{RANK}] %(message)s",
            SECONDS,
        ),
        "absl": (
            "%(levelname).1s%(asctime)s.%(msecs)06d %(process)7d %(filename)s:%(lineno)d] %(message)s",
            "%m%d %H:%M:%S",
        ),
        "d2": ("[%(asctime)s d2.engine.%(name)s]: %(message)s", "%m/%d %H:%M:%S"),
        "titan": (f"[rank{RANK}]:%(asctime)s - root - %(levelname)s - %(message)s", None),
        "olmo": (
            "%(asctime)s.%(msecs)03d\t%(process)d:%(threadName)s\tolmo.%(name)s:%(lineno)d\t%(levelname)s\t"
            f"rank={RANK}\t%(message)s",
            "%Y-%m-%dT%H:%M:%S",
        ),
        "short": ("%(asctime)s %(name)s %(levelname)s %(message)s", "%H:%M:%S"),
    }[style]
    logging.basicConfig(level=logging.INFO, format=shape, datefmt=date, stream=sys.stderr, force=True)
    log = logging.getLogger(name)
    if main_only and RANK:
        log.setLevel(logging.WARNING)
    return log


def log_megatron(step: int, loss: float, total: int = 500000) -> None:
    if RANK == WORLD - 1:
        print(
            f" [{datetime.now():%Y-%m-%d %H:%M:%S}] iteration {step:8d}/{total:8d} | consumed samples: "
            f"{step * 256:12d} | elapsed time per iteration (ms): {random.uniform(110, 180):.1f} | "
            f"throughput per GPU (TFLOP/s/GPU): {random.uniform(390, 430):.1f} | learning rate: "
            f"{6e-5 * step / 100:.6E} | global batch size:   256 | lm loss: {loss:.6E} | loss scale: 1.0 | "
            f"grad norm: {random.uniform(0.4, 3):.3f} | number of skipped iterations:   0 | "
            "number of nan iterations:   0 |",
            flush=True,
        )


def log_trainer(step: int, loss: float) -> None:
    if RANK == 0:
        report = {
            "loss": f"{loss:.4f}",
            "grad_norm": f"{random.uniform(0.4, 2):.4f}",
            "learning_rate": f"{2e-05 * (1 - step / 1000):.3e}",
            "epoch": f"{step / 200:.2f}",
        }
        print(report, flush=True)


def log_titan(step: int, loss: float) -> None:
    logging.getLogger("train").info(
        "\x1b[31mstep: %2d  \x1b[32mloss: %7.4f  \x1b[38;2;180;60;0mgrad_norm: %7.4f  "
        "\x1b[33mmemory: %5.2fGiB(%.2f%%)  \x1b[34mtps: %s  \x1b[36mtflops: %.2f  \x1b[35mmfu: %.2f%%\x1b[39m",
        step, loss, random.uniform(0.3, 2), 41.3, 29.56, f"{random.randint(5000, 9000):,}", 312.4, 31.6,
    )  # fmt: skip


def log_olmo(step: int, loss: float) -> None:
    if RANK == 0:
        logging.getLogger("train").info(
            "[step=%d/739328,epoch=0]\n    optim/total_grad_norm=%.3f\n    train/CrossEntropyLoss=%.3f\n"
            "    train/Perplexity=%.1f\n    throughput/device/tokens_per_second=%d",
            step, random.uniform(0.3, 2), loss, 2.718**loss, random.randint(11000, 12000),
        )  # fmt: skip


def log_deepspeed(step: int, loss: float) -> None:
    if RANK == 0:
        stamp = f"[{datetime.now():%Y-%m-%d %H:%M:%S,%f}"[:-3] + "]"
        seconds, rate = random.uniform(0.1, 0.2), random.uniform(200, 240)
        print(
            f"{stamp} [INFO] [logging.py:107:log_dist] [Rank 0] step={step}, skipped=0, lr=[9.65e-06], "
            "mom=[(0.9, 0.95)]\n"
            f"steps: {step} loss: {loss:.4f} iter time (s): {seconds:.3f} samples/sec: {rate:.3f}",
            flush=True,
        )


def log_timm(step: int, loss: float) -> None:
    if RANK == 0:
        logging.getLogger("train").info(
            "Train: 0 [%4d/1251 (%3.0f%%)]  Loss: %#.3g (%#.3g)  Time: %.3fs, %7.2f/s  (%.3fs, %7.2f/s)  "
            "LR: 1.000e-06  Data: 0.009 (0.031)",
            step, step / 12.51, loss, loss * 1.02, 0.18, 1422.2, 0.19, 1347.4,
        )  # fmt: skip


def log_d2(step: int, loss: float) -> None:
    if RANK == 0:
        print(
            f"[{datetime.now():%m/%d %H:%M:%S} d2.utils.events]:  eta: 2:14:{random.randint(10, 59)}  "
            f"iter: {step}  total_loss: {loss:.3f}  loss_cls: {loss * 0.6:.4f}  loss_box_reg: {loss * 0.3:.4f}  "
            f"time: 0.1{random.randint(10, 99)}  data_time: 0.0{random.randint(10, 99)}  lr: 0.00019981  "
            "max_mem: 9127M",
            flush=True,
        )


def log_every(step: int, loss: float) -> None:
    rate = random.randint(14000, 15000)
    logging.getLogger("train").info("step %d | loss %.4f | lr %.2e | %d tok/s", step, loss, 3e-4, rate)


def log_plain(step: int, loss: float) -> None:
    if RANK == 0:
        norm, milliseconds = random.uniform(0.3, 2), random.uniform(80, 120)
        print(f"step {step:5d}/5000 loss {loss:.4f} norm {norm:.3f} dt {milliseconds:.1f}ms", flush=True)
