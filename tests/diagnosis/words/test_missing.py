"""Files that are not there: what kind of failure that is says their name."""

from __future__ import annotations

import pytest

from triage import Engine, Source

SITE = "/opt/venv/lib/python3.12/site-packages"
LOADS = (
    'Traceback (most recent call last):\n  File "/work/run.py", line 12, in <module>\n    main()\n'
    '  File "/work/run.py", line 8, in main\n    kept = somelib.load(args.path)\n'
    f'  File "{SITE}/somelib/io.py", line 650, in load\n    with open(filename, "rb") as f:\n'
    "FileNotFoundError: [Errno 2] No such file or directory: '{}'\n"
)
CHECKS = (
    'Traceback (most recent call last):\n  File "/work/run.py", line 12, in <module>\n    main()\n'
    '  File "/work/tools.py", line 8, in fetch\n    raise FileNotFoundError(f"File {{path}} does not exist.")\n'
    "FileNotFoundError: File {} does not exist.\n"
)


@pytest.mark.parametrize("log", [LOADS, CHECKS])
@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("/scratch/ana/run7/scaler.joblib", "checkpoint"),
        ("/scratch/ana/vitb16/lora.pt", "checkpoint"),
        ("/scratch/ana/out/pytorch_model-00001-of-00004.bin", "checkpoint"),
        ("/scratch/ana/checkpoints/run7/extra.pkl", "checkpoint"),
        ("/scratch/ana/lists/first.txt", "data-loading"),
        ("/scratch/ana/scan_07.nii.gz", "data-loading"),
        ("/scratch/ana/rows.npy", "data-loading"),
        ("/scratch/ana/ds_zero2.json", "config"),
        ("/scratch/ana/configs/small.json", "config"),
        ("/scratch/ana/run.toml", "config"),
        ("/scratch/ana/Frob_Dataset/models.py", "config"),
        ("/scratch/ana/shards/train_00017.pt", "data-loading"),
        ("/scratch/ana/latents/f03a.pt", "data-loading"),
        ("/scratch/ana/run7/epoch_00017.pt", "checkpoint"),
        ("/scratch/ana/shards/model_00017.pt", "checkpoint"),
    ],
)
def test_the_name_of_a_missing_file_tells_the_kind(
    engine: Engine, log: str, path: str, category: str
) -> None:
    found = engine.diagnose(Source(name="job.err", data=log.format(path).encode()))
    assert found.root_cause is not None
    assert found.root_cause.category == category
