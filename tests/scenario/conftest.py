"""Every scenario has a data folder of its own; what it started on it is ended with it."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

pytest.register_assert_rewrite("baton")

from baton import Home  # noqa: E402
from report import pytest_runtest_makereport  # noqa: E402,F401


@pytest.fixture
def home():
    with Home() as home:
        yield home


@pytest.fixture
def server(home):
    return home.serve()
