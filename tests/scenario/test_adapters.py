"""POST /api/run with an adapter: native, sim (nothing leaves the program) and replay (a cassette answers)."""
import json
import pathlib

import pytest
from baton import EXIT
from fake_provider import FakeProvider

KEYS = {"BATON_SECRETS_ALLOW": "CANARY_KEY", "CANARY_KEY": "sk-canary-71c0ffee"}


@pytest.fixture
def provider():
    with FakeProvider() as provider:
        yield provider


def run(server, workflow, **more):
    answer = server.request("POST", "/api/run", {"workflow": workflow, "inputs": {}, **more})
    assert answer.status == 202, answer
    return server.finish(answer.body["run_id"])


SIMULATED = """
name: risky
agents:
  ada: {driver: "api:openai", model: gpt-5, schema: {type: object, required: [grade], properties: {grade: {type: string, enum: [good, bad]}}}}
steps:
  - {name: mark, tool: append_line, inputs: {path: ledger.txt, line: paid}}
  - {name: ask, depends_on: [mark], agent: ada, inputs: {prompt: "Judge it."}}
  - {name: may, depends_on: [ask], human: {question: "Go on?", four_eyes: true}}
  - {name: command, depends_on: [may], tool: shell, inputs: {command: "touch /tmp/never"}}
  - {name: sub, depends_on: [command], workflow: inner}
  - {name: pure, depends_on: [sub], tool: echo, inputs: {grade: "${steps.ask.outputs.grade}"}}
outputs:
  grade: {from: "${steps.pure.outputs.grade}"}
  code: {from: "${steps.command.outputs.exit_code}"}
"""
INNER = """
name: inner
steps: [{name: mark, tool: append_line, inputs: {path: ledger.txt, line: inner}}]
"""


def test_a_simulated_run_is_durable_and_nothing_leaves_the_program(home):
    """No key, no network, no file: tools and models return what fits their contract, and questions are approved, in sub-runs too."""
    home.define(INNER)
    home.define(SIMULATED)
    server = home.serve()
    done = run(server, "risky", adapter="sim")
    assert done["status"] == "success" and done["adapter"] == "sim", done
    assert done["outputs"] == {"grade": "good", "code": 0}
    assert not list(pathlib.Path(home.data).rglob("ledger.txt"))
    types = [event["type"] for event in server.events(done["run_id"])]
    assert types.count("human.finished") == 1 and types.count("turn.finished") == 1 and types.count("tool.finished") == 2
    [question] = [event["data"] for event in server.events(done["run_id"]) if event["type"] == "human.finished"]
    assert question["by"] == "simulation"
    server.kill()
    again = home.serve()
    assert again.result(done["run_id"])["adapter"] == "sim" and again.result(done["run_id"])["outputs"] == done["outputs"]


def test_a_simulation_does_not_open_the_way_for_a_native_run(home):
    """The graph is cached, but keys are still checked."""
    home.define(SIMULATED.replace("workflow: inner", "tool: noop"))
    server = home.serve()
    assert run(server, "risky", adapter="sim")["status"] == "success"
    refused = server.request("POST", "/api/run", {"workflow": "risky", "inputs": {}})
    assert refused.body["code"] == "configuration" and "OPENAI_API_KEY" in refused.body["detail"], refused


ROUTED = """
name: routed
entry_point: boss
nodes:
  boss: {type: agent, agent: ada}
  work: {type: tool, tool: sleep, inputs: {seconds: 1000}}
edges:
  - {from: boss, to: {work: work, done: __end__}}
  - {from: work, to: boss}
agents: {ada: {driver: "api:openai", model: gpt-5}}
"""


def test_a_simulated_agent_takes_its_routes_in_turn(home, server):
    home.define(ROUTED)
    done = run(server, "routed", adapter="sim")
    assert done["status"] == "success", done
    assert [event["data"]["step"] for event in server.events(done["run_id"]) if event["type"] == "tool.finished"] == ["work"]


def test_replay_runs_with_a_cassette(home, provider):
    options = json.dumps({"base_url": provider.base, "format": "chat", "api_key": "env:CANARY_KEY"})
    home.define(f"""
name: greet
agents: {{ada: {{driver: "api:custom", model: m1, options: {options}}}}}
steps: [{{name: ask, agent: ada, inputs: {{prompt: "Greet Grace."}}}}]
outputs: {{text: {{from: "${{steps.ask.outputs.text}}"}}}}
""")
    provider.then(text="Hello Grace.")
    server = home.serve(**KEYS)
    assert run(server, "greet", record="demo")["outputs"]["text"] == "Hello Grace."
    asked = len(provider.requests)
    server.kill()
    server = home.serve()
    done = run(server, "greet", adapter="replay", replay="demo")
    assert done["outputs"]["text"] == "Hello Grace." and done["adapter"] == "replay"
    assert len(provider.requests) == asked


@pytest.mark.parametrize("more, says", [
    ({"adapter": "replay"}, "name of a cassette"),
    ({"adapter": "replay", "replay": "nothing"}, "nothing"),
    ({"adapter": "sim", "replay": "demo"}, "remove record and replay"),
])
def test_options_that_do_not_fit_the_adapter_are_refused(server, more, says):
    refused = server.request("POST", "/api/run", {"workflow": "two-steps", "inputs": {}, **more})
    assert refused.status in (404, 422) and says in refused.body["detail"], refused
    assert server.get("/api/runs").body == []


def test_the_command_line_chooses_the_adapter(home):
    status, out, _ = home.cli("run", "invoice-approval", "--adapter", "sim", "--json")
    assert status == 0 and json.loads(out.splitlines()[-1])["adapter"] == "sim", out
    status, _, narration = home.cli("run", "two-steps", "--adapter", "langchain")
    assert status == EXIT["usage"] and "native, sim, replay" in narration
