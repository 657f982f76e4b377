"""The walks of ARCHITECTURE.md: short, and every function on them exists where the page says."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
STEP = re.compile(r"\| \d+ \| `(\w+)\(\)`(?:, `([^`]+)`)? \|")


def walk(title):
    """The steps of one walk: (function, file); a step without a file is in the file of the step before."""
    text = PAGE.split(f"**{title}**", 1)[1].split("\n\n", 2)[1]
    steps, file = [], None
    for function, named in STEP.findall(text):
        file = named or file
        steps.append((function, file))
    return steps


@pytest.mark.parametrize("title", ["One request, `POST /api/run`", "One `shell` step"])
def test_a_walk_has_at_most_25_functions_and_each_exists(title):
    steps = walk(title)
    assert 15 <= len(steps) <= 25
    for function, file in steps:
        source = (ROOT / "src" / file).read_text()
        assert re.search(rf"^[a-z].*\b{function}\(", source, re.M), f"{file} does not define {function}()"


def test_what_follows_a_crash_exists():
    text = PAGE.split("After a crash instead:", 1)[1].split("\n\n", 1)[0]
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.c"))
    for function in re.findall(r"`(\w+)\(\)`", text):
        assert re.search(rf"\b{function}\b", sources), f"no source has {function}()"
