"""The published JSON Schema of workflow files, read by ajv: it accepts what the program accepts, and refuses the common mistakes."""
import json
import pathlib
import re
import subprocess

import pytest

from baton import PATIENCE_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = pathlib.Path(__file__).with_name("read.mjs")
BLOCK = re.compile(r"```yaml\n(name: (\S+)[^\n]*\n.*?)```", re.S)
GRAPH = """name: g
entry_point: a
nodes:
  a: {type: tool, tool: echo, inputs: {routing_key: done}}
edges:
  - {from: a, to: {done: __end__}}
"""
STEPS = """name: s
_retry: &again {max_retries: 2}
x-note: anything
inputs: {n: {type: integer, default: 1}}
agents: {dev: {driver: script, options: {replies: [{text: ok}]}}}
steps:
  - {name: a, tool: echo, _note: 1, retry: 2}
  - {name: b, tool: echo, max_retries: 1, depends_on: [a]}
  - {name: c, agent: tier0_echo, timeout_seconds: 5, retry: *again}
  - {name: d, agent: dev, inputs: {prompt: hi}, verify: {criteria: [{name: long, check: len(output.text) > 0}]}}
  - <<: {tool: echo}
    name: e
"""


@pytest.fixture
def complaints(described, tmp_path):
    """What ajv says of texts against the schema that the program prints."""
    path = tmp_path / "workflow.schema.json"
    path.write_text(described("workflow-schema"))

    def read(texts):
        done = subprocess.run(["node", READER, "workflows", path], input=json.dumps([{"name": name, "text": text} for name, text in texts.items()]),
                              capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return read


def check(home, tmp_path, text, name):
    path = tmp_path / f"{name}.yaml"
    path.write_text(text)
    return home.cli("check", str(path))


def test_every_example_and_every_file_of_the_docs_fits(complaints):
    texts = {path.name: path.read_text() for path in ROOT.glob("examples/*.yaml")}
    for page in ("README.md", "docs/workflows.md", "docs/graphs.md", "docs/agents.md"):
        texts |= {f"{page}-{name}": text for text, name in BLOCK.findall((ROOT / page).read_text())}
    assert len(texts) > 40
    assert complaints(texts) == []


def test_the_shorter_spellings_and_the_other_dialects_fit(home, tmp_path, complaints):
    for name, text in (("s", STEPS), ("g", GRAPH)):
        status, out, errors = check(home, tmp_path, text, name)
        assert status == 0, out + errors
    assert complaints({"steps": STEPS, "graph": GRAPH, "json": json.dumps({"name": "j", "steps": [{"name": "a", "tool": "echo"}]})}) == []


BROKEN = {
    "field": (STEPS.replace("timeout_seconds: 5", "timout: 5"), "timout"),
    "file": (STEPS.replace("x-note", "note"), "note"),
    "type": (STEPS.replace("type: integer", "type: whole"), "/inputs/n/type: "),
    "value": (STEPS.replace("timeout_seconds: 5", "timeout_seconds: soon"), "timeout_seconds"),
    "no steps": ("name: s\n", "steps"),
    "no name": (STEPS.replace("{name: a, tool: echo", "{tool: echo"), "name"),
    "list": (STEPS.replace("depends_on: [a]", "depends_on: a"), "depends_on"),
    "node": (GRAPH.replace("type: tool", "type: tol"), "/nodes/a/type: "),
    "edge": (GRAPH.replace("from: a", "form: a"), "form"),
    "empty": ("[]\n", "object"),
}


@pytest.mark.parametrize("case", sorted(BROKEN))
def test_a_broken_file_is_refused_by_the_schema_and_by_the_program(home, tmp_path, complaints, case):
    text, word = BROKEN[case]
    found = complaints({"broken": text})
    assert any(word in one for one in found), found
    assert check(home, tmp_path, text, "broken")[0] == 2


def test_it_stands_alone_with_standard_keywords(described):
    text = described("workflow-schema")
    schema = json.loads(text)
    assert "x-" not in re.sub(r'"\^\(_\|x-\)"', "", text), "keywords of our own"
    assert {reference.removeprefix("#/$defs/") for reference in re.findall(r'"\$ref": "([^"]*)"', text)} <= set(schema["$defs"])


def test_it_is_served_and_installed(home, described):
    answer = home.serve().get("/docs/workflow.schema.json")
    assert answer.status == 200 and answer.body == json.loads(described("workflow-schema"))
    done = subprocess.run(["tools/install", "/opt/baton", str(pathlib.Path(home.path, "stage"))], cwd=ROOT, capture_output=True, text=True,
                          timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    installed = pathlib.Path(home.path, "stage/opt/baton/share/baton/workflow.schema.json")
    assert json.loads(installed.read_text())["title"] == "Baton workflow file"
