"""The support folder, and a data folder for each test."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from baton import Home  # noqa: E402
from report import pytest_runtest_makereport  # noqa: E402,F401


@pytest.fixture
def home():
    with Home() as home:
        yield home
