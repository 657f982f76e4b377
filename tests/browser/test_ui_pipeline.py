"""From an issue to reviewed commits in the dashboard: start, plan, tasks, files and findings, with scripted agents and real git."""
import json

import pytest
from pipelines import PLAN, Repository, call, gate, implement, plan_call, profile, review, script, task, team, writes
from test_ui_workflows import typed

HOSTILE = '<img src=x onerror="window.owned = true"><script>window.owned = true</script>'
CODE = '''def greet(name):
    """Says hello,
    return nothing."""
    # the name may be "anything"
    return "hello " + name * 2
'''


@pytest.fixture(name="repository")
def repository_of_a_person(tmp_path):
    return Repository(tmp_path / "greetings")


def approve(server, run):
    assert server.respond(gate(server, run)["id"]).status == 200


def plan_editor(page):
    page.button("Edit").click()
    page.wait('.plan-editor[data-ready="true"]')


# ---- the start -----------------------------------------------------------------------------------


def test_an_issue_of_the_tracker_is_started_and_carried_out(server, repository, browse):
    """The whole job in the browser: choose an issue, read the plan of the architect, approve it, watch the tasks, read a diff."""
    repository.write("issues/007-greet.md", "---\nlabels: [bug]\n---\n# Greet people\n\nIn a file.\n")
    repository.write("issues/008-other.md", "# Something else\n\nNot this one.\n")
    repository.commit("issues")
    written = plan_call(task(1, "Write the greeting"), task(2, "Write the farewell"))
    architect = json.loads(json.dumps(script({"turn": 1, "contains": "In a file.", "calls": [written]}, {"text": "done"})).replace("PLANPATH", "docs/plan.md"))
    profile(server, repository, team(architect=architect), tracker="file", plan_path_pattern="docs/plan.md")
    page = browse("/ui/").live()
    page.link("Work on an issue").first().click()
    page.wait_text('[data-issue="008-other"]', "Something else")
    page.getByLabel("Search").fill("Greet")
    page.wait('[data-issue="008-other"]', "detached")
    assert page.css("form").getByRole("button", {"name": "Start"}).isDisabled()
    page.css('[data-issue="007-greet"] input').check()
    page.wait_text(".issue-text", "In a file.")
    assert page.axe() == []
    page.button("Start").click()
    page.wait_text(".gate h2", "Approve the plan for 007-greet Greet people (2 tasks, revision 1)?")
    page.wait_text('.plan-text [role="heading"]', "Task 2: Write the farewell")
    page.button("Approve revision 1").click()
    page.wait_text("[data-approved]", "approved by")
    page.link("Tasks 2/2").click()
    page.wait('[data-task="2"] [data-state="succeeded"]')
    page.wait('.headline [data-state="succeeded"]')
    assert page.values("tr[data-task]", "data-task") == ["1", "2"]
    assert page.texts('[data-task="2"] code') == [repository.git("rev-parse", "--short=7", "baton/007-greet")]
    page.css('[data-task="2"] code').click()
    page.wait_text('.code-diff [data-kind="added"] .line-text', "goodbye")
    assert page.values("[data-file]", "data-file") == ["farewell.txt"]
    page.css(".files-line select").selectOption("")
    page.wait('[data-file="greeting.txt"]')
    assert page.values("[data-file]", "data-file") == ["docs/plan.md", "farewell.txt", "greeting.txt"]
    assert page.still_the_same_document()


def test_a_written_issue_starts_with_its_options(server, repository, browse):
    profile(server, repository)
    page = browse("/ui/start").live()
    page.wait_text("fieldset", "this profile has none")
    page.getByLabel("Title").fill("Greet people")
    page.getByLabel("Description").fill("Politely.")
    page.getByText("Options", {"exact": True}).click()
    page.getByLabel("Approve a valid plan without asking").check()
    page.getByLabel("Reviewers of a task").fill("general, security")
    page.getByLabel("Branch").fill("work/greet")
    page.getByLabel("Plan", {"exact": True}).fill(PLAN)
    page.reload()  # what was typed stays
    page.wait("#title")
    assert page.getByLabel("Title").inputValue() == "Greet people"
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    [run] = [item["run_id"] for item in server.get("/api/runs").body]
    inputs = server.result(run)["inputs"]
    assert {name: inputs[name] for name in ("title", "description", "personas", "branch", "auto_approve", "issue", "plan")} == {
        "title": "Greet people", "description": "Politely.", "personas": ["general", "security"], "branch": "work/greet", "auto_approve": True, "issue": "", "plan": PLAN}
    assert len(repository.subjects("work/greet")) == 2


def test_a_profile_that_cannot_start_is_named_with_what_is_missing(server, repository, browse):
    page = browse("/ui/start").live()
    page.wait_text(".empty", "There is no profile yet.")
    agents = {name: agent for name, agent in team().items() if name not in ("developer", "reviewer")}
    profile(server, repository, agents)
    page.reload()
    page.wait('[data-missing="developer reviewer"]')
    page.getByLabel("Title").fill("x")
    assert page.button("Start").isDisabled()
    profile(server, repository)
    page.reload()
    page.wait("#title")
    page.until("!document.querySelector('form button[type=submit]').disabled")


# ---- the plan ------------------------------------------------------------------------------------


def test_the_plan_is_edited_compared_and_approved(server, repository, browse, restart):
    profile(server, repository)
    run = implement(server)
    gate(server, run)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('[data-gate="1"]')
    plan_editor(page)
    typed(page, "polite", "kindly. Polite", within="Goal")
    page.reload()  # the text that was not saved is still there
    page.wait('.plan-editor[data-ready="true"]')
    assert "kindly." in page.css(".editor-text .cm-content").innerText()
    page.button("Save as a new revision").click()
    page.wait('[data-gate="2"]')
    page.button("Show what changed since revision 1").click()
    page.wait_text('.diff [data-kind="added"]', "kindly.")
    page.css(".files-line select").selectOption("1")
    page.button("Show the plan").waitFor({"state": "detached"})
    page.wait_text(".banner", "not the revision that waits for approval")
    assert "kindly." not in page.css(".plan-text").innerText() and page.css(".gate").count() == 0
    page.link("Show revision 2").click()
    page.wait('[data-gate="2"]')
    page.getByLabel("Comment").fill("good")
    again = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    page.live()
    assert page.getByLabel("Comment").inputValue() == "good"
    assert page.axe() == []
    page.button("Approve revision 2").click()
    page.wait('.headline [data-state="succeeded"]')
    answers = [event["data"] for event in again.events(run) if event["type"] == "human.finished"]
    assert [(answer["decision"], answer.get("comment")) for answer in answers] == [("modify", None), ("approve", "good")]


def test_an_answer_to_a_plan_that_has_changed_is_not_sent(server, repository, browse):
    profile(server, repository)
    run = implement(server)
    gate(server, run)
    page = browse(f"/ui/runs/{run}?tab=plan").live()
    page.wait('[data-gate="1"]')
    page.before("**/respond", "PUT", f"/api/runs/{run}/plan", {"plan_markdown": PLAN.replace("politely", "rudely"), "revision": 1})
    page.button("Approve revision 1").click()
    page.wait_text(".problem", "The plan has changed since it was shown here")
    page.wait('[data-gate="2"]')
    page.wait_text("[data-changed]", "revision 2 has replaced revision 1")
    assert [event["data"]["decision"] for event in server.events(run) if event["type"] == "human.finished"] == ["modify"]


def test_of_two_edits_the_second_chooses(server, repository, browse):
    profile(server, repository)
    run = implement(server)
    gate(server, run)
    page = browse(f"/ui/runs/{run}").live()
    plan_editor(page)
    typed(page, "polite", "kindly. Polite", within="Goal")
    first = {"plan_markdown": PLAN.replace("politely", "rudely"), "revision": 1}
    assert server.request("PUT", f"/api/runs/{run}/plan", first).status == 200
    page.wait_text("[data-changed]", "revision 2 has replaced revision 1")
    page.until("document.querySelector('.tabs').innerText.includes('waits for approval')")
    page.button("Save as a new revision").click()
    page.wait_text("[data-conflict]", "revision 2 is the newest")
    page.button("Save my text as the next revision").click()
    page.wait('[data-gate="3"]')
    page.wait_text(".plan-text", "kindly.")


def test_a_rejection_with_a_comment_plans_again_and_a_final_one_ends_the_run(server, repository, browse):
    architect = script({"turn": 1, "contains": "shorter", "calls": [plan_call(task(1, "Write the greeting"))]}, {"text": "done"})
    architect = json.loads(json.dumps(architect).replace("PLANPATH", "docs/plan.md"))
    profile(server, repository, team(architect=architect), plan_path_pattern="docs/plan.md")
    run = implement(server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('[data-gate="1"]')
    page.getByLabel("Comment").fill("make it shorter")
    page.button("Reject with this comment").click()
    page.wait('[data-gate="2"]')
    assert page.getByLabel("Comment").inputValue() == ""
    assert "Task 2" not in page.css(".plan-text").innerText()
    page.button("Reject for good").click()
    page.wait('.headline [data-state="failed"]')
    assert repository.subjects("baton/GREET-1") == []


def test_a_plan_never_becomes_markup(server, repository, browse):
    profile(server, repository)
    run = implement(server, plan=PLAN.replace("Write one line with a farewell.", f"{HOSTILE}\n\n```html\n{HOSTILE}\n```"))
    page = browse(f"/ui/runs/{run}").live()
    page.wait_text(".plan-text pre", "<script>")
    assert page.css(".plan-text :is(img, script)").count() == 0
    assert page.evaluate("window.owned === undefined")


# ---- tasks and files -----------------------------------------------------------------------------


def test_tasks_show_their_reviews_and_lead_to_their_steps(server, repository, browse, restart):
    objects = script({"step": "tasks/work/review/reviews[0]/general", **review(False, f"greeting.txt:1: too short {HOSTILE}")}, review(True))
    last = script(review(False, "farewell.txt:1: not polite"))
    developer = script(*writes("tasks/work/develop", "greeting.txt", "hello\n"), *writes("tasks/work#2/develop", "greeting.txt", "good day\n"),
                       *writes("tasks#2/work/develop", "farewell.txt", "bye\n"), *writes("tasks#2/work#2/develop", "farewell.txt", "goodbye\n"))
    profile(server, repository, team(task_reviewer=objects, reviewer=last, developer=developer))
    run = implement(server, max_task_reviews=2)
    page = browse(f"/ui/runs/{run}?tab=tasks").live()
    page.wait('[data-task="1"] [data-state="pending"]')
    approve(server, run)
    page.wait('.headline [data-state="with_issues"]')
    page.wait('[data-task="2"] [data-state="with_issues"]')
    page.wait('[data-task="1"] [data-state="succeeded"]')
    assert [row.split("\t")[3] for row in page.texts("tr[data-task]")] == ["2", "2"]
    assert "major" in page.css('[data-task="2"]').innerText() and page.texts('[data-task="2"] .comments li') == ["farewell.txt:1: not polite"]
    again = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    page.live()
    assert page.texts('[data-task="1"] code') == [repository.git("rev-parse", "--short=7", "baton/GREET-1~1")]
    page.link("Write the greeting").click()
    page.wait_text(".drawer", "tasks/work")
    assert page.evaluate("window.owned === undefined")
    assert again.get(f"/api/runs/{run}/plan").body["approved_by"]


def test_a_diff_has_the_colors_of_its_language(server, repository, browse):
    repository.write("hello.py", "def greet():\n    return 1\n")
    repository.commit("code")
    profile(server, repository, team(developer=script(*writes("tasks/work/develop", "hello.py", CODE), *writes("tasks#2/work/develop", "farewell.txt", "goodbye\n"))))
    run = implement(server, auto_approve=True)
    page = browse(f"/ui/runs/{run}?tab=files&file=hello.py").live()
    page.wait('.headline [data-state="succeeded"]')
    page.wait('[data-file="hello.py"] .code-diff')
    assert "modified" in page.css('[data-file="hello.py"] .file-line').innerText() and "+5 −2" in page.css('[data-file="hello.py"] .file-line').innerText()
    rows = page.texts('.code-diff tr[data-kind="removed"] .line-text')
    assert rows == ["-def greet():", "-    return 1"]
    assert "keyword" in page.values('.code-diff tr[data-kind="added"] [data-token]', "data-token")
    assert page.texts('.code-diff tr[data-kind="added"] [data-token="keyword"]') == ["def", "return"]
    assert page.texts('.code-diff tr[data-kind="added"] [data-token="string"]') == ['"""Says hello,', '    return nothing."""', '"hello "']
    assert page.texts('.code-diff tr[data-kind="added"] [data-token="comment"]') == ['# the name may be "anything"']
    assert page.axe() == []
    page.css('[data-file="farewell.txt"] button').click()
    page.wait_text('[data-file="farewell.txt"] [data-kind="added"]', "goodbye")
    page.wait('[data-file="hello.py"] .code-diff', "detached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_accessible(server, repository, browse, scheme):
    profile(server, repository)
    run = implement(server)
    gate(server, run)
    page = browse("/ui/start", colorScheme=scheme).live()
    page.wait("#title")
    complaints = {"start": page.axe()}
    for tab in ("plan", "tasks", "files"):
        page.open(f"/ui/runs/{run}?tab={tab}").live()
        page.wait(f'[data-tab="{tab}"] h2')
        complaints[tab] = page.axe()
    assert complaints == {name: [] for name in complaints}


def test_a_phone_shows_everything_without_scrolling_sideways(server, repository, browse):
    profile(server, repository)
    run = implement(server, auto_approve=True)
    server.finish(run)
    page = browse("/ui/start", viewport={"width": 320, "height": 640}).live()
    for path in ("/ui/start", *(f"/ui/runs/{run}?tab={tab}" for tab in ("plan", "tasks", "files"))):
        page.open(path).live()
        page.wait("main :is(h2, form)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path


# ---- findings ------------------------------------------------------------------------------------

FINDINGS = [{"number": n, "title": title, "file_path": "greeting.txt", "line": n, "disposition": "implement", "reason": "because",
             "original_issue": f"it is {title}", "suggested_fix": "change it"} for n, title in ((1, "too short"), (2, "wrong"), (3, "dull"))]


@pytest.mark.parametrize("place", ["/ui/inbox", "/ui/runs/"])
def test_findings_are_chosen(server, repository, browse, place):
    evaluator = script({"calls": [call("submit", result={"items": FINDINGS, "summary": "three"})]})
    reviewer = script({"step": "passes/review/reviews[0]/judge", **review(False, "too short", "wrong", "dull")}, review(True))
    developer = script(*writes("passes/repair", "greeting.txt", "good day\n"))
    profile(server, repository, team(evaluator=evaluator, reviewer=reviewer, developer=developer))
    repository.write("greeting.txt", "hi\n")
    repository.commit("greeting")
    run = server.request("POST", "/api/run", {"workflow": "review", "profile": "team",
                                              "inputs": {"mode": "review_fix", "against": "HEAD~1", "branch": "baton/fix"}}).body["run_id"]
    gate(server, run)
    page = browse(place if place.endswith("inbox") else f"{place}{run}").live()
    page.wait_text('[data-finding="2"]', "greeting.txt:2")
    assert page.css(".findings input:checked").count() == 3
    page.css('[data-finding="2"] input').uncheck()
    assert page.axe() == []
    page.button("Repair 2 of 3").click()
    page.wait(".findings", "detached")
    assert server.finish(run)["status"] == "success"
    [answer] = [event["data"] for event in server.events(run) if event["type"] == "human.finished"]
    assert (answer["decision"], answer["value"]["is"]["value"]) == ("modify", {"approved_items": [1, 3]})
    assert repository.show("baton/fix", "greeting.txt") == "good day"
