"""ARCHITECTURE's "To add something" is enough for a tool, a driver, a route, a field and a field of a start.

A copy of the tree is given one of each, touching exactly what the table says, and is built from a copy of
build/, so only what depends on the new rows is compiled.  Nothing else is changed in the copy: then it
must build, its checks must pass, the promised contract must still hold, and the new things must work.
"""
import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATIENCE_S = 900


def row_before(tree, row, new):
    """Puts new rows before the one row of contracts/ that begins with `row`."""
    [path] = [path for path in sorted((tree / "contracts").glob("*.def")) if f"\n{row}" in path.read_text()]
    text = path.read_text()
    assert text.count(f"\n{row}") == 1, row
    path.write_text(text.replace(f"\n{row}", f"\n{new}\n\n{row}"))


def append(path, text):
    assert path.exists(), path
    with path.open("a") as file:
        file.write(text)


def add_a_tool(tree):
    shutil.copy(HERE / "tool_reverse.c", tree / "src/tool/tool_reverse.c")
    append(tree / "src/tool/tools.def", "TOOL(reverse)\n")
    row_before(tree, "ENTITY(run_sleep_inputs,",
               'ENTITY(run_reverse_inputs, "run.ReverseInputs", CLOSED, "Inputs and outputs of the reverse tool.")\n'
               '  FIELD(text, STR, REQUIRED LENGTH(0, 4096), "What to turn around.")\nEND_ENTITY')
    page = tree / "docs/tools.md"
    page.write_text(page.read_text().replace("| `echo` |", "| `reverse` | pure | turns a text around |\n| `echo` |", 1))


def add_a_driver(tree):
    shutil.copy(HERE / "llm_parrot.c", tree / "src/llm/llm_parrot.c")
    append(tree / "src/llm/drivers.def", "DRIVER(parrot)\n")
    row_before(tree, "ENTITY(run_script_options,",
               'ENTITY(run_parrot_options, "run.ParrotOptions", CLOSED, "Options of the parrot driver.")\n'
               '  FIELD(prefix, STR, DEFAULT("") LENGTH(0, 64), "What it says first.")\nEND_ENTITY')
    append(tree / "docs/agents.md", "\n## The parrot driver\n\nIt says the prompt again, behind `prefix`.\n")


def add_a_route(tree):
    append(tree / "src/api/api_health.c", (HERE / "api_extension.c").read_text())
    routes = tree / "contracts/routes.def"
    text = routes.read_text()
    place = re.search(r'^ROUTE\( +GET, +"/api/runs",', text, re.M).start()
    routes.write_text(text[:place] + 'ROUTE(GET, "/api/extension", extension, VIEWER, ONE(run_probe), 200, "Whether the program is extended.")\n'
                      + text[place:])
    page = tree / "README.md"
    row = re.search(r"^\| .*`/api/tools`.*\n", page.read_text(), re.M)
    page.write_text(page.read_text().replace(row.group(), row.group() + "| GET | `/api/extension` | whether the program is extended |\n", 1))


def add_a_field(tree):
    [path] = [path for path in (tree / "contracts").glob("*.def") if "\nENTITY(run_agent," in path.read_text()]
    head, entity = path.read_text().split("\nENTITY(run_agent,", 1)
    path.write_text(head + "\nENTITY(run_agent," + entity.replace(
        "\nEND_ENTITY", '\n  FIELD(nickname, STR, OPTIONAL LENGTH(1, 64), "What people call it.")\nEND_ENTITY', 1))


def add_a_field_of_the_start(tree):
    row = '  FIELD(shade, STR, OPTIONAL LENGTH(1, 32), "What whoever starts the run calls it.")\n'
    append(tree / "contracts/run_start.rows", row)
    append(tree / "contracts/run_shown.rows", row)


def run(tree, *words, **environment):
    return subprocess.run(words, cwd=tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=PATIENCE_S, env={**os.environ, **environment})


def copy_of_the_tree(tree):
    """Tracked and new files and build/ with their times, so that what is built stays built."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout.splitlines()
    for name in listed:
        if (ROOT / name).exists() and not name.startswith("tests/fuzz/corpus/"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    # Not the other builds in it, nor what tools/check writes there at any time.
    shutil.copytree(ROOT / "build", tree / "build", symlinks=True,
                    ignore=lambda folder, names: [name for name in names if pathlib.Path(folder) == ROOT / "build" and (
                        name.startswith("types.ts") or (ROOT / "build" / name / "build.ninja").exists())])
    for name in ("web/node_modules", "tests/describe/node_modules"):
        (tree / name).symlink_to(ROOT / name)


def digests(tree):
    """{name: hash} of everything but tests and what is built."""
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in ("build", "tests", "node_modules", ".git", "__pycache__")]
        for name in names:
            path = pathlib.Path(folder, name)
            found[str(path.relative_to(tree))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


Extended = collections.namedtuple("Extended", "tree touched")


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """The copy, with all five added and built."""
    tree = tmp_path_factory.mktemp("extended") / "tree"
    copy_of_the_tree(tree)
    before = digests(tree)
    for add in (add_a_tool, add_a_driver, add_a_route, add_a_field, add_a_field_of_the_start):
        add(tree)
    touched = {name for name, digest in digests(tree).items() if before.get(name) != digest}
    # The build folder is told where it is now; its commands are relative, so its objects are still good.
    for words in (["git", "init", "-q"], ["meson", "setup", "--reconfigure", "build"],
                  ["ninja", "-j2", "-C", "build", "src/baton"]):
        done = run(tree, *words)
        assert done.returncode == 0, done.stdout[-6000:]
    return Extended(tree, touched)


def test_only_what_the_table_names_was_touched(extended):
    rows = {name for name in extended.touched if name.startswith("contracts/") and name != "contracts/routes.def"}
    assert rows == {"contracts/run_tool.def", "contracts/run_turn.def", "contracts/run_agent.def", "contracts/run_start.rows",
                    "contracts/run_shown.rows"}
    assert extended.touched - rows == {
        "src/tool/tool_reverse.c", "src/tool/tools.def", "docs/tools.md", "src/llm/llm_parrot.c", "src/llm/drivers.def",
        "docs/agents.md", "contracts/routes.def", "src/api/api_health.c", "README.md"}
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## To add something")[1]
    for words in ("| a field | one row in `contracts/<module>.def` |",
                  "| a field that a client sends at the start of a run and that the run keeps | one row in `contracts/run_start.rows`; one in `contracts/run_shown.rows` if every view shall show it;",
                  "| a route | one row in `contracts/routes.def`, one function `api_<name>` in `src/api/api_<resource>.c`, one scenario; a row in `README.md` |",
                  "| a tool | `src/tool/tool_<name>.c`, one row in `tools.def`, its inputs as an entity; a row in `docs/tools.md`, then `make describe` |",
                  "| a driver | `src/llm/llm_<name>.c`, one row in `drivers.def`, its options as an entity; a section in `docs/agents.md` |"):
        assert words in table


@pytest.mark.parametrize("words", [["tools/check-layers"], ["tools/check-source", "comments"], ["tools/check-source", "prefixes"],
                                   ["tools/check-source", "headers"], ["tools/check-coverage"]], ids=" ".join)
def test_its_checks_pass(extended, words):
    done = run(extended.tree, *words)
    assert done.returncode == 0, done.stdout


def inner(tree, *tests):
    done = run(tree, "/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, BATON="build/src/baton")
    assert done.returncode == 0, done.stdout[-6000:]
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1])


def test_its_contract_is_the_promised_one_and_more(extended):
    inner(extended.tree, "tests/describe/test_listing.py")


def test_the_new_things_work(extended):
    inner(extended.tree, "tests/extend/use_extensions.py")


def test_the_documents_for_people_are_still_true(extended):
    done = run(extended.tree, "tools/describe", BATON="build/src/baton")  # the tool's inputs and outputs
    assert done.returncode == 0, done.stdout
    inner(extended.tree, "tests/scenario/test_docs.py")
