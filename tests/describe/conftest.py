"""The support folder, and what most tests here ask of the program first."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]

from baton import PATIENCE_S, PROGRAM, Home, environment  # noqa: E402


@pytest.fixture
def home():
    with Home() as home:
        yield home


@pytest.fixture(scope="session")
def baton():
    """Runs the program without a data folder: baton("describe", "openapi")."""

    def run(*arguments, text=None, status=0):
        done = subprocess.run([PROGRAM, *arguments], input=text, env=environment(), text=True,
                              capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def described(baton):
    """The text of `baton describe WHAT`, printed once."""
    known = {}

    def text(what):
        if what not in known:
            known[what] = baton("describe", what).stdout
        return known[what]

    return text
