"""Workflows with steps: spellings and fields beside the plain ones, outputs of replies, and team files that are refused."""
import json
import pathlib

import pytest


def ended(home, server, definition, inputs=None):
    return server.finish(server.run_of(home.define(definition), inputs))


def events_of(server, run, type):
    return [event["data"] for event in server.events(run) if event["type"] == type]


def check(home, text):
    pathlib.Path(home.path, "w.yaml").write_text(text)
    return home.cli("check", "w.yaml")


def test_members_of_a_reply_are_outputs(home, server):
    """`text` and `json` remain, and win over members of the same name."""
    run = ended(home, server, """
name: w
agents:
  ada: {driver: script, options: {replies: [{json: {title: T, parts: [1, 2], text: mine}}]}}
steps:
  - {name: plan, agent: ada, inputs: {prompt: x}}
  - {name: use, depends_on: [plan], tool: echo, inputs: {t: "${steps.plan.outputs.title}", p: "${steps.plan.outputs.parts[1]}"}}
outputs:
  all: {from: "${steps.use.outputs}"}
  json: {from: "${steps.plan.outputs.json.text}"}
  text: {from: "${steps.plan.outputs.text}"}
""")
    assert run["outputs"]["all"] == {"t": "T", "p": 2} and run["outputs"]["json"] == "mine"
    assert json.loads(run["outputs"]["text"]) == {"title": "T", "parts": [1, 2], "text": "mine"}


REPAIRED = """
name: %s
strict: %s
agents:
  ada: {driver: script, options: {replies: [{turn: 1, text: "here you are"}, {turn: 2, %s}, {text: nothing}]}}
steps:
  - {name: plan, agent: ada, inputs: {prompt: x}, outputs: {title: heading}}
outputs:
  heading: {from: "${ctx.heading}", optional: true}
"""


def test_a_missing_output_is_asked_for_once(home, server):
    run = ended(home, server, REPAIRED % ("good", "false", "json: {title: T}"))
    assert run["outputs"]["heading"] == "T"
    assert len(events_of(server, run["run_id"], "turn.finished")) == 2


def test_an_output_that_stays_missing_is_null_with_a_warning_or_a_failure(home, server):
    run = ended(home, server, REPAIRED % ("lenient", "false", "text: still not"))
    assert run["status"] == "success" and run["outputs"]["heading"] is None
    assert len(events_of(server, run["run_id"], "turn.finished")) == 2
    assert "the reply lacks the outputs title" in json.dumps(server.get(f"/api/runs/{run['run_id']}/steps").body)
    run = ended(home, server, REPAIRED % ("strict", "true", "text: still not"))
    assert run["status"] == "failed" and "the reply lacks the outputs title" in json.dumps(run)


def test_tier0_needs_no_model(home, server):
    """The tool of that name is called; without one, the inputs are passed on."""
    run = ended(home, server, """
name: w
_templates: {common: &common {n: 3}}
x-note: ignored
steps:
  - {name: parse, agent: tier0_parser, inputs: *common, _note: ignored}
  - {name: run, agent: tier0_shell, inputs: {command: "printf hi"}, depends_on: [parse], x-y: 1}
outputs:
  n: {from: "${steps.parse.outputs.n}"}
  said: {from: "${steps.run.outputs.stdout}"}
""")
    assert run["outputs"] == {"n": 3, "said": "hi"}


def test_the_shorter_spellings_of_retries_and_timeouts(home, server):
    run = ended(home, server, """
name: w
capabilities: {inputs: [code], outputs: [report]}
evaluation: {rubric_id: r1, criteria: [{name: good}]}
experimental: true
version: 2
steps:
  - {name: a, tool: shell, retry: 1, timeout_seconds: 60, inputs: {command: "echo x >> a; test $(wc -l < a) -ge 2"}}
  - {name: b, tool: shell, max_retries: 1, inputs: {command: "echo x >> b; test $(wc -l < b) -ge 2"}}
""")
    assert run["status"] == "success", run


def test_the_types_of_inputs(home, server):
    name = home.define("""
name: w
inputs: {n: {type: integer, default: 1}, f: {type: file, default: a/b.txt}}
steps: [{name: a, tool: echo, inputs: {n: "${inputs.n}", f: "${inputs.f}"}}]
outputs: {all: {from: "${steps.a.outputs}"}}
""")
    assert server.finish(server.run_of(name, {"n": 2}))["outputs"]["all"] == {"n": 2, "f": "a/b.txt"}
    for inputs in ({"n": 1.5}, {"f": "/etc/passwd"}, {"f": "../x"}, {"f": ""}):
        assert server.start(name, inputs).status == 422, inputs


def test_a_step_can_choose_model_and_tools(home, server):
    run = ended(home, server, """
name: w
agents:
  ada:
    driver: script
    model: large
    tools: [shell, echo]
    options: {replies: [{turn: 1, calls: [{name: shell, arguments: {command: ls}}]}, {text: done}]}
  bob: {driver: script, options: {replies: [{text: hi}]}}
steps:
  - {name: a, agent: ada, inputs: {prompt: x}, tools: [echo], model_override: small}
  - {name: b, agent: bob, inputs: {prompt: x}, tools: [echo]}
""")
    turns = events_of(server, run["run_id"], "turn.requested")
    assert {one["model"] for one in turns if one["step"].startswith("a")} == {"small"}
    talk = json.dumps(server.get(f"/api/runs/{run['run_id']}/conversation").body)
    assert "there is no tool shell; the tools are echo" in talk
    assert any(one["step"] == "b[1]/turn" for one in turns)


def test_criteria_of_a_step_repeat_it(home, server):
    run = ended(home, server, """
name: w
agents:
  ada: {driver: script, options: {replies: [{contains: "did not pass these checks", text: long enough}, {text: short}]}}
steps:
  - name: write
    agent: ada
    inputs: {prompt: "Write."}
    verify: {criteria: [{name: long, check: "len(output.text) > 8"}]}
outputs: {text: {from: "${steps.write.outputs.text}"}}
""")
    assert run["outputs"]["text"] == "long enough"
    assert len(events_of(server, run["run_id"], "turn.finished")) == 2


def test_data_decides_the_order_of_steps(home, server):
    run = ended(home, server, """
name: w
steps:
  - {name: late, tool: echo, consumes: [facts], inputs: {n: "${steps.early.outputs.n}"}}
  - {name: early, tool: echo, produces: [facts], inputs: {n: 7}}
outputs: {n: {from: "${steps.late.outputs.n}"}}
""")
    assert run["outputs"]["n"] == 7


TEAM = """
name: crew
description: Writes.
default_llm: {model: m}
agents:
  - {name: ann, role: leads, prompt_template: ann.md}
  - {name: bob, role: writes, prompt_template: bob.md}
  - {name: Eve 2, role: reads, prompt_template: eve.md}
tools: []
handoff_rules: [{from_agent: ann, to_agent: %s, condition: the plan is ready}, {from_agent: bob, to_agent: ann}]
collaboration_patterns: [{name: vote, type: consensus, agents: [bob, Eve 2], coordination_agent: ann}]
execution_config: {human_intervention_points: [bob], max_steps: 20}
"""
NOT_YET = "teams cannot be started yet"


def test_a_team_file_is_recognised_and_not_started(home, server):
    """A mistake is reported in the words of the file; a team without mistakes is refused with the reason at the start only."""
    status, out, narration = check(home, TEAM % "zoe")
    assert status != 0 and "team file: " in out + narration and "zoe" in out + narration, out + narration
    status, out, narration = check(home, TEAM % "bob")
    assert status == 0 and "warning: " in out + narration and NOT_YET in out + narration
    home.define(TEAM % "bob")
    refused = server.start("crew")
    assert refused.status == 422 and NOT_YET in refused.body["detail"], refused
    assert server.request("POST", "/api/run/plan", {"workflow": "crew", "inputs": {}}).status == 422
    [item] = [one for one in server.get("/api/workflows?limit=200").body["items"] if one["name"] == "crew"]
    assert NOT_YET in item["problem"]
    assert server.get("/api/runs").body == []


def test_a_team_file_is_drawn(home, server):
    home.define(TEAM % "bob")
    dag = server.get("/api/workflows/crew/dag").body
    nodes = {node["id"]: node for node in dag["nodes"]}
    assert {"ann", "bob-before", "bob", "vote", "vote/bob", "vote/Eve_2"} <= set(nodes), nodes
    assert nodes["ann"]["agent"] == "ann" and nodes["vote"]["type"] == "parallel"
    edges = {(edge["source"], edge["target"]) for edge in dag["edges"]}
    assert {("ann", "bob-before"), ("bob-before", "bob"), ("bob", "ann"), ("ann", "vote"), ("vote", "ann")} <= edges, edges
    status, out, _ = home.cli("workflow", "dag", "crew")
    assert status == 0 and "agent bob" in out and "parallel" in out
    saved = server.request("PUT", "/api/workflows/crew", {"name": "crew", "yaml_content": (TEAM % "bob").replace("Writes", "Reads")})
    assert saved.status == 201 and saved.body["is_valid"] and any(NOT_YET in one for one in saved.body["warnings"])


def test_a_graph_workflow_is_listed_with_its_inputs_and_checked_with_warnings(home, server):
    home.define("name: g\ndescription: d\nentry_point: a\nstate: {n: number}\nnodes: {a: {type: tool, tool: echo}, b: {type: human}}\nedges: []\n")
    [item] = [one for one in server.get("/api/workflows?limit=200").body["items"] if one["name"] == "g"]
    assert "problem" not in item or item["problem"] is None
    assert [one["name"] for one in item["inputs"]] == ["task", "n"]
    status, out, narration = home.cli("check", str(pathlib.Path(home.data, "definitions", "g.yaml")))
    assert status == 0 and "no edge leads to node b" in out + narration, out + narration
