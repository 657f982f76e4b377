"""People: verdicts on a run, values that are changed, four eyes, questions nobody answers, outcomes nobody knows, and
runs that wait for a person without costing anything."""
import json
import os

import pytest
from baton import EXIT, new_id, wait_until

OFF = {"BATON_TOOLS_ISOLATION": "off"}
EDITED = """
name: edited
steps:
  - {name: draft, tool: echo, inputs: {title: First}}
  - name: ask
    depends_on: [draft]
    human: {question: "Publish?", kind: feedback}
    inputs: {title: "${steps.draft.outputs.title}"}
  - name: publish
    tool: echo
    depends_on: [ask]
    inputs: {decision: "${steps.ask.outputs.decision}", said: "${steps.ask.outputs.comment}", value: "${steps.ask.outputs.value}"}
outputs:
  all: {from: "${steps.publish.outputs}", optional: true}
"""
TWO = """
name: two
steps:
  - {name: one, human: {question: "One?"}}
  - {name: other, human: {question: "Other?"}}
"""
SECRETIVE = """
name: secretive
steps:
  - {name: ask, human: {question: "Pay?", four_eyes: true}}
"""


def levels(timeout, *escalate):
    text = "".join(f"\n        - {{to: {to}, timeout: {seconds}}}" if seconds else f"\n        - {{to: {to}}}"
                   for to, seconds in escalate)
    return f"""
name: late
steps:
  - name: ask
    human:
      question: "Anybody?"
      timeout: {timeout}
      escalate:{text or ' []'}
  - {{name: after, tool: echo, depends_on: [ask]}}
"""


def asked(home, server, definition, name):
    home.define(definition)
    run = server.run_of(name)
    return run, server.until(run, "human.requested")["data"]


def told(server, run, type):
    return [event["data"] for event in server.events(run) if event["type"] == type]


# ---- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict, status", [("approve", "success"), ("reject", "failed")])
def test_a_verdict_on_the_run(home, server, verdict, status):
    run, question = asked(home, server, EDITED, "edited")
    answer = server.tell(run, verdict, comment="so", by="ann", revision=question["revision"])
    assert (answer.status, answer.body) == (200, {"id": question["effect"], "run_id": run, "decision": verdict})
    assert server.finish(run)["status"] == status
    [said] = told(server, run, "human.finished")
    assert (said["decision"], said["comment"], said["by"]) == (verdict, "so", "ann")
    assert server.tell(run, verdict).status == 409


def test_a_verdict_needs_no_words(home, server):
    run, _ = asked(home, server, EDITED, "edited")
    assert server.request("POST", f"/api/runs/{run}/approve").status == 200
    assert server.finish(run)["status"] == "success"


def test_a_verdict_on_another_revision(home, server):
    run, _ = asked(home, server, EDITED, "edited")
    assert server.tell(run, "approve", revision="0" * 64).status == 409
    assert server.tell(run, "reject", revision="0" * 64).status == 409
    assert "human.finished" not in server.types(run)


def test_a_run_with_two_questions_says_which(home, server):
    home.define(TWO)
    run = server.run_of("two")
    wait_until(lambda: len(server.inbox()) == 2)
    assert server.tell(run, "approve").status == 409
    status, _, errors = home.cli("approve", run)
    assert status == EXIT["usage"] and "more than one open request" in errors
    requests = {item["step"]: item["id"] for item in server.inbox()}
    assert server.tell(run, "approve", request=requests["one"]).status == 200
    status, output, errors = home.cli("reject", run)  # now it has one
    assert status == 0 and "Other?" in errors and json.loads(output)["id"] == requests["other"]
    assert server.finish(run)["status"] == "failed"
    assert server.steps(run)["one"]["state"] == "succeeded"


@pytest.mark.parametrize("action, status", [("approve", "success"), ("reject", "failed")])
def test_feedback_in_the_words_of_a_graph(home, server, action, status):
    run, question = asked(home, server, EDITED, "edited")
    answer = server.tell(run, "feedback", action=action, message="fine")
    assert (answer.status, answer.body["decision"]) == (200, action)
    assert server.finish(run)["status"] == status
    assert told(server, run, "human.finished")[0]["comment"] == "fine"
    assert server.tell(run, "feedback", action=action).status == 409


def test_feedback_that_changes_the_state(home, server):
    run, _ = asked(home, server, EDITED, "edited")
    assert server.tell(run, "feedback", action="modify").status == 422
    assert server.tell(run, "feedback", action="perhaps").status == 422
    answer = server.tell(run, "feedback", action="modify", message="better", state_updates={"title": "Second"})
    assert (answer.status, answer.body["decision"]) == (200, "modify")
    assert server.finish(run)["outputs"]["all"] == {
        "decision": "modify", "said": "better", "value": {"title": "Second"}}


@pytest.mark.parametrize("from_file", [False, True])
def test_modified_from_the_command_line(home, server, from_file):
    run, question = asked(home, server, EDITED, "edited")
    value = '{"title": "Third"}'
    if from_file:
        with open(os.path.join(home.path, "value.json"), "w") as file:
            file.write(value)
    status, output, errors = home.cli("modify", question["effect"], "-m", "mine",
                                      "--value", f"@{home.path}/value.json" if from_file else value)
    assert status == 0 and "Publish?" in errors
    assert json.loads(output) == {"id": question["effect"], "run_id": run, "decision": "modify"}
    assert server.finish(run)["outputs"]["all"]["value"] == {"title": "Third"}
    assert home.cli("modify", question["effect"], "--value", value)[0] == EXIT["conflict"]


def test_modify_says_what_it_needs(home, server):
    _, question = asked(home, server, EDITED, "edited")
    for words, text in ((["modify", question["effect"]], "--value"),
                        (["modify", question["effect"], "--value", "{"], "--value must be JSON"),
                        (["settle", question["effect"], "perhaps"], "happened, not_happened, retry"),
                        (["settle", question["effect"], "retry", "--value", "1"], "--value is allowed only with happened")):
        status, output, errors = home.cli(*words)
        assert (status, output) == (EXIT["usage"], "") and text in errors
    assert home.cli("settle", question["effect"], "happened")[0] == EXIT["usage"]  # nothing is unknown here
    assert server.respond(question["effect"], "modify").status == 400
    assert len(server.inbox()) == 1


def test_a_modified_answer_survives_a_kill(home):
    server = home.serve()
    run, question = asked(home, server, EDITED, "edited")
    assert server.respond(question["effect"], "modify", value={"title": "Kept"}).status == 200
    server.kill()
    assert home.serve().finish(run)["outputs"]["all"]["value"] == {"title": "Kept"}


# ---- four eyes -----------------------------------------------------------------------------------


def test_whoever_started_it_may_not_answer(home):
    server = home.serve("--require-key")
    keys = {name: {"Authorization": "Bearer " + home.cli("key", "create", name, "--role", "operator")[1].strip()}
            for name in ("ann", "bob")}
    home.define(SECRETIVE)
    run = server.request("POST", "/api/run", {"workflow": "secretive", "inputs": {}}, keys["ann"]).body["run_id"]
    wait_until(lambda: len(home.local("GET", "/api/inbox").body["items"]) == 1)
    [item] = home.local("GET", "/api/inbox").body["items"]
    assert item["four_eyes"] is True
    assert home.cli("inbox")[1].splitlines()[0].endswith("  four eyes")
    # A key says who its bearer is: another name does not help.
    for body in ({}, {"by": "bob"}):
        for target in (f"/api/inbox/{item['id']}/respond", f"/api/runs/{run}/approve"):
            body_of = {"decision": "approve", **body} if "inbox" in target else body
            answer = server.request("POST", target, body_of, keys["ann"])
            assert (answer.status, answer.body["code"]) == (403, "forbidden"), answer
    assert server.tell(run, "feedback", keys["ann"], action="approve").status == 403
    assert server.tell(run, "approve", keys["bob"], by="carol").status == 200
    wait_until(lambda: home.local("GET", f"/api/runs/{run}").body["status"] == "success")
    [said] = [event["data"] for event in home.local("GET", f"/api/runs/{run}/events").body["items"]
              if event["type"] == "human.finished"]
    assert said["by"] == "bob"


def test_four_eyes_are_two_people_on_the_command_line_too(home, server):
    home.define(SECRETIVE)
    begun = home.begin("run", "secretive")
    wait_until(lambda: len(server.inbox()) == 1)
    item = server.inbox()[0]
    status, output, errors = home.cli("approve", item["id"])
    assert (status, output) == (6, "") and "[forbidden]" in errors
    assert server.respond(item["id"], by="somebody else").status == 200
    assert begun.wait() == 0


# ---- nobody answers ------------------------------------------------------------------------------


def test_a_question_nobody_answers_fails_in_time(home, server):
    home.define(levels(0.2))
    run = server.run_of("late")
    result = server.finish(run)
    assert result["status"] == "failed"
    assert [step["status"] for step in result["steps"]] == ["failed", "skipped"]
    assert "timeout" in result["error"]
    assert [said["decision"] for said in told(server, run, "human.finished")] == ["timeout"]
    assert server.inbox() == []


def test_it_goes_from_level_to_level_and_then_fails(home, server):
    home.define(levels(0.1, ("lead", 0.1), ("boss", 0.1)))
    run = server.run_of("late")
    assert server.finish(run)["status"] == "failed"
    assert [(data["level"], data["to"]) for data in told(server, run, "human.escalated")] == [(1, "lead"), (2, "boss")]
    assert [said["decision"] for said in told(server, run, "human.finished")] == ["timeout"]


def test_whoever_has_it_now_can_answer(home, server):
    home.define(levels(0.1, ("lead", 0.1), ("boss", None)))
    run = server.run_of("late")
    wait_until(lambda: [item.get("to") for item in server.inbox()] == ["boss"])
    [item] = server.inbox()
    assert "due_at" not in item
    assert "  for boss" in home.cli("inbox")[1]
    assert "asks (approval), now boss" in home.cli("show", run)[1]
    assert server.steps(run)["ask"]["to"] == "boss"
    assert server.respond(item["id"], revision=item["revision"]).status == 200
    assert server.finish(run)["status"] == "success"


def test_its_time_goes_on_while_nobody_serves(home):
    server = home.serve()
    home.define(levels(0.5, ("lead", None)))
    run = server.run_of("late")
    due = server.until(run, "human.requested")["data"]["due_at"]
    assert server.inbox()[0]["due_at"] == due
    assert f"  due {due}" in home.cli("inbox")[1]
    server.kill()
    server = home.serve()
    assert server.until(run, "human.escalated")["data"]["to"] == "lead"
    assert server.respond(server.inbox()[0]["id"]).status == 200
    assert server.finish(run)["status"] == "success"


# ---- outcomes nobody knows -----------------------------------------------------------------------


UNKNOWN = """
name: unknown
inputs: {log: {type: string}}
steps:
  - name: pay
    tool: shell
    inputs: {command: "echo once >> ${inputs.log}; echo up > told; read -r w < gate; echo $w"}
  - {name: after, tool: echo, depends_on: [pay], inputs: {said: "${steps.pay.outputs.stdout}"}}
outputs: {said: {from: "${steps.after.outputs.said}", optional: true}}
"""


def unknown(home):
    """A call that was cut off by kill -9 and that must not be repeated: (server, run, gate, calls made, question)."""
    server = home.serve(**OFF)
    home.define(UNKNOWN)
    run, log = new_id(), os.path.join(home.path, "log")
    up, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("unknown", {"log": log}, run_id=run).status == 202
    up.await_line()
    server.kill()
    server = home.serve(**OFF)
    question = server.until(run, "human.requested")["data"]
    assert (question["kind"], question["step"]) == ("outcome_unknown", "pay")
    assert server.result(run)["metadata"]["state"] == "waiting_human"
    assert server.steps(run)["pay"]["asks"] == "outcome_unknown"
    assert f"baton settle {question['effect']}" in home.cli("show", run)[1]
    return server, run, gate, lambda: open(log).read().count("once"), question["effect"]


@pytest.fixture(params=["http", "cli"])
def settle(request, home):
    def by_http(server, question, decision, value=None):
        body = {} if value is None else {"value": value}
        assert server.respond(question, decision, **body).status == 200

    def by_cli(server, question, decision, value=None):
        words = [] if value is None else ["--value", json.dumps(value)]
        status, output, errors = home.cli("settle", question, decision, *words)
        assert status == 0, errors
        assert json.loads(output)["decision"] == decision
    return by_http if request.param == "http" else by_cli


def test_it_happened(home, settle):
    server, run, _, calls, question = unknown(home)
    settle(server, question, "happened", {"exit_code": 0, "stdout": "by hand\n", "stderr": ""})
    result = server.finish(run)
    assert (result["status"], result["outputs"]) == ("success", {"said": "by hand\n"})
    assert calls() == 1 and "tool.restarted" not in server.types(run)


def test_it_did_not_happen(home, settle):
    server, run, _, calls, question = unknown(home)
    settle(server, question, "not_happened")
    result = server.finish(run)
    assert [step["status"] for step in result["steps"]] == ["failed", "skipped"]
    assert "tool_failed" in result["error"]
    assert calls() == 1


def test_it_is_asked_for_again(home, settle):
    server, run, gate, calls, question = unknown(home)
    settle(server, question, "retry")
    gate.send("again\n")
    assert server.finish(run)["outputs"] == {"said": "again\n"}
    assert calls() == 2
    assert server.respond(question, "retry").status == 409


def test_words_that_do_not_fit_an_unknown_outcome(home):
    server, run, _, calls, question = unknown(home)
    for decision in ("approve", "reject", "modify"):
        answer = server.respond(question, decision, value={})
        assert (answer.status, answer.body["code"]) == (400, "usage"), answer
    status, _, errors = home.cli("approve", run)
    assert status == EXIT["usage"], errors
    server.kill()
    server = home.serve(**OFF)  # the question is not asked twice
    assert [item["id"] for item in server.inbox()] == [question]
    assert server.respond(question, "happened").status == 200
    server.finish(run)
    assert calls() == 1


def test_an_unknown_outcome_can_be_cancelled(home):
    server, run, _, calls, _ = unknown(home)
    assert server.tell(run, "cancel").status == 200
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    assert server.inbox() == [] and calls() == 1


# ---- many wait -----------------------------------------------------------------------------------


def test_runs_that_wait_for_a_person_are_not_in_memory(home):
    server = home.serve()
    home.define(EDITED)
    runs = {server.run_of("edited") for _ in range(200)}
    wait_until(lambda: server.figures()["baton_runs_live"] == 0)
    server.kill()
    server = home.serve()
    wait_until(lambda: server.figures()["baton_runs_live"] == 0)
    items = server.get("/api/inbox?limit=1000").body["items"]
    assert {item["run_id"] for item in items} == runs
    assert home.cli("inbox")[1].count("Publish?") == 200
    for item in items:
        assert server.respond(item["id"], revision=item["revision"]).status == 200
    for run in runs:
        assert server.finish(run)["status"] == "success"
    wait_until(lambda: server.figures()["baton_runs_live"] == 0)
    assert server.inbox() == []
