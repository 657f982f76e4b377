"""Agents with tools: turns, calls, notes, limits, and what crashes and retries leave of them.

Every agent is driven by a script, so the same turn gets the same reply in whichever process it is asked."""
import json
import pathlib

import pytest
from baton import new_id, wait_until


def definition(replies, step="", name="session", tools=("echo", "shell", "read_file", "write_file", "sleep", "json_transform"), more=""):
    """One agent with these tools and replies, and one step that lets it work."""
    return f"""
name: {name}
strict: true
agents:
  dev:
    driver: script
    model: play
    system: Be brief.
    tools: {json.dumps(list(tools))}
    {more}
    options: {{replies: {json.dumps(replies)}}}
steps:
  - name: work
    agent: dev
    inputs: {{prompt: "Do it."}}
    {step}
outputs: {{text: {{from: "${{steps.work.outputs.text}}"}}}}
"""


def call(tool, id=None, **arguments):
    return {"name": tool, "arguments": arguments, **({"id": id} if id else {})}


def ended(home, server, yaml, inputs=None):
    run = server.run_of(home.define(yaml), inputs)
    result = server.finish(run)
    return result, server.events(run)


def of(events, type):
    return [event["data"] for event in events if event["type"] == type]


def told(events):
    """Type and step of every event of the session."""
    return [(event["type"], event["data"]["step"]) for event in events if event["data"].get("step", "").startswith("work")]


# ---- turns and calls ---------------------------------------------------------------------------


def test_an_agent_works_with_tools_until_it_is_done(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "thinking": "First a file.", "calls": [call("write_file", path="a.txt", content="seven")]},
        {"turn": 2, "contains": '"path":"a.txt"', "text": "Now I read it.", "calls": [call("shell", command="cat a.txt")]},
        {"turn": 3, "contains": '"stdout":"seven"', "text": "It says seven."},
        {"text": "I was told something else."}]))
    assert result["status"] == "success" and result["outputs"] == {"text": "It says seven."}
    assert told(events) == [
        ("step.entered", "work"),
        ("turn.requested", "work[1]/turn"), ("turn.finished", "work[1]/turn"),
        ("tool.requested", "work[1]/write_file"), ("tool.finished", "work[1]/write_file"),
        ("step.entered", "work"),
        ("turn.requested", "work[2]/turn"), ("turn.finished", "work[2]/turn"),
        ("tool.requested", "work[2]/shell"), ("tool.finished", "work[2]/shell"),
        ("step.entered", "work"),
        ("turn.requested", "work[3]/turn"), ("turn.finished", "work[3]/turn"),
        ("step.left", "work")]
    first = of(events, "turn.finished")[0]
    assert first["calls"] == [{"name": "write_file"}]
    assert first["output"]["is"]["thinking"] == [{"text": "First a file."}] and first["output"]["is"]["stop"] == "calls"


def test_every_turn_begins_with_the_same_recorded_request(home, server):
    _, events = ended(home, server, definition([{"turn": 1, "calls": [call("echo", a=1)]}, {"text": "Done."}]))
    opening = of(events, "step.entered")[0]["opening"]
    assert [turn["request"] for turn in of(events, "turn.requested")] == [opening] * 2
    assert "opening" not in of(events, "step.entered")[1]


def test_several_calls_of_one_reply_run_at_once_where_the_workspace_allows(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("sleep", seconds=0.2), call("sleep", seconds=0.2), call("echo", a=1)]}, {"text": "Done."}]))
    assert result["status"] == "success"
    types = [type for type, step in told(events) if step.startswith("work[1]/sleep")]
    assert types == ["tool.requested", "tool.requested", "tool.finished", "tool.finished"]
    steps = server.steps(result["run_id"])
    assert steps["work[1]/echo"]["started_at"] == steps["work[1]/turn"]["ended_at"]
    calls = [step for type, step in told(events) if type in ("tool.finished", "step.computed")]
    assert sorted(calls) == ["work[1]/echo", "work[1]/sleep", "work[1]/sleep#2"]


def test_calls_that_write_take_turns_in_the_workspace(home, server):
    _, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("shell", command="echo a >> log"), call("shell", command="echo b >> log"), call("shell", command="cat log")]},
        {"turn": 2, "contains": "a\\nb\\n", "text": "Good."}, {"text": "Bad."}]))
    assert [step for type, step in told(events) if type == "tool.finished"] == ["work[1]/shell", "work[1]/shell#2", "work[1]/shell#3"]
    assert of(events, "run.finished")[0]["outputs"]["is"] == {"text": "Good."}


def test_calls_that_change_something_keep_the_order_of_the_reply(home, server):
    _, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("read_file", path="a"), call("echo", n=1), call("write_file", path="a", content="new"),
                              call("read_file", path="a"), call("echo", n=2)]},
        {"text": "Done."}]))
    ends = {step: n for n, (type, step) in enumerate(told(events)) if type in ("tool.finished", "step.computed")}
    begins = {step: n for n, (type, step) in enumerate(told(events)) if type == "tool.requested"}
    assert ends["work[1]/read_file"] < begins["work[1]/write_file"] and ends["work[1]/echo"] < begins["work[1]/write_file"]
    assert ends["work[1]/write_file"] < begins["work[1]/read_file#2"] and ends["work[1]/write_file"] < ends["work[1]/echo#2"]
    results = {data["step"]: data for data in of(events, "tool.finished")}
    assert results["work[1]/read_file"]["outcome"] == "failed" and results["work[1]/read_file#2"]["output"]["is"]["content"] == "new"


def test_a_failing_command_is_a_result_with_its_output(home, server):
    result, _ = ended(home, server, definition([
        {"turn": 1, "calls": [call("shell", command="echo FAILED test_x; exit 3")]},
        {"turn": 2, "contains": 'FAILED test_x', "text": "A test fails."}, {"text": "I saw nothing."}]))
    assert result["outputs"] == {"text": "A test fails."}


def test_the_model_is_told_of_the_error_and_of_the_log_of_a_call(home, server):
    result, _ = ended(home, server, definition([
        {"turn": 1, "calls": [call("shell", command="echo out; echo err >&2; exit 1", fail_on_status=True)]},
        {"turn": 2, "contains": "tool_failed: exit status 1", "calls": [call("echo", b=1)]},
        {"turn": 3, "text": "Good."}, {"text": "Bad."}]))
    assert result["outputs"] == {"text": "Good."}


@pytest.mark.parametrize("asked, answer", [
    (call("nothing", a=1), "there is no tool nothing; the tools are echo, shell"),
    ({"name": "echo", "arguments": "no object"}, "the arguments are not a JSON object"),
    (call("read_file", pth="x"), "/pth"),
    (call("read_file", path="../../etc/passwd"), ": "),
])
def test_a_call_that_cannot_be_made_is_answered_and_counts_as_a_turn(home, server, asked, answer):
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [asked]}, {"turn": 2, "contains": answer, "text": "I see."}, {"text": "I was told something else."}]))
    assert result["outputs"] == {"text": "I see."}, events
    assert len(of(events, "turn.requested")) == 2


def test_submit_ends_the_session_with_its_value(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "text": "Here it is.", "calls": [call("submit", result={"answer": 42})]}, {"text": "Too far."}],
        tools=("submit",)).replace('from: "${steps.work.outputs.text}"', 'from: "${steps.work.outputs.json.answer}"'))
    assert result["outputs"] == {"text": 42}
    assert len(of(events, "turn.requested")) == 1


HELPER = """
name: research
inputs: {topic: {type: string}, depth: {type: number, default: 1}}
agents:
  bob: {driver: script, tools: [echo], options: {replies: [
    {turn: 1, contains: "Find out about bees.", calls: [{name: echo, arguments: {n: 1}}]},
    {turn: 2, text: "Bees hum."}, {text: "What?"}]}}
steps:
  - name: find
    agent: bob
    inputs: {prompt: "Find out about ${inputs.topic}."}
outputs: {found: {from: "${steps.find.outputs.text}"}}
"""


def test_an_agent_delegates_to_a_workflow(home):
    server = home.serve()
    home.define(HELPER)
    home.define(definition([
        {"turn": 1, "calls": [call("research", topic="bees"), call("research", subject="bees")]},
        {"turn": 2, "contains": "topic", "text": "Done."}, {"text": "Bad."}], tools=("workflow:research",)))
    run = server.run_of("session")
    result, events = server.finish(run), server.events(run)
    assert result["outputs"] == {"text": "Done."}, events
    ends = {data["step"]: data for data in of(events, "subrun.finished")}
    assert ends["work[1]/research"]["output"]["is"] == {"found": "Bees hum."}
    assert ends["work[1]/research#2"]["outcome"] == "failed"
    child = of(events, "subrun.requested")[0]["effect"]
    assert server.result(child)["outputs"] == {"found": "Bees hum."} and len(of(server.events(child), "turn.finished")) == 2


def test_a_delegated_workflow_has_limits_of_its_own(home, server):
    """Three turns are one too many for the helper; the agent that called it takes four."""
    home.define(HELPER.replace("tools: [echo],", "tools: [echo], max_turns: 2,").replace(
        '{turn: 2, text: "Bees hum."}', '{turn: 2, calls: [{name: echo, arguments: {n: 2}}]}'))
    home.define(definition([
        {"turn": 1, "calls": [call("research", topic="bees")]}, {"turn": 2, "contains": "limit_reached", "calls": [call("echo", n=1)]},
        {"turn": 3, "calls": [call("echo", n=2)]}, {"turn": 4, "text": "Without bees."}, {"text": "Bad."}],
        tools=("workflow:research", "echo")))
    run = server.run_of("session")
    assert server.finish(run)["outputs"] == {"text": "Without bees."}, server.events(run)
    child = of(server.events(run), "subrun.requested")[0]["effect"]
    assert len(of(server.events(child), "turn.requested")) == 2 and len(of(server.events(run), "turn.requested")) == 4


# ---- notes ---------------------------------------------------------------------------------------


SCHEMA = "schema: {type: object, required: [files], properties: {files: {type: array, items: {type: string}}}}"


def test_a_reply_that_does_not_fit_its_schema_is_sent_back_with_the_place(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "text": "Sure!"},
        {"turn": 2, "contains": "not JSON", "json": {"files": [1]}},
        {"turn": 3, "contains": "At /files/0", "json": {"files": ["a"]}}], tools=(), more=SCHEMA))
    assert result["status"] == "success", events
    notes = [entered.get("note", "") for entered in of(events, "step.entered")]
    assert notes[0] == "" and "not JSON" in notes[1] and "/files/0" in notes[2]
    assert [entered.get("corrections") for entered in of(events, "step.entered")] == [None, 1, 2]


DAY = "schema: {type: object, properties: {day: {type: string, format: %s}}}"


@pytest.mark.parametrize("more, turns", [("", 1), ("format_assertion: false", 1), ("format_assertion: true", 2)])
def test_formats_of_a_schema_are_checked_on_request(home, server, more, turns):
    replies = [{"turn": 1, "json": {"day": "tomorrow"}}, {"turn": 2, "contains": "does not have the format date", "json": {"day": "2026-11-18"}}]
    result, events = ended(home, server, definition(replies, tools=(), more=DAY % "date" + "\n    " + more))
    assert result["status"] == "success", events
    assert len(of(events, "turn.requested")) == turns


def test_a_format_that_is_not_known_is_an_error_of_a_file_that_asserts_formats(home):
    file = pathlib.Path(home.path, "wrong.yaml")
    for more, wrong in (("", False), ("\n    format_assertion: true", True)):
        file.write_text(definition([{"text": "x"}], tools=(), more=DAY % "zodiac" + more))
        code, out, err = home.cli("check", str(file))
        assert (code != 0) == wrong and ("/properties/day/format" in out + err) == wrong, out + err


def test_a_reply_that_never_fits_fails_the_step(home, server):
    result, events = ended(home, server, definition([{"text": "Sure!"}], tools=(), more=SCHEMA))
    assert result["status"] == "failed"
    fault = of(events, "step.left")[0]["fault"]
    assert fault["code"] == "invalid" and "after 3 corrections" in fault["text"] and "not JSON" in fault["text"]
    assert len(of(events, "turn.requested")) == 4


def test_a_required_tool_must_have_succeeded_before_the_end(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "text": "Done!"},
        {"turn": 2, "contains": "call write_file successfully", "calls": [call("write_file", path="/etc/x", content="")]},
        {"turn": 3, "contains": "/etc/x", "text": "Done, really!"},
        {"turn": 4, "contains": "call write_file successfully", "calls": [call("write_file", path="x", content="")]},
        {"turn": 5, "text": "Now it is done."}], more="required_tools: [write_file]"))
    assert result["outputs"] == {"text": "Now it is done."}, events


def test_what_was_submitted_must_be_complete_too(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("submit", result={"files": [1]})]},
        {"turn": 2, "contains": "call echo successfully", "calls": [call("echo", a=1), call("submit", result={"files": [1]})]},
        {"turn": 3, "contains": "At /files/0", "calls": [call("submit", result={"files": ["a"]})]},
        {"text": "Too far."}], tools=("submit", "echo"), more="required_tools: [echo]\n    " + SCHEMA).replace(
            'from: "${steps.work.outputs.text}"', 'from: "${steps.work.outputs.json.files}"'))
    assert result["outputs"] == {"text": ["a"]}, events
    assert [entered.get("corrections") for entered in of(events, "step.entered")] == [None, 1, 2]


# ---- people ----------------------------------------------------------------------------------------


def asked(server, run):
    wait_until(lambda: [one for one in server.inbox() if one["run_id"] == run])
    return next(one for one in server.inbox() if one["run_id"] == run)


RISKY = [{"turn": 1, "calls": [call("shell", command="echo risky"), call("echo", b=1)]},
         {"turn": 2, "contains": '"b":1', "text": "Done."}, {"text": "Bad."}]


def test_a_risky_call_needs_approval(home, server):
    run = server.run_of(home.define(definition(RISKY, more="approve: [shell]")))
    question = asked(server, run)
    assert question["question"] == "May the agent of step work call shell?" and question["kind"] == "approval"
    assert question["inputs"] == {"command": "echo risky"}
    assert not of(server.events(run), "tool.requested")
    server.respond(question["id"])
    assert server.finish(run)["outputs"] == {"text": "Done."}
    assert [data["step"] for data in of(server.events(run), "tool.requested")] == ["work[1]/shell"]
    assert of(server.events(run), "turn.finished")[0]["calls"] == [{"name": "shell", "approve": True}, {"name": "echo"}]


def test_a_person_may_edit_a_call(home, server):
    run = server.run_of(home.define(definition([
        {"turn": 1, "calls": [call("shell", command="echo risky")]},
        {"turn": 2, "contains": '"stdout":"edited\\n"', "text": "Good."}, {"text": "Bad."}], more="approve_risk: medium")))
    question = asked(server, run)
    assert server.respond(question["id"], "modify", value=3).status == 400
    server.respond(question["id"], "modify", value={"command": "echo edited"})
    assert server.finish(run)["outputs"] == {"text": "Good."}
    assert of(server.events(run), "tool.requested")[0]["inputs"]["is"]["command"] == "echo edited"
    (told_call,) = server.get(f"/api/runs/{run}/conversation").body["talks"][0]["turns"][0]["calls"]
    assert told_call["arguments"] == {"command": "echo edited"} and told_call["result"] == "edited\n"


def test_a_rejected_call_is_a_result(home):
    server = home.serve()
    run = server.run_of(home.define(definition([
        {"turn": 1, "calls": [call("shell", command="rm -rf /")]},
        {"turn": 2, "contains": "rejected: ", "text": "I will not."}, {"text": "Bad."}], more="approve: [shell]")))
    question = asked(server, run)
    server.kill()
    server = home.serve()
    assert asked(server, run)["question"] == question["question"]
    server.respond(question["id"], "reject", comment="never")
    assert server.finish(run)["outputs"] == {"text": "I will not."}
    assert not of(server.events(run), "tool.requested")
    (told_call,) = server.get(f"/api/runs/{run}/conversation").body["talks"][0]["turns"][0]["calls"]
    assert told_call["state"] == "failed" and told_call["error"] == "rejected by http"


def test_an_agent_asks_a_person(home, server):
    run = server.run_of(home.define(definition([
        {"turn": 1, "calls": [call("ask_human", question="Which color?")]},
        {"turn": 2, "contains": "blue", "text": "Blue it is."}, {"text": "Bad."}], tools=("ask_human",))))
    question = asked(server, run)
    assert question["question"] == "Which color?" and question["kind"] == "feedback"
    server.respond(question["id"], "approve", comment="blue")
    assert server.finish(run)["outputs"] == {"text": "Blue it is."}


def test_a_tool_beyond_the_risk_of_an_agent_is_an_error_of_the_definition(home):
    file = pathlib.Path(home.path, "wrong.yaml")
    file.write_text(definition([{"text": "x"}], tools=("http_send",), more="max_risk: medium"))
    code, out, err = home.cli("check", str(file))
    assert code != 0 and "the risk of tool http_send is high, and agent dev may have tools up to max_risk medium only" in out + err, out + err


# ---- text and length -------------------------------------------------------------------------------


def test_calls_in_the_text_of_a_reply_are_made(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "text": 'I look.\nTOOL_CALL: {"name": "echo", "arguments": {"a": "}"}}'},
        {"turn": 2, "contains": '{"a":"}"}', "text": "TOOL_CALL: {broken"},
        {"turn": 3, "contains": "there is no tool", "text": "Good."}, {"text": "Bad."}]))
    assert result["outputs"] == {"text": "Good."}, events
    assert of(events, "turn.finished")[0]["output"]["is"]["text"] == "I look."


def test_a_transcript_that_fills_the_context_window_loses_its_oldest_turns(home, server):
    usage = {"input_tokens": 99900, "output_tokens": 60}
    replies = [{"turn": n, "calls": [call("echo", n=n)]} for n in (1, 2, 3)]
    replies += [{"turn": 4, "calls": [call("echo", n=4)], "usage": usage}]
    # Two of four turns are left, so this is the third reply that the model sees.
    replies = [{"step": "work[5]/turn", "turn": 3, "text": "Short."}] + replies + [{"text": "Long."}]
    result, events = ended(home, server, definition(replies, more="context_tokens: 100000\n    max_tokens: 50"))
    assert result["outputs"] == {"text": "Short."}, events
    assert [entered.get("kept_from") for entered in of(events, "step.entered")] == [None, None, None, None, 3]
    texts = [row["text"] for row in result["warnings"]]
    assert any("80 percent or more of the context window of 100000 tokens" in text for text in texts)
    assert any("the oldest turns were left out" in text for text in texts)


# ---- limits --------------------------------------------------------------------------------------


def test_an_agent_that_never_ends_reaches_its_limit_of_turns(home, server):
    replies = [{"turn": n, "calls": [call("echo", n=n)]} for n in range(1, 30)]
    result, events = ended(home, server, definition(replies))
    fault = of(events, "step.left")[0]["fault"]
    assert fault["code"] == "limit_reached" and "agent dev has taken 10 turns and is not done" in fault["text"]
    assert len(of(events, "turn.requested")) == 10
    _, events = ended(home, server, definition(replies, more="max_turns: 3"))
    assert len(of(events, "turn.requested")) == 3


def test_an_agent_that_goes_round_in_circles_is_stopped(home, server):
    result, events = ended(home, server, definition([{"calls": [call("echo", a=1)]}]))
    fault = of(events, "step.left")[0]["fault"]
    assert fault["code"] == "limit_reached" and "stuck: 5 turns in a row" in fault["text"]
    notes = [entered.get("note", "") for entered in of(events, "step.entered")]
    assert len(notes) == 5 and [bool(note) for note in notes] == [False, False, False, True, True]


def test_another_result_is_no_circle(home, server):
    result, events = ended(home, server, definition([
        {"turn": 7, "text": "Done."}, {"calls": [call("shell", command="echo x >> log; wc -l < log")]}]))
    assert result["outputs"] == {"text": "Done."}


def test_the_timeout_of_the_step_covers_all_turns(home, server):
    result, events = ended(home, server, definition([{"turn": 1, "calls": [call("sleep", seconds=600)]}, {"text": "Done."}],
                                                    step="timeout: 0.5"))
    assert of(events, "tool.finished")[0]["fault"]["code"] == "timeout"
    assert of(events, "step.left")[0]["fault"]["code"] == "timeout"
    assert len(of(events, "turn.requested")) == 1


def test_a_refusal_and_a_cut_reply_are_no_results(home, server):
    result, events = ended(home, server, definition([{"fail": {"code": "forbidden", "text": "no"}}]))
    assert of(events, "step.left")[0]["fault"] == {"code": "forbidden", "text": "turn 1: no"}


@pytest.mark.parametrize("broken, says", [
    ("tools: [nothing]", "agent dev has the tool nothing, which does not exist"),
    ("required_tools: [sleep]", "agent dev requires the tool sleep, which is not among its tools"),
    ("tools: ['workflow:a.b']", "agent dev cannot have the workflow a.b as a tool"),
    ("tools: ['workflow:none']", "none"),
    ("schema: {type: object, properties: {a: {type: strng}}}", "/agents/dev/schema/properties/a/type"),
])
def test_a_wrong_tool_is_an_error_of_the_definition(home, broken, says):
    yaml = definition([{"text": "x"}], tools=("echo",))
    yaml = yaml.replace('tools: ["echo"]', broken) if broken.startswith("tools") else yaml.replace("tools: [", broken + "\n    tools: [")
    file = pathlib.Path(home.path, "wrong.yaml")
    file.write_text(yaml)
    code, out, err = home.cli("check", str(file))
    assert code != 0 and says in out + err, out + err


# ---- cost of a turn --------------------------------------------------------------------------------


def test_a_late_turn_stores_as_much_as_an_early_one(home, server):
    turns = 120
    replies = [{"turn": n, "calls": [call("echo", n="%03d" % n, text="x" * 600)]} for n in range(1, turns)] + [{"text": "Done."}]
    result, events = ended(home, server, definition(replies, more=f"max_turns: {turns}"))
    assert result["status"] == "success"
    sizes = {}
    for event in events:
        step = event["data"].get("step", "")
        if step.startswith("work["):
            turn = int(step[5:step.index("]")])
            sizes[turn] = sizes.get(turn, 0) + len(json.dumps(event["data"]))
    assert sizes[turns - 2] <= 1.1 * sizes[5], sizes


# ---- crashes, retries, commands ----------------------------------------------------------------------


GATED = [{"turn": 1, "calls": [call("shell", command="echo one >> log; echo up > told; read -r word < gate; echo $word >> log; cat log")]},
         {"turn": 2, "contains": "one\\nthree\\n", "text": "Good."}, {"text": "Bad."}]


def begin_gated(home, server):
    run = new_id()
    signs, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(definition(GATED))
    assert server.start("session", run_id=run).status == 202
    assert signs.await_line() == "up"
    return run, signs, gate


def test_a_call_that_was_open_in_a_crash_is_repeated_in_the_restored_workspace(home):
    server = home.serve()
    run, signs, gate = begin_gated(home, server)
    for _ in range(2):
        server.kill()
        server = home.serve()
        assert signs.await_line() == "up"
    gate.send("three\n")
    assert server.finish(run)["outputs"] == {"text": "Good."}
    events = server.events(run)
    assert [data["attempt"] for data in of(events, "tool.restarted")] == [2, 3]
    assert len(of(events, "turn.requested")) == 2


def test_a_turn_that_was_open_in_a_crash_is_asked_again_with_the_same_transcript(home):
    server = home.serve()
    home.define(definition([
        {"turn": 1, "calls": [call("shell", command="echo seven >> log; cat log")]},
        {"turn": 2, "attempt": 1, "hang": True},
        {"turn": 2, "attempt": 2, "contains": '"stdout":"seven\\n"', "text": "Good."}, {"text": "Bad."}]))
    run = server.run_of("session")
    server.follow(run, until="tool.finished")
    wait_until(lambda: server.figures()["baton_turns_open"] == 1)
    server.kill()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"text": "Good."}
    events = server.events(run)
    assert len(of(events, "tool.requested")) == 1 and len(of(events, "tool.restarted")) == 1


def history(server, run):
    return [(path, step["state"], step.get("error"), step.get("started_at"), step.get("ended_at")) for path, step in server.steps(run).items()]


def test_a_compacted_session_tells_the_same_history_and_goes_on(home):
    server = home.serve()
    home.define(definition([
        {"turn": 1, "calls": [call("echo", id="a", text="x" * 700), call("nothing"), call("echo", b=2)]},
        {"turn": 2, "contains": '"b":2', "text": "Done?"},
        {"step": "work[3]/turn", "fail": {"code": "unavailable"}},
        {"turn": 3, "contains": "call write_file", "calls": [call("write_file", path="x", content="y")]},
        {"turn": 4, "text": "Done."}, {"text": "Bad."}], more="required_tools: [write_file]"))
    run = server.run_of("session")
    assert server.finish(run)["status"] == "failed"
    before = history(server, run)
    assert json.loads(home.cli("db", "compact", "--now", "--json")[1])["compacted"] == 1
    assert history(server, run) == before
    server.kill()
    server = home.serve()
    assert history(server, run) == before
    assert home.cli("retry", run)[0] == 0
    wait_until(lambda: server.result(run)["status"] == "success")
    assert server.result(run)["outputs"] == {"text": "Done."}


def test_a_failed_turn_is_retried_from_that_turn(home, server):
    home.define(definition([
        {"turn": 1, "calls": [call("shell", command="echo x >> log; cat log")]},
        {"step": "work[2]/turn", "fail": {"code": "unauthenticated", "text": "no key"}},
        {"step": "work[2]/turn#2", "contains": '"stdout":"x\\n"', "text": "Good."}, {"text": "Bad."}]))
    run = server.run_of("session")
    assert server.finish(run)["status"] == "failed"
    assert of(server.events(run), "run.finished")[0]["fault"]["code"] == "unauthenticated"
    code, _, err = home.cli("retry", run)
    assert code == 0, err
    wait_until(lambda: server.result(run)["status"] == "success")
    events = server.events(run)
    assert len(of(events, "tool.requested")) == 1
    assert [data["step"] for data in of(events, "turn.requested")] == ["work[1]/turn", "work[2]/turn", "work[2]/turn#2"]
    assert {path: step["state"] for path, step in server.steps(run).items()} == {
        "work": "succeeded", "work[1]/turn": "succeeded", "work[1]/shell": "succeeded", "work[2]/turn": "failed", "work[2]/turn#2": "succeeded"}
    assert server.result(run)["outputs"] == {"text": "Good."}


def test_transient_failures_of_a_turn_are_retried_by_policy(home, server):
    result, events = ended(home, server, definition([
        {"turn": 1, "calls": [call("echo", a=1)]},
        {"turn": 2, "attempt": 1, "fail": {"code": "overloaded"}}, {"text": "Good."}],
        step="retry: {max_retries: 2, base_delay: 0.01}"))
    assert result["outputs"] == {"text": "Good."}
    assert [data.get("attempt", 1) for data in of(events, "turn.requested")] == [1, 1, 2]


def test_cancelling_stops_the_call_and_ends_the_session(home, server):
    run, signs, gate = begin_gated(home, server)
    assert server.tell(run, "cancel").status == 200
    assert server.finish(run)["status"] == "failed"
    events = server.events(run)
    assert of(events, "run.finished")[0]["outcome"] == "cancelled"
    assert of(events, "tool.finished")[0]["outcome"] == "cancelled" and len(of(events, "turn.requested")) == 1
    assert server.steps(run)["work"]["state"] == "cancelled"


def test_pausing_holds_the_next_turn_until_the_run_is_resumed(home, server):
    run, signs, gate = begin_gated(home, server)
    assert server.tell(run, "pause").status == 200
    gate.send("three\n")
    server.follow(run, until="tool.finished")
    assert len(of(server.events(run), "turn.requested")) == 1
    assert server.tell(run, "resume").status == 200
    assert server.finish(run)["outputs"] == {"text": "Good."}
