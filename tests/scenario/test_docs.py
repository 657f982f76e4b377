"""What the documentation shows is run as it stands there."""
import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/workflows.md"]
# A block of a whole file, and the block of JSON behind it, if there is one.
BLOCK = re.compile(r"```yaml\n(name: (\S+)[^\n]*\n.*?)```\n(?:\n```json\n(.*?)```\n)?", re.S)


def workflows():
    for page in PAGES:
        for text, name, gives in BLOCK.findall((ROOT / page).read_text()):
            yield pytest.param(text, gives, id=f"{page}-{name}")


WORKFLOWS = list(workflows())


def test_there_are_some():
    assert len(WORKFLOWS) >= 14
    assert sum(bool(one.values[1]) for one in WORKFLOWS) >= 10


def routes_told():
    """Every path in the tables of the README; `…/x` stands beside the path before it."""
    before = ""
    for line in (ROOT / "README.md").read_text().splitlines():
        for path in re.findall(r"`(/[^` ]*|…/[^` ]*)`", line) if line.startswith("|") else []:
            before = path if path.startswith("/") else f"{before.rsplit('/', 1)[0]}/{path.removeprefix('…/')}"
            yield before


def test_every_route_is_in_the_readme(home):
    """What the dashboard and the reference are made of need not be."""
    status, out, narration = home.cli("describe", "openapi")
    assert status == 0, narration
    assert set(json.loads(out)["paths"]) - set(routes_told()) == {"/docs/style.css"}


def test_the_concepts_page_names_every_view():
    rows = re.findall(r"^VIEW\((\w+),", (ROOT / "src/views/views.def").read_text(), re.M)
    page = (ROOT / "docs/concepts.md").read_text()
    said = re.search(r"\*\*View\.\*\*.*?There are (\w+): (.*?)\. ", " ".join(page.split()))
    numbers = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    assert said[1] == numbers[len(rows)]
    assert re.findall(r"`(\w+)`", said[2]) == rows


@pytest.mark.parametrize("text,gives", WORKFLOWS)
def test_a_workflow_of_the_pages(home, text, gives):
    """Its problems are none; where the page says what it gives, that is what it gives."""
    file = pathlib.Path(home.path, "page.yaml")
    file.write_text(text)
    status, out, narration = home.cli("contract", "check", "run.Definition", str(file))
    assert status == 0, narration
    if gives:
        status, out, narration = home.cli("run", str(file))
        assert status == 0, narration
        assert json.loads(out) == json.loads(gives)
