"""Questions: asked, shown in the inbox, answered once, by HTTP or from the command line."""
import json

import pytest
from baton import EXIT, new_id

ASKS = """
name: asks
inputs:
  what: {type: string, default: this}
steps:
  - {name: draft, tool: echo, inputs: {text: "about ${inputs.what}"}}
  - name: ask
    depends_on: [draft]
    human: {question: "Publish ${inputs.what}?"}
    inputs: {draft: "${steps.draft.outputs.text}"}
  - name: publish
    tool: shell
    depends_on: [ask]
    inputs:
      command: "echo ${steps.ask.outputs.decision} by ${steps.ask.outputs.by}: ${steps.ask.outputs.comment}"
  - {name: after, tool: echo, depends_on: [publish]}
outputs:
  said: {from: "${steps.publish.outputs.stdout}", optional: true}
"""


def ask(home, server, what="this"):
    home.define(ASKS)
    run = server.run_of("asks", {"what": what})
    return run, server.until(run, "human.requested")["data"]


def test_the_inbox_shows_what_is_asked(home, server):
    run, asked = ask(home, server)
    page = server.get("/api/inbox").body
    assert page["cursor"] is None
    [item] = page["items"]
    assert set(item) == {"id", "run_id", "step", "kind", "question", "inputs", "revision", "asked_at"}
    assert (item["id"], item["run_id"], item["step"]) == (asked["effect"], run, "ask")
    assert (item["question"], item["inputs"]) == ("Publish this?", {"draft": "about this"})
    assert item["revision"] == asked["revision"]


def test_approved_over_http(home, server):
    run, asked = ask(home, server)
    answer = server.respond(asked["effect"], comment="fine", by="somebody")
    assert answer.status == 200
    assert answer.body == {"id": asked["effect"], "run_id": run, "decision": "approve"}
    assert server.finish(run)["outputs"] == {"said": "approve by somebody: fine\n"}
    assert server.inbox() == []


def test_rejected_over_http(home, server):
    run, asked = ask(home, server)
    assert server.respond(asked["effect"], "reject", comment="no").status == 200
    result = server.finish(run)
    assert result["status"] == "failed"
    assert [step["status"] for step in result["steps"]] == ["success", "failed", "skipped", "skipped"]
    assert "tool.requested" not in server.types(run)


def test_approved_from_the_command_line_as_a_client(home, server):
    run, asked = ask(home, server)
    status, output, errors = home.cli("approve", asked["effect"], "-m", "go on")
    assert status == 0, errors
    assert json.loads(output) == {"id": asked["effect"], "run_id": run, "decision": "approve"}
    assert "Publish this?" in errors
    said = server.finish(run)["outputs"]["said"]
    assert said.startswith("approve by ") and said.endswith(": go on\n")


def test_rejected_from_the_command_line_as_a_client(home, server):
    run, asked = ask(home, server)
    assert home.cli("reject", asked["effect"])[0] == 0
    assert server.finish(run)["status"] == "failed"


def test_approved_without_a_server(home):
    server = home.serve()
    run, asked = ask(home, server)
    server.kill()
    status, output, errors = home.cli("approve", asked["effect"], "--follow", "-m", "alone")
    assert status == 0, errors
    assert output.splitlines()[-1].endswith(': alone\\n"}')
    assert home.serve().result(run)["status"] == "success"


def test_the_inbox_on_the_command_line(home, server):
    run, asked = ask(home, server)
    status, output, _ = home.cli("inbox")
    assert status == 0
    assert asked["effect"] in output and run in output and "Publish this?" in output


@pytest.mark.parametrize("second", ["approve", "reject"])
def test_a_second_answer_is_a_conflict(home, server, second):
    run, asked = ask(home, server)
    assert server.respond(asked["effect"]).status == 200
    answer = server.respond(asked["effect"], second)
    assert (answer.status, answer.body["code"]) == (409, "conflict")
    status, _, errors = home.cli(second, asked["effect"])
    assert status == EXIT["conflict"], errors
    server.finish(run)
    decisions = [e["data"]["decision"] for e in server.events(run) if e["type"] == "human.finished"]
    assert decisions == ["approve"]


def test_an_answer_to_another_revision_is_a_conflict(home, server):
    run, asked = ask(home, server)
    answer = server.respond(asked["effect"], revision="0" * 64)
    assert (answer.status, answer.body["code"]) == (409, "conflict")
    assert "human.finished" not in server.types(run)
    assert server.respond(asked["effect"], revision=asked["revision"]).status == 200


def test_other_questions_have_other_revisions(home, server):
    _, first = ask(home, server, "this")
    _, second = ask(home, server, "that")
    assert first["revision"] != second["revision"]
    assert first["effect"] != second["effect"]


def test_an_answer_to_nobody(server):
    assert server.respond(new_id()).status == 409


@pytest.mark.parametrize("body", [{}, {"decision": "maybe"}, {"decision": "approve", "more": 1},
                                  {"decision": "approve", "comment": "x" * 8193}])
def test_bad_answers(home, server, body):
    run, asked = ask(home, server)
    answer = server.request("POST", f"/api/inbox/{asked['effect']}/respond", body)
    assert (answer.status, answer.body["code"]) == (422, "invalid")
    assert len(server.inbox()) == 1


def test_a_question_waits_through_a_kill(home):
    server = home.serve()
    run, asked = ask(home, server)
    server.kill()
    server = home.serve()
    assert [item["id"] for item in server.inbox()] == [asked["effect"]]
    assert server.respond(asked["effect"], revision=asked["revision"]).status == 200
    assert server.finish(run)["status"] == "success"
    assert server.types(run).count("human.requested") == 1


def test_an_acknowledged_answer_survives_a_kill(home):
    server = home.serve()
    run, asked = ask(home, server)
    assert server.respond(asked["effect"]).status == 200
    server.kill()
    server = home.serve()
    assert server.finish(run)["status"] == "success"
    assert server.types(run).count("human.finished") == 1


def test_the_inbox_page_by_page(home, server):
    wanted = {ask(home, server, f"thing {n}")[1]["effect"] for n in range(5)}
    seen, cursor = [], ""
    while cursor is not None:
        page = server.get(f"/api/inbox?limit=2{cursor and '&cursor=' + cursor}").body
        seen += [item["id"] for item in page["items"]]
        cursor = page["cursor"]
    assert len(seen) == 5
    assert set(seen) == wanted
