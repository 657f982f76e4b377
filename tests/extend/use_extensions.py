"""What the extended program does with its new tool, driver, route and field; test_extend.py runs it in the copy."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from baton import Home  # noqa: E402

WORKFLOW = """
name: extended
agents:
  polly: {driver: parrot, options: {prefix: "Polly: "}}
steps:
  - {name: turn, tool: reverse, inputs: {text: hello}}
  - {name: say, agent: polly, depends_on: [turn], inputs: {prompt: "${steps.turn.outputs.text}"}}
outputs:
  said: {from: "${steps.say.outputs.text}"}
"""


@pytest.fixture(scope="module")
def home():
    with Home() as home:
        yield home


@pytest.fixture(scope="module")
def server(home):
    return home.serve()


def test_the_tool_and_the_driver_run(home, server):
    home.define(WORKFLOW)
    run = server.run_of("extended")
    server.finish(run)
    assert server.result(run)["outputs"]["said"] == "Polly: olleh"


def test_the_tool_is_described_and_checks_its_inputs(server):
    [tool] = [one for one in server.get("/api/tools").body["items"] if one["name"] == "reverse"]
    assert tool["class"] == "pure" and tool["inputs"]["required"] == ["text"]


def test_the_driver_checks_its_options(home):
    path = home.define(WORKFLOW.replace("prefix", "suffix"), name="wrong")
    status, _, errors = home.cli("run", str(path))
    assert status == 2 and "suffix" in errors


def test_the_route_answers(server):
    answer = server.get("/api/extension")
    assert answer.status == 200 and answer.body == {"status": "extended"}
    assert server.request("POST", "/api/extension").status == 405


def test_the_field_is_taken_kept_and_shown(server):
    agent = {"name": "one", "role": "r", "system_prompt": "s", "driver": "api", "llm_config": {"model": "m"}}
    assert server.request("POST", "/api/agents", {**agent, "nickname": "Eins"}).status == 201
    assert server.get("/api/agents/one").body["nickname"] == "Eins"
    refused = server.request("POST", "/api/agents", {**agent, "name": "two", "nickname": ""})
    assert refused.status == 422 and refused.body["details"][0]["pointer"] == "/nickname"


def test_the_field_of_the_start_is_kept_and_in_every_view(home, server):
    home.define(WORKFLOW)
    started = server.request("POST", "/api/run", {"workflow": "extended", "inputs": {}, "shade": "blue"})
    run = started.body["run_id"]
    server.finish(run)
    assert server.get(f"/api/runs/{run}/state").body["shade"] == "blue"
    for view in ("pipeline", "pipeline_v1", "runtime", "task", "graph"):
        assert server.get(f"/api/runs/{run}?view={view}").body["shade"] == "blue", view
    refused = server.request("POST", "/api/run", {"workflow": "extended", "inputs": {}, "shade": ""})
    assert refused.status == 422 and refused.body["details"][0]["pointer"] == "/shade"


def test_the_documents_have_them(home):
    printed = {what: home.cli("describe", what)[1] for what in ("listing", "openapi", "typescript", "markdown")}
    assert 'field run.Agent.nickname string optional shortest=1 longest=64\n' in printed["listing"]
    assert "route GET:/api/extension id=extension role=viewer status=200 gives=run.Probe\n" in printed["listing"]
    openapi = json.loads(printed["openapi"])
    assert openapi["paths"]["/api/extension"]["get"]["operationId"] == "extension"
    assert "run.ReverseInputs" in openapi["components"]["schemas"]
    assert "interface ParrotOptions {" in printed["typescript"] and "### run.ReverseInputs\n" in printed["markdown"]
