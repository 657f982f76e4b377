"""Calls of agents: retries, timeouts, fallback tools, figures, required files, summaries, delegation, edited calls."""
import contextlib
import json

import pytest
from baton import Gone, killed, new_id
from fake_provider import FakeProvider
from test_sessions import call, definition, ended, of, told


# ---- retries, timeouts, fallbacks ----------------------------------------------------------------


def test_a_call_has_its_own_retries(home, server):
    more = "calls: {shell: {retry: {max_retries: 2, base_delay: 0, on: [tool_failed]}}}"
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("shell", command="echo x >> tries; test $(wc -l < tries) -ge 3 && echo good", fail_on_status=True)]},
        {"turn": 2, "contains": "good", "text": "Third time."}, {"text": "It failed."}], more=more))
    assert result["outputs"] == {"text": "Third time."}
    assert [data["step"] for data in of(events, "tool.requested")] == ["work[1]/shell"] * 3


def test_a_call_has_its_own_timeout(home, server):
    more = "calls: {sleep: {timeout: 0.2, fallback_tools: [echo]}}"
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("sleep", seconds=600)]},
        {"turn": 2, "contains": "[sleep failed (timeout); echo was called instead]", "text": "Echoed."}, {"text": "?"}], more=more))
    assert result["outputs"] == {"text": "Echoed."}
    failed = of(events, "tool.finished")[0]
    assert failed["fault"]["code"] == "timeout" and failed["next"]["then"] == ["echo"] and failed["next"]["fallback"] == "work[1]/echo"


def test_a_call_that_failed_is_made_with_another_tool(home, server):
    """The one whose schema takes the arguments; a refusal is not passed on."""
    more = "calls: {shell: {fallback_tools: [read_file, echo]}}"
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("shell", command="exit 3", fail_on_status=True), call("echo", a=1)]},
        {"turn": 2, "calls": [call("shell", comand="x")]},
        {"turn": 3, "contains": "invalid: ", "text": "Good."}, {"text": "?"}], more=more))
    assert result["outputs"] == {"text": "Good."}
    assert [step for type, step in told(events) if type in ("tool.finished", "step.computed")] == ["work[1]/shell", "work[1]/echo#2", "work[1]/echo", "work[2]/shell"]
    turn = server.get(f"/api/runs/{result['run_id']}/conversation").body["talks"][0]["turns"][0]
    assert (turn["calls"][0]["name"], turn["calls"][0]["step"], turn["calls"][0]["instead_of"]) == ("shell", "work[1]/echo#2", "shell")


@pytest.mark.parametrize("calls, says", [
    ("{echo: {fallback_tools: [sleep]}, sleep: {fallback_tools: [shell]}, shell: {fallback_tools: [echo]}}", "go round in a circle: echo -> sleep -> shell -> echo"),
    ("{echo: {fallback_tools: [echo]}}", "circle: echo -> echo"),
    ("{echo: {fallback_tools: [nothing]}}", "the fallback nothing of echo is not among its tools"),
    ("{nothing: {timeout: 1}}", "nothing is not among its tools"),
    ("{echo: {retry: {on: [bad_code]}}}", "unknown error code bad_code"),
])
def test_calls_of_tools_are_checked_with_the_definition(home, server, calls, says):
    answer = server.start(home.define(definition([{"text": "x"}], more=f"calls: {calls}")))
    assert answer.status == 422 and says in json.dumps(answer.body)


@pytest.mark.parametrize("point", ["tool.ended=kill@1", *(f"store.before_commit=kill@{passing}" for passing in range(1, 6))])
def test_a_fallback_survives_a_kill(home, point):
    yaml = definition([{"turn": 1, "calls": [call("shell", command="exit 3", fail_on_status=True)]}, {"text": "Done."}],
                      tools=("shell", "echo"), more="calls: {shell: {fallback_tools: [echo]}}")
    name, server, run = home.define(yaml), home.serve(BATON_POINTS=point), new_id()
    with contextlib.suppress(Gone, OSError):
        server.start(name, None, run)
    assert killed(server), server.errors()
    server = home.serve()
    server.start(name, None, run)  # refused if it is stored
    assert server.finish(run)["outputs"] == {"text": "Done."}
    ended = [step for type, step in told(server.events(run)) if type in ("tool.finished", "step.computed")]
    assert ended == ["work[1]/shell", "work[1]/echo"], "the fallback answered, once"


# ---- figures --------------------------------------------------------------------------------------


def test_figures_of_a_call(home, server):
    yaml = """
name: figures
steps:
  - name: busy
    tool: shell
    inputs: {command: "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; head -c 3000000 /dev/zero > big; sync; exit 0"}
  - name: failing
    depends_on: [busy]
    tool: shell
    inputs: {command: "exit 7"}
"""
    run = server.run_of(home.define(yaml))
    server.finish(run)
    busy, failing = [data["figures"] for data in of(server.events(run), "tool.finished")]
    assert busy["exit_code"] == 0 and busy["cpu_us"] > 0 and busy["memory_bytes"] > 100000 and busy["written_bytes"] >= 0
    assert failing["exit_code"] == 7
    attempts = server.get(f"/api/runs/{run}/steps/busy/details").body["attempts"]
    assert attempts[0]["figures"] == busy
    task = json.dumps(server.get(f"/api/runs/{run}?view=task").body)
    assert '"resource_usage": {"exit_code": 0' in task and '"exit_code": 7' in task
    shown = home.cli("show", run)[1]
    assert "exit status 7" in shown


# ---- required files ---------------------------------------------------------------------------------


def test_a_required_file_must_exist_before_the_end(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "text": "Done."},
        {"turn": 2, "contains": "these files are missing in the workspace: out/report.md.", "calls": [call("write_file", path="out/report.md", content="x")]},
        {"turn": 3, "text": "Really done."}], more="required_files: [out/report.md]"))
    assert result["status"] == "success" and result["outputs"] == {"text": "Really done."}
    assert [step for type, step in told(events) if type == "tool.finished"] == ["work[1]/check_files", "work[2]/write_file", "work[3]/check_files"]


def test_an_agent_that_never_writes_its_files_fails(home, server):
    result, events = ended(home, server, definition([{"text": "Done."}], more="required_files: [a, ../b]"))
    assert result["status"] == "failed" and len(of(events, "turn.finished")) == 4
    assert "these files are missing in the workspace: a, ../b" in json.dumps(of(events, "run.finished"))


def test_what_is_submitted_needs_the_files_too(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("submit", result=1)]},
        {"turn": 2, "calls": [call("write_file", path="a", content="x"), call("submit", result=2)]}, {"text": "?"}],
        tools=("write_file", "submit"), more="required_files: [a]"))
    assert result["status"] == "success" and len(of(events, "turn.finished")) == 2


# ---- summaries ----------------------------------------------------------------------------------------


def used(tokens):
    return {"input_tokens": tokens, "output_tokens": 1}


SUMMED = [
    {"contains": "no longer fits your context window", "text": "SUMMARY: one and two.", "calls": [{"name": "echo", "arguments": {"never": 1}}]},
    {"turn": 1, "calls": [call("echo", n=1)], "usage": used(100)},
    {"contains": '{"n":2}', "calls": [call("echo", n=3)], "usage": used(5000)},
    {"contains": '{"n":3}', "text": "Done."},
    {"contains": '{"n":1}', "calls": [call("echo", n=2)], "usage": used(200)},
    {"text": "?"},
]


def test_a_full_transcript_goes_on_with_a_summary(home, server):
    result, events = ended(home, server, definition(SUMMED, more="context_tokens: 8000\n    on_full: summarize\n    max_turns: 4"))
    assert result["outputs"] == {"text": "Done."}, told(events)
    entered = [{key: data[key] for key in ("summarizes", "summary", "summaries", "kept_from") if key in data} for data in of(events, "step.entered")]
    assert entered == [{}, {}, {}, {"summarizes": 2, "summaries": 1}, {"summary": 4, "summaries": 1, "kept_from": 2}]
    assert not any(step.startswith("work[4]/echo") for _, step in told(events))  # a summary makes no calls
    turns = server.get(f"/api/runs/{result['run_id']}/conversation").body["talks"][0]["turns"]
    assert [turn.get("summarizes", False) for turn in turns] == [False, False, False, True, False]


@pytest.mark.parametrize("format", ["chat", "messages"])
def test_the_model_gets_its_summary_back(home, format):
    server = home.serve()
    with FakeProvider() as provider:
        for n in range(2):
            provider.then(calls=[(f"c{n}", "echo", json.dumps({"n": n}))], usage={"input": 6000 if n == 1 else 10, "output": 1, "cached": 0, "created": 0})
        provider.then(text="SUMMARY: zero.")
        provider.then(text="Done.")
        yaml = definition([{"text": "x"}], tools=("echo",), more="context_tokens: 8000\n    on_full: summarize").replace(
            "driver: script", "driver: api:custom").replace('options: {replies: [{"text": "x"}]}', f"options: {{base_url: {provider.base}, format: {format}, stream: false}}")
        assert server.finish(server.run_of(home.define(yaml)))["outputs"] == {"text": "Done."}
        asked, last = json.dumps(provider.requests[2]["body"]), json.dumps(provider.requests[3]["body"])
    assert "no longer fits your context window" in asked and 'n\\": 0' in asked.replace('n\\\\\\":0', 'n\\": 0') or "c0" in asked
    assert "Your summary of them:" in last and "SUMMARY: zero." in last and "c0" not in last and "c1" in last


@pytest.mark.parametrize("passing", [3, 4, 5])
def test_a_summary_survives_a_kill(home, passing):
    server = home.serve(BATON_POINTS=f"turn.ended=kill@{passing}")
    run = new_id()
    server.start(home.define(definition(SUMMED, more="context_tokens: 8000\n    on_full: summarize")), None, run)
    server.wait()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "Done."}
    assert [data.get("summarizes") for data in of(server.events(run), "step.entered")] == [None, None, None, 2, None]


# ---- delegation -----------------------------------------------------------------------------------------


def team(lead, sub="{researcher: {description: finds things, timeout: 600}}", more=""):
    return f"""
name: team
strict: true
agents:
  lead:
    driver: script
    tools: [delegate]
    sub_agents: {sub}
    options: {{replies: {json.dumps(lead)}}}
  researcher:
    driver: script
    system: You find things.
    tools: [echo]
    options: {{replies: [{{contains: "Find x.", calls: [{{name: echo, arguments: {{found: x}}}}]}}, {{contains: found, text: "x is 42."}}]}}
    {more}
steps:
  - name: work
    agent: lead
    inputs: {{prompt: "Do it."}}
outputs: {{text: {{from: "${{steps.work.outputs.text}}"}}}}
"""


def test_an_agent_delegates_to_another(home, server):
    lead = [{"turn": 1, "calls": [call("delegate", agent="researcher", task="Find x."), call("delegate", agent="nobody", task="y")]},
            {"turn": 2, "contains": 'there is no agent "nobody" to delegate to; the agents are researcher', "text": "Done."}, {"text": "?"}]
    result, events = ended(home, server, team(lead))
    assert result["outputs"] == {"text": "Done."}
    child = of(events, "subrun.requested")[0]
    assert child["step"] == "work[1]/delegate_researcher"
    assert of(events, "subrun.finished")[0]["output"]["is"]["summary"] == "x is 42."
    inner = server.events(child["effect"])
    assert len(of(inner, "turn.finished")) == 2 and "Do it." not in json.dumps(inner)
    sessions = server.get(f"/api/runs/{result['run_id']}/sessions").body
    mine = [one for one in sessions if one["session_id"] == child["effect"]][0]
    assert (mine["agent_name"], mine["task_description"], mine["status"]) == ("researcher", "Find x.", "completed")
    turn = server.get(f"/api/runs/{result['run_id']}/conversation").body["talks"][0]["turns"][0]
    assert turn["calls"][0]["step"] == "work[1]/delegate_researcher" and "step" not in turn["calls"][1]


@pytest.mark.parametrize("sub, more, says", [
    ("{lead: {}}", "", "delegate in a circle: lead -> lead"),
    ("{researcher: {}}", "sub_agents: {lead: {}}", "delegate in a circle: lead -> researcher -> lead"),
    ("{nobody: {}}", "", "nobody"),
    ("{}", "", "no sub_agents to delegate to"),
])
def test_delegation_is_checked_with_the_definition(home, server, sub, more, says):
    yaml = team([{"text": "x"}], sub, more)
    if more:
        yaml = yaml.replace("tools: [echo]", "tools: [echo, delegate]")
    answer = server.start(home.define(yaml))
    assert answer.status == 422 and says in json.dumps(answer.body), answer.body


# ---- people and malformed calls ---------------------------------------------------------------------------


def test_an_edited_call_that_the_tool_refuses_leaves_the_question_open(home, server):
    run = server.run_of(home.define(definition([
        {"turn": 1, "calls": [call("shell", command="echo one")]}, {"turn": 2, "contains": "two", "text": "Good."}, {"text": "?"}], more="approve: [shell]")))
    server.until(run, "human.requested")
    question = server.inbox()[0]
    refused = server.respond(question["id"], "modify", value={"comand": "x"})
    assert refused.status == 422 and "the tool shell refuses these arguments" in json.dumps(refused.body)
    assert len(server.inbox()) == 1
    shown = home.cli("show", run)[1]
    assert "May the agent of step work call shell?" in shown and "echo one" in shown
    assert server.respond(question["id"], "modify", value={"command": "echo two"}).status == 200
    assert server.finish(run)["outputs"] == {"text": "Good."}


@pytest.mark.parametrize("calls, says", [
    ([("c1", "", "{}")], "there is no tool unnamed"),
    ([("c1", "echo", '{"a": 1, "a": 2}')], "duplicate key"),
])
def test_a_malformed_call_is_answered(home, calls, says):
    server = home.serve()
    with FakeProvider() as provider:
        provider.then(calls=calls)
        provider.then(text="I see.")
        yaml = definition([{"text": "x"}], tools=("echo",)).replace("driver: script", "driver: api:custom").replace(
            'options: {replies: [{"text": "x"}]}', f"options: {{base_url: {provider.base}, format: chat, stream: false}}")
        assert server.finish(server.run_of(home.define(yaml)))["outputs"] == {"text": "I see."}
        assert says in json.dumps(provider.requests[1]["body"])
