"""GET /api/workflows: what can be started by name, with its inputs, and what is wrong with the rest."""
import pathlib

from baton import ROOT

GOOD = """
name: greet
description: Greets.
inputs:
  who: {type: string, description: Whom to greet}
  tone: {type: string, enum: [kind, curt], default: kind}
  times: {type: number, required: false}
steps:
  - {name: one, tool: echo, inputs: {text: "${inputs.who}"}}
"""
BROKEN = "name: broken\nsteps:\n  - {name: a, tool: echo, depends_on: [b], inputs: {text: hi}}\n"
BUILT_IN = [path.stem for folder in ("examples", "definitions") for path in (ROOT / folder).glob("*.yaml")]
MINE = "name: two-steps\ndescription: Mine.\nsteps:\n  - {name: a, tool: echo, inputs: {text: hi}}\n"


def test_names_inputs_and_descriptions(home):
    home.define(GOOD)
    server = home.serve()
    body = server.get("/api/workflows").body
    assert body["workflows"] == sorted([*BUILT_IN, "greet"])
    assert [item["name"] for item in body["items"]] == body["workflows"]
    assert body["cursor"] is None
    assert body["items"][body["workflows"].index("greet")] == {
        "name": "greet", "description": "Greets.", "source": "file",
        "inputs": [{"name": "who", "type": "string", "required": True, "description": "Whom to greet"},
                   {"name": "tone", "type": "string", "required": False, "default": "kind", "enum": ["kind", "curt"]},
                   {"name": "times", "type": "number", "required": False}]}
    # The agents of the pipelines come from a profile, and there is none.
    pipelines = {path.stem for path in (ROOT / "definitions").glob("*.yaml")}
    assert {item["name"] for item in body["items"] if "problem" in item} <= pipelines


def test_a_file_of_the_data_folder_hides_the_example_of_its_name(home):
    home.define(MINE)
    [item] = [item for item in home.serve().get("/api/workflows").body["items"] if item["name"] == "two-steps"]
    assert item["description"] == "Mine." and item["inputs"] == []


def test_the_problem_is_the_one_that_a_start_reports(home):
    home.define(BROKEN)
    folder = pathlib.Path(home.data, "definitions")
    (folder / "other.yaml").write_text(GOOD)
    (folder / "syntax.yaml").write_text("a: [")
    (folder / "large.yaml").write_text("#" * (1 << 20) + "\n" + GOOD)
    (folder / "notes.txt").write_text("not a definition")
    (folder / ".hidden.yaml").write_text(GOOD)
    server = home.serve()
    items = {item["name"]: item for item in server.get("/api/workflows").body["items"]}
    assert sorted(items) == sorted([*BUILT_IN, "broken", "large", "other", "syntax"])
    for name in ("broken", "other", "syntax", "large"):
        answer = server.start(name)
        assert answer.status == (413 if name == "large" else 422)
        assert items[name]["problem"].endswith(answer.body["detail"]), name
    assert items["broken"]["problem"].startswith("line 3:")
    assert server.get("/api/runs").body == []


def test_a_custom_tool_and_an_agent_are_looked_up_as_at_a_start(home):
    home.define("name: uses\nsteps:\n  - {name: a, agent: writer, inputs: {prompt: hi}}\n")
    server = home.serve()
    before = {item["name"]: item for item in server.get("/api/workflows").body["items"]}["uses"]
    assert "writer" in before["problem"]


def test_pages(home):
    for number in range(12):
        home.define(f"name: w{number:02}\nsteps:\n  - {{name: a, tool: echo, inputs: {{text: hi}}}}\n")
    server = home.serve()
    names, cursor = [], ""
    while cursor is not None:
        page = server.get(f"/api/workflows?limit=5&cursor={cursor}").body
        assert len(page["workflows"]) <= 5
        names += page["workflows"]
        cursor = page["cursor"]
    assert names == sorted([*BUILT_IN, *(f"w{number:02}" for number in range(12))])
    assert server.get("/api/workflows?limit=0").status == 400
    assert server.get("/api/workflows?limit=100000").status == 400
