"""Questions to a person: seen everywhere, answered once."""
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
    page.wait(f'tr[data-run="{run}"] [data-state="needs you"]')
    page.wait_text(".waiting-count", "1")
    page.until("document.title.startsWith('(1) ')")
    page.css(".places").getByRole("link", {"name": "Inbox"}).click()
    page.wait_text(".question-text", "Is this good?")
    page.getByText("What it is about").click()
    page.wait_text(".question pre", "the plan")
    page.getByLabel("Comment").fill("fine by me")
    page.button("Approve").click()
    page.wait_text(".empty", "Nothing waits for you.")
    page.until("!document.title.startsWith('(')")
    assert server.finish(run)["status"] == "success"
    [answer] = [event["data"] for event in server.events(run) if event["type"] == "human.finished"]
    assert (answer["decision"], answer["comment"]) == ("approve", "fine by me")


def test_rejected_on_the_page_of_its_run(home, server, browse):
    run = ask(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('tr[data-step="ok"] [data-state="needs you"]')
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
    page.wait_text(".empty", "Nothing waits for you.")


def test_half_written_words_stay_when_somebody_else_is_faster(home, server, browse):
    run = ask(home, server)
    page = browse("/ui/inbox").live()
    page.getByLabel("Comment").fill("I was going to say")
    [item] = server.inbox()
    assert server.respond(item["id"], "reject", by="bob").status == 200
    page.wait_text(".question .problem", "Already rejected by bob")
    assert server.finish(run)["status"] == "failed"
