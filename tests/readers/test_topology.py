from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Reading, Source
from triage.readers.topology import TopologyReader, find_matrices, findings_in, parse_matrix

DATA = Path(__file__).parent / "data" / "topology"
READER = TopologyReader()


def read(text: str | bytes, host: str | None = None) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    return READER.read(data, Source("topo.txt", host=host), 0)


def problems(reading: Reading) -> dict[str, tuple[int, ...]]:
    found = (f for f in reading.findings if f.rule_id.startswith("topology."))
    return {f.rule_id: f.fields["gpus"] for f in found if f.rule_id != "topology.matrix"}


def square(n: int, kind: str, changes: dict[tuple[int, int], str] | None = None) -> str:
    cells = {(i, j): kind for i in range(n) for j in range(n)}
    for (i, j), value in (changes or {}).items():
        cells[i, j] = cells[j, i] = value
    rows = ["\t" + "\t".join(f"GPU{i}" for i in range(n)) + "\tCPU Affinity\tNUMA Affinity"]
    rows += [
        f"GPU{i}\t" + "\t".join(" X " if i == j else cells[i, j] for j in range(n)) + "\t0-31\t0"
        for i in range(n)
    ]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("name", "design"),
    [
        ("hgx-h100-8", "switched"),
        ("dgx2-16", "switched"),
        ("pasted-abutting", "switched"),
        ("dgx1-v100", "mesh"),
        ("h100-nvl-4-pairs", "direct"),
        ("a100-quad-pairs", "direct"),
    ],
)
def test_designs_that_are_built_like_this_are_healthy(name: str, design: str) -> None:
    data = (DATA / f"{name}.txt").read_bytes()
    reading = read(data)
    assert problems(reading) == {}
    assert reading.findings[0].rule_id == "topology.matrix"
    assert reading.findings[0].fields["design"] == design
    assert READER.recognise("anything", data)


@pytest.mark.parametrize(
    ("name", "rule", "gpus"),
    [
        ("hgx-h100-8-gpu5-isolated", "topology.gpu-isolated", (5,)),
        ("hgx-h100-8-gpu2-degraded", "topology.nvlink-degraded", (2,)),
        ("hgx-h100-8-pairs-missing", "topology.nvlink-pairs-missing", (3,)),
        ("hgx-h100-8-islands", "topology.nvswitch-islands", tuple(range(8))),
    ],
)
def test_broken_fabrics_name_the_gpus(name: str, rule: str, gpus: tuple[int, ...]) -> None:
    reading = read((DATA / f"{name}.txt").read_bytes(), host="gpu-17")
    assert problems(reading) == {rule: gpus}
    finding = reading.findings[1]
    assert finding.host == "gpu-17"
    assert finding.gpu == (gpus[0] if len(gpus) == 1 else None)
    assert finding.fields["expected"] == "NV18"
    if len(gpus) == 1:
        assert f"GPU{gpus[0]}" in finding.evidence[0].text


def test_one_missing_pair_blames_both_ends() -> None:
    assert problems(read(square(8, "NV18", {(1, 6): "SYS"}))) == {"topology.nvlink-pairs-missing": (1, 6)}


def test_two_isolated_gpus() -> None:
    lost = {(i, j): "SYS" for i in (2, 6) for j in range(8) if i != j}
    assert problems(read(square(8, "NV12", lost))) == {"topology.gpu-isolated": (2, 6)}


def test_isolated_gpu_of_a_directly_wired_quad() -> None:
    lost = {(3, j): "SYS" for j in range(3)}
    assert problems(read(square(4, "NV4", lost))) == {"topology.gpu-isolated": (3,)}


def test_all_gpus_short_of_links_of_one_dead_switch() -> None:
    assert problems(read(square(8, "NV14"))) == {"topology.nvlink-degraded": tuple(range(8))}
    model = "GPU 0: NVIDIA H200 (UUID: GPU-1)\n"
    assert problems(read(model + square(8, "NV12"))) == {"topology.nvlink-degraded": tuple(range(8))}
    assert problems(read("GPU 0: NVIDIA H800 (UUID: GPU-1)\n" + square(8, "NV8"))) == {}


def test_no_nvlink_is_judged_by_the_product() -> None:
    matrix = square(8, "NODE")
    assert problems(read(matrix)) == {"topology.nvlink-absent": tuple(range(8))}
    for card in ("NVIDIA L40S", "NVIDIA H100 PCIe", "NVIDIA A100 80GB PCIe", "NVIDIA GeForce RTX 4090"):
        assert problems(read(f"GPU 0: {card} (UUID: GPU-1)\n{matrix}")) == {}
    modules = (
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H200",
        "NVIDIA A100-SXM4-80GB",
        "NVIDIA B200",
        "Tesla V100-SXM2-32GB",
    )
    for module in modules:
        found = problems(read(f"GPU 0: {module} (UUID: GPU-1)\n{matrix}"))
        assert found == {"topology.nvlink-all-missing": tuple(range(8))}, module
    switch = "07:00.0 Bridge: NVIDIA Corporation GH100 [H100 NVSwitch] (rev a1)\n"
    assert problems(read(matrix + "\n" + switch)) == {"topology.nvlink-all-missing": tuple(range(8))}


def test_two_cards_without_nvlink_are_an_ordinary_machine() -> None:
    assert problems(read(square(2, "PHB"))) == {}


def test_pairs_that_only_a_switch_gives_to_modules() -> None:
    pairs = {(0, 1): "NV18", (2, 3): "NV18"}
    matrix = square(4, "SYS", pairs)
    assert set(problems(read(matrix))) == {"topology.islands-unless-bridged"}
    assert problems(read("GPU 0: NVIDIA H200 NVL (UUID: GPU-1)\n" + matrix)) == {}
    assert set(problems(read("GPU 0: NVIDIA H200 (UUID: GPU-1)\n" + matrix))) == {"topology.nvswitch-islands"}


def test_a_broken_mesh() -> None:
    text = (DATA / "dgx1-v100.txt").read_text()
    rows = text.splitlines()
    rows[1] = rows[1].replace("NV1\tNV2\tNV1", "NV1\tSYS\tNV1")
    rows[3] = rows[3].replace("GPU2\tNV2", "GPU2\tSYS")
    assert problems(read("\n".join(rows))) == {"topology.mesh-irregular": (0, 2)}


def test_partly_bridged_cards_are_only_a_doubt() -> None:
    found = problems(read(square(4, "PHB", {(0, 1): "NV4"})))
    assert found == {"topology.bridge-missing": (2, 3)}


def test_a_display_card_beside_four_joined_gpus_is_only_a_doubt() -> None:
    display = {(4, j): "SYS" for j in range(4)}
    assert problems(read(square(5, "NV4", display))) == {"topology.bridge-missing": (4,)}


def test_a_gpu_whose_paths_are_not_shown_is_not_blamed() -> None:
    rows = square(4, "NV18", {(0, 1): "SYS"}).splitlines()
    cut = [rows[0], rows[1][: rows[1].index("SYS") + 3], rows[2][: rows[2].index(" X ") + 3]]
    assert "topology.gpu-isolated" not in problems(read("\n".join(cut)))


def test_asymmetry_and_far_adapters_are_doubts() -> None:
    text = square(4, "NV12").replace("GPU1\tNV12\t X ", "GPU1\tNV10\t X ", 1)
    found = problems(read(text))
    assert found["topology.asymmetric"] == (0, 1)
    far = (DATA / "hgx-h100-8.txt").read_text().replace("PXB", "NODE", 1)
    assert problems(read(far)) == {"topology.adapter-far": (0,)}


def test_adapters_and_affinity_are_read() -> None:
    topology = parse_matrix((DATA / "hgx-h100-8.txt").read_text())
    assert topology is not None
    assert topology.adapters[0, "NIC0"] == "PXB"
    assert topology.aliases["NIC7"] == "mlx5_7"
    assert topology.affinity[0].startswith("0-55,112-167")
    assert topology.links(0, 7) == topology.links(7, 0) == 18
    assert topology.complete


def test_other_columns_colours_and_line_ends() -> None:
    plain = (DATA / "hgx-h100-8-gpu5-isolated.txt").read_text()
    expected = problems(read(plain))
    assert problems(read(plain.replace("\n", "\r\n"))) == expected
    assert (
        problems(
            read(plain.replace("\tGPU0\t", "\t[4mGPU0\t", 1).replace("GPU NUMA ID", "GPU NUMA ID[0m", 1))
        )
        == expected
    )
    assert problems(read(plain.replace("NV18", "\x1b[32mNV18\x1b[0m"))) == expected
    assert problems(read(plain.replace("\t", "    "))) == expected


def test_matrix_inside_a_log() -> None:
    matrix = (DATA / "hgx-h100-8-gpu5-isolated.txt").read_text()
    lines = [f"2025-11-04 12:30:0{i % 10} INFO [node3] {line}" for i, line in enumerate(matrix.splitlines())]
    noise = [f"2025-11-04 12:31:00 INFO step {i} loss 2.1 GPU memory 70 GB" for i in range(200)]
    text = "\n".join([*noise, *lines, *noise])
    assert not READER.recognise("job.log", text.encode())
    assert len(find_matrices(text)) == 1
    findings = findings_in(text, Source("job.log"), 3, line=1001, offset=5000)
    isolated = next(f for f in findings if f.rule_id == "topology.gpu-isolated")
    assert isolated.source == 3
    assert isolated.evidence[0].line == 1201
    assert isolated.offset > 5000


def test_several_nodes_in_one_capture() -> None:
    good, bad = square(8, "NV18"), square(8, "NV18", {(4, j): "SYS" for j in range(8) if j != 4})
    text = f"root@gpu-a:~# nvidia-smi topo -m\n{good}\nroot@gpu-b:~# nvidia-smi topo -m\n{bad}"
    reading = read(text)
    assert [f.host for f in reading.findings] == ["gpu-a", "gpu-b", "gpu-b"]
    assert problems(reading) == {"topology.gpu-isolated": (4,)}


def test_wrapped_header_and_rows() -> None:
    wrapped = []
    for row in square(8, "NV18", {(7, j): "SYS" for j in range(7)}).splitlines():
        cells = row.split("\t")
        wrapped += ["\t".join(cells[:6]), "\t".join(cells[6:])]
    assert problems(read("\n".join(wrapped))) == {"topology.gpu-isolated": (7,)}


def test_cut_matrix_says_what_is_missing_and_blames_nobody_wrongly() -> None:
    text = square(8, "NV18")
    cut = text[: text.index("\nGPU3\t") + 20]
    reading = read(cut)
    assert problems(reading) == {}
    assert not reading.complete
    assert any("no row for" in note for note in reading.notes)


def test_ranks_before_and_bars_between_the_cells() -> None:
    matrix = square(8, "NV18", {(7, j): "SYS" for j in range(7)})
    labelled = "".join(f"3: {line}\n" for line in matrix.splitlines())
    assert problems(read(labelled)) == {"topology.gpu-isolated": (7,)}
    table = "".join("| " + line.replace("\t", " | ") + " |\n" for line in matrix.splitlines())
    assert problems(read(table)) == {"topology.gpu-isolated": (7,)}


def test_not_a_matrix() -> None:
    for text in ("", "GPU0 is dead\nGPU1 too\n", "GPU 0: NVIDIA H200\n", "\tGPU0\tGPU1\n"):
        assert parse_matrix(text) is None
        assert not READER.recognise("topo.txt", text.encode())
    assert read("nothing").notes


def test_every_pair_is_in_the_fact() -> None:
    fact = read(square(4, "NV6")).findings[0].fields
    assert fact["gpus"] == 4 and len(fact["pairs"]) == 6 and fact["kinds"] == ("NV6",)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    READER.recognise("x", data)
    READER.read(data, Source("x"), 0)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(sorted(DATA.glob("*.txt"))), st.randoms(use_true_random=False))
def test_damaged_matrices(path: Path, rng: random.Random) -> None:
    lines = path.read_text().splitlines()
    for _ in range(rng.randint(0, 4)):
        kind = rng.randrange(4)
        at = rng.randrange(len(lines))
        if kind == 0:
            lines[at] = lines[at][: rng.randint(0, len(lines[at]))]
        elif kind == 1:
            lines[at] += "\tNV4\tfoo\tbar"
        elif kind == 2:
            rng.shuffle(lines)
        else:
            lines[at] = lines[at].replace("\t", rng.choice([" ", "", "\x1b[0m\t", "\r"]))
    reading = READER.read("\n".join(lines).encode(), Source("x"), 0)
    assert all(f.evidence for f in reading.findings)
