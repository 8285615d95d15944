"""Every sample diagnosis as a fixture."""

from __future__ import annotations

import pytest

from triage.model import Diagnosis

from . import diagnoses


@pytest.fixture
def oom() -> Diagnosis:
    return diagnoses.oom()


@pytest.fixture
def hardware() -> Diagnosis:
    return diagnoses.hardware()


@pytest.fixture
def large() -> Diagnosis:
    return diagnoses.large()


@pytest.fixture
def healthy() -> Diagnosis:
    return diagnoses.healthy()


@pytest.fixture
def inconclusive() -> Diagnosis:
    return diagnoses.inconclusive()


@pytest.fixture
def hostile() -> Diagnosis:
    return diagnoses.hostile()
