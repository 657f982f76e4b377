"""What the documentation shows is run as it stands there."""
import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/workflows.md", "docs/graphs.md", "docs/agents.md"]
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


def test_the_pages_agree_about_max_concurrent(home):
    """Wherever a page for users explains it, it limits the runs of kind pipeline; the default is the program's."""
    told = [line for page in ("README.md", "docs/operating.md", "docs/workflows.md", "docs/concepts.md", "docs/api.md")
            if (ROOT / page).exists() for line in (ROOT / page).read_text().splitlines() if "max_concurrent" in line]
    assert len(told) >= 2 and all("kind: pipeline" in line for line in told), told
    [default] = {number for line in told for number in re.findall(r"default (\d+)", line)}
    limits = home.cli("describe", "limits")[1]
    assert re.search(rf"MAX_CONCURRENT\b.*\b{default}\b", limits), default


def test_every_tier_is_explained_to_contributors():
    tiers = re.findall(r'Tier\("(\w+)"', (ROOT / "tools/test").read_text())
    table = (ROOT / "CONTRIBUTING.md").read_text().split("### Which tier")[1].split("\n###")[0]
    told = [name for line in table.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(told) == sorted(tiers)


@pytest.mark.parametrize("text,gives", WORKFLOWS)
def test_a_workflow_of_the_pages(home, text, gives):
    """Its problems are none; where the page says what it gives, that is what it gives."""
    file = pathlib.Path(home.path, "page.yaml")
    file.write_text(text)
    if "\npatterns:" in text:  # the nodes are written by the program
        status, out, narration = home.cli("check", "--name", "considered", str(file))
        assert status == 0, out + narration
        return
    entity = "run.GraphFile" if "\nnodes:" in text else "run.Definition"
    status, out, narration = home.cli("contract", "check", entity, str(file))
    assert status == 0, narration
    if gives:
        status, out, narration = home.cli("run", str(file))
        assert status == 0, narration
        assert json.loads(out) == json.loads(gives)


USER_PAGES = ["README.md", *(f"docs/{name}.md" for name in (
    "agents", "command-line", "concepts", "dashboard", "engine", "glossary", "operating", "tools", "workflows"))]
# How the sources are organized, and the documents they follow, are nobody's business who uses the program.
INTERNAL = re.compile(r"\b(rooms|rows|row files?|seeds?|S[0-4])\b|reading-the-seeds")


@pytest.mark.parametrize("page", USER_PAGES)
def test_pages_for_users_have_no_internal_words(page):
    assert INTERNAL.findall((ROOT / page).read_text()) == []


def test_help_and_reference_have_no_internal_words(home):
    def found(text, command=""):
        """A simulation begins with the seed of its random numbers: the field's word, and no other command's."""
        return [word for word in INTERNAL.findall(text) if not (command == "sim" and word in ("seed", "seeds"))]

    for part in ("commands", "errors", "config", "events", "metrics"):
        for section in home.cli("describe", part)[1].split("\n### "):
            assert found(section, section.split("\n", 1)[0] if part == "commands" else "") == [], (part, section[:80])
    for command in json.loads(home.cli("help", "--json")[1]):
        assert found(home.cli("help", command["name"])[1], command["name"]) == [], command["name"]


def test_the_readme_opens_with_what_whom_instead_of_what_a_picture_and_two_commands():
    opening = (ROOT / "README.md").read_text().split("\n## ")[0]
    places = [opening.index(words) for words in (
        "durable workflows", "**Who it is for.**", "**What it replaces.**", "](docs/images/", "make demo", "make test")]
    assert places == sorted(places)
    assert all((ROOT / path).exists() for path in re.findall(r"\]\((docs/[^)#]+)", opening))


def tools_of(home):
    status, out, narration = home.cli("tools", "--json")
    assert status == 0, narration
    return {tool["name"]: tool for tool in json.loads(out)["items"]}


def test_the_tools_page_has_the_inputs_and_outputs_of_every_tool(home):
    """`make describe` writes them."""
    page = (ROOT / "docs/tools.md").read_text()
    for name in tools_of(home):
        status, out, narration = home.cli("tools", name)
        assert status == 0, narration
        assert f"```\n{out}```\n" in page, f"docs/tools.md has another {name}; run make describe"


def test_a_tool_is_shown_as_its_contract_has_it(home):
    for name, tool in tools_of(home).items():
        lines = home.cli("tools", name)[1].split("\ninputs\n")[1].split("\noutputs\n")
        for schema, text in zip((tool["inputs"], tool.get("outputs", {})), lines):
            fields = schema.get("properties", {})
            assert [line.split()[0] for line in text.splitlines()] == (list(fields) or ["any"])
            for field, line in zip(fields, text.splitlines()):
                assert fields[field]["description"] in line
                line = line.split(fields[field]["description"])[1]
                assert ("(default" in line) == ("default" in fields[field])
                assert ("(required)" in line) == (schema is tool["inputs"] and field in schema.get("required", [])
                                                  and "default" not in fields[field])


def test_a_tool_has_parameters_for_a_model(home):
    for name, tool in tools_of(home).items():
        status, out, narration = home.cli("tools", name, "--schema")
        assert status == 0 and json.loads(out) == tool["parameters"], narration
        assert "$ref" not in out.replace('"$ref":"#/$defs/', "") and '"x-' not in out
        assert tool["parameters"]["properties"].keys() == tool["inputs"].get("properties", {}).keys()
        assert tool["risk"] in ("low", "medium", "high") and tool["timeout_seconds"] > 0
    status, _, narration = home.cli("tools", "--schema")
    assert status == 2 and "baton tools NAME --schema" in narration


def test_a_tool_that_does_not_exist(home):
    status, _, narration = home.cli("tools", "shel")
    assert status == 4 and "did you mean shell?" in narration
