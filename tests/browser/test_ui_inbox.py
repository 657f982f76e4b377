"""Questions to a person: seen everywhere, answered once."""
import re

from baton import new_id

ASKS = """
name: asks
steps:
  - {name: draft, tool: echo, inputs: {text: the plan}}
  - name: ok
    human: {question: "Is this good?"}
    depends_on: [draft]
    inputs: {plan: "${steps.draft.outputs.text}"}
  - {name: after, tool: echo, depends_on: [ok], inputs: {text: done}}
"""


def ask(home, server):
    home.define(ASKS)
    run = server.run_of("asks")
    server.until(run, "human.requested")
    return run


def test_a_question_is_seen_everywhere_and_approved(home, server, browse):
    page = browse("/ui/runs").live()
    run = ask(home, server)
    page.wait(f'tr[data-run="{run}"] [data-state="waiting_human"]')
    page.wait_text(".waiting-count", "1")
    page.until("document.title.startsWith('(1) ')")
    page.css(".places").getByRole("link", {"name": "Inbox"}).click()
    page.wait_text(".question-text", "Is this good?")
    page.getByText("Inputs").click()
    page.wait_text(".question pre", "the plan")
    page.getByLabel("Comment").fill("fine by me")
    page.button("Approve").click()
    page.wait_text(".empty", "No open questions.")
    page.until("!document.title.startsWith('(')")
    assert server.finish(run)["status"] == "success"
    [answer] = [event["data"] for event in server.events(run) if event["type"] == "human.finished"]
    assert (answer["decision"], answer["comment"]) == ("approve", "fine by me")


def test_rejected_on_the_page_of_its_run(home, server, browse):
    run = ask(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('tr[data-step="ok"] [data-state="waiting_human"]')
    page.button("Reject").click()
    page.wait('.headline [data-state="failed"]')
    page.wait(".question", "detached")
    assert server.result(run)["status"] == "failed"


def test_the_second_to_answer_is_told_who_was_first(home, server, browse):
    run = ask(home, server)
    page = browse("/ui/inbox")
    [item] = server.inbox()
    page.before("**/respond", "POST", f"/api/inbox/{item['id']}/respond",
                {"decision": "approve", "by": "ada", "comment": "seen"})
    page.button("Reject").click()
    page.wait_text(".question .problem", "Already approved by ada: seen")
    assert server.finish(run)["status"] == "success"
    page.button("Dismiss").click()
    page.wait_text(".empty", "No open questions.")


def test_half_written_words_stay_when_somebody_else_is_faster(home, server, browse):
    run = ask(home, server)
    page = browse("/ui/inbox").live()
    page.getByLabel("Comment").fill("I was going to say")
    [item] = server.inbox()
    assert server.respond(item["id"], "reject", by="bob").status == 200
    page.wait_text(".question .problem", "Already rejected by bob")
    assert server.finish(run)["status"] == "failed"


# ---- questions of other kinds --------------------------------------------------------------------

EDITS = """
name: edits
steps:
  - name: ok
    human: {question: "Send this?", kind: feedback, timeout: 3600, four_eyes: true, escalate: [{to: lead}]}
    inputs: {text: "first words", count: 2}
  - {name: after, tool: echo, depends_on: [ok], inputs: {text: "${steps.ok.outputs.value.text}"}}
outputs:
  text: {from: "${steps.after.outputs.text}"}
"""

ESCALATES = """
name: escalates
steps:
  - name: ok
    human: {question: "Anybody?", timeout: 0.05, escalate: [{to: lead, timeout: 3600}]}
"""

OPEN = """
name: open
steps:
  - {name: pay, tool: shell, inputs: {command: "echo up > told; read -r word < gate"}}
  - {name: after, tool: echo, depends_on: [pay], inputs: {text: "${steps.pay.outputs.stdout}"}}
outputs:
  said: {from: "${steps.after.outputs.text}", optional: true}
"""

OFF = {"BATON_TOOLS_ISOLATION": "off"}


def test_approved_with_other_values(home, server, browse):
    home.define(EDITS)
    run = server.start("edits", run_id=new_id()).body["run_id"]
    page = browse("/ui/inbox").live()
    page.wait_text(".question-text", "Send this?")
    assert page.css("[data-kind]").innerText() == "feedback"
    assert re.search(r"in (1 h 00|5\d) m", page.css("[data-due]").innerText())
    page.wait("[data-four-eyes]")
    page.getByText("Approve with changes").click()
    page.getByLabel("Continue with").fill('{"text": ')
    page.wait_text(".modify .error", "is not JSON")
    page.until("[...document.querySelectorAll('.modify button')].at(-1).disabled")
    page.getByLabel("Continue with").fill('{"text": "other words"}')
    page.button("Approve with these values").click()
    # Whoever started the run was this very client, so four eyes refuse it and say why.
    page.wait_text(".question .problem", "forbidden")
    [item] = server.inbox()
    answer = server.respond(item["id"], "modify", value={"text": "other words"}, by="bob")
    assert answer.status == 200, answer
    page.wait_text(".question .problem", "Already approved with changes by bob")
    assert server.finish(run)["outputs"] == {"text": "other words"}


def test_edited_on_the_page(home, server, browse):
    home.define(EDITS.replace(", four_eyes: true", ""))
    run = server.run_of("edits")
    page = browse("/ui/inbox").live()
    page.getByText("Approve with changes").click()
    assert "first words" in page.getByLabel("Continue with").inputValue()
    page.getByLabel("Continue with").fill('{"text": "other words"}')
    page.button("Approve with these values").click()
    page.wait_text(".empty", "No open questions.")
    assert server.finish(run)["outputs"] == {"text": "other words"}


def test_a_question_that_goes_to_somebody_else_is_shown_so_at_once(home, server, browse):
    page = browse("/ui/inbox").live()
    home.define(ESCALATES)
    run = server.run_of("escalates")
    server.until(run, "human.escalated")
    page.wait('[data-to="lead"]')


def unknown_outcome(home, browse):
    """A call that cannot be repeated, cut off by kill -9 while the inbox is looked at."""
    run = new_id()
    told = home.fifo(run, "told")
    home.fifo(run, "gate")
    home.define(OPEN)
    server = home.serve(port=home.port(), **OFF)
    page = browse("/ui/inbox", server).live()
    assert server.start("open", run_id=run).status == 202
    told.await_line()
    port = server.address.rsplit(":", 1)[1]
    server.kill()
    page.wait('[data-banner="lost"]')
    server = home.serve(port=port, **OFF)
    page.wait('[data-kind="outcome_unknown"]')
    return run, server, page


def test_an_outcome_nobody_knows_is_settled(home, browse):
    run, server, page = unknown_outcome(home, browse)
    page.getByText("It happened …").click()
    page.getByLabel("Output").fill('{"exit_code": 0, "stdout": "paid", "stderr": ""}')
    page.button("It happened").click()
    page.wait_text(".empty", "No open questions.")
    assert server.finish(run)["outputs"] == {"said": "paid"}
    assert page.still_the_same_document()


def test_an_outcome_nobody_knows_that_did_not_happen(home, browse):
    run, server, page = unknown_outcome(home, browse)
    page.button("It did not happen").click()
    page.wait_text(".empty", "No open questions.")
    assert server.finish(run)["status"] == "failed"


def test_a_question_stays_through_a_kill_and_is_answered_behind_it(home, server, browse, restart):
    run = ask(home, server)
    page = browse("/ui/inbox").live()
    page.getByLabel("Comment").fill("half written")
    again = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    page.live()
    assert page.getByLabel("Comment").inputValue() == "half written"
    page.button("Approve").click()
    page.wait_text(".empty", "No open questions.")
    assert again.finish(run)["status"] == "success"
    [answer] = [event["data"] for event in again.events(run) if event["type"] == "human.finished"]
    assert answer["comment"] == "half written"
