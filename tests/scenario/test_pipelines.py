"""From an issue to reviewed commits: every path of the workflow implementation, with scripted agents and real git."""
import json

import pytest
from pipelines import (PLAN, Repository, call, gate, implement, plan_call, profile, review, script, task, team, writes)


@pytest.fixture(name="repository")
def repository_of_a_person(tmp_path):
    return Repository(tmp_path / "greetings")


@pytest.fixture(name="server")
def server_of_home(home):
    return home.serve()


def ended(server, run):
    server.finish(run)
    return server.get(f"/api/runs/{run}/steps").body


def paths(server, run):
    return list(server.steps(run))


def test_an_approved_plan_becomes_one_commit_a_task(server, repository):
    profile(server, repository)
    run = implement(server)
    question = gate(server, run)
    assert "Approve the plan" in question["question"] and question["inputs"]["plan_revision"] == 1
    assert server.respond(question["id"]).status == 200
    outline = ended(server, run)
    assert outline["state"] == "succeeded", outline
    assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1", "feat(GREET-1): complete task 2"]
    assert repository.show("baton/GREET-1", "greeting.txt") == "hello"
    assert repository.show("baton/GREET-1", "farewell.txt") == "goodbye"
    assert repository.untouched()
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    assert state["pipeline_type"] == "implementation" and state["status"] == "completed"
    assert state["issue"] == {"id": "GREET-1", "title": "Greet people", "description": "", "status": "open"}
    assert state["goal"].startswith("Greet people politely") and state["plan_markdown"].strip() == PLAN.strip()
    assert (state["base_commit"], state["external_plan"], state["total_tasks"]) == (repository.base, True, 2)
    assert (state["current_task_index"], state["human_approved"], state["key_files"]) == (2, True, ["greeting.txt", "farewell.txt"])
    assert state["last_review"] == {"reviewer_persona": "general", "approved": True, "comments": [], "severity": "none"}
    assert state["plan_validation_result"]["valid"] is True and state["plan_path"].endswith("GREET-1.md")
    assert "farewell.txt" in state["code_changes_for_review"]
    assert [call["tool_name"] for call in state["tool_calls"]].count("write_file") == 3  # the plan, and the two files


def test_an_architect_plans_and_a_bad_plan_is_sent_back(server, repository):
    thin = "# Greeting Implementation Plan\n\n## Phase 1: Write\n\n### Task 1: Write it\n\n- Create: `greeting.txt`\n\nWrite it down.\n"
    architect = script({"round": 1, "text": thin},  # it never calls write_plan; its text is read instead
                       {"turn": 1, "round": 2, "contains": "Problem:", "calls": [plan_call(task(1, "Write the greeting"), task(2, "Write the farewell"))]},
                       {"text": "The plan is written."})
    architect = json.loads(json.dumps(architect).replace('"PLANPATH"', '"docs/plans/plan.md"'))
    profile(server, repository, team(architect=architect), plan_path_pattern="docs/plans/plan.md")
    run = implement(server, plan="", auto_approve=True)
    outline = ended(server, run)
    assert outline["state"] == "succeeded", outline
    assert "planning/draft#2/architect" in paths(server, run)
    assert len(repository.subjects("baton/GREET-1")) == 2
    assert "### Task 2" in repository.show("baton/GREET-1", "docs/plans/plan.md")


def test_a_rejection_with_a_comment_plans_again(server, repository):
    architect = script({"turn": 1, "contains": "shorter", "calls": [plan_call(task(1, "Write the greeting"))]},
                       {"text": "The plan is written."})
    architect = json.loads(json.dumps(architect).replace('"PLANPATH"', '"docs/plans/plan.md"'))
    profile(server, repository, team(architect=architect), plan_path_pattern="docs/plans/plan.md")
    run = implement(server)
    first = gate(server, run)
    assert server.respond(first["id"], "reject", comment="make it shorter").status == 200
    server.follow(run, "human.requested", last=server.events(run)[-1]["seq"])
    (second,) = server.inbox()
    assert second["inputs"]["plan_revision"] == 2 and "### Task 2" not in second["inputs"]["plan_markdown"]
    assert server.respond(second["id"]).status == 200
    assert ended(server, run)["state"] == "succeeded"
    assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1"]


def test_a_final_rejection_ends_the_run(server, repository):
    profile(server, repository)
    run = implement(server)
    assert server.respond(gate(server, run)["id"], "reject", comment="no", final=True).status == 200
    outline = ended(server, run)
    assert outline["state"] == "failed" and outline["error"].startswith("rejected"), outline
    assert repository.subjects("baton/GREET-1") == []


def test_a_person_edits_the_plan_and_is_asked_again(server, repository):
    profile(server, repository)
    run = implement(server)
    question = gate(server, run)
    one = PLAN[:PLAN.index("### Task 2")]
    last = server.events(run)[-1]["seq"]
    assert server.respond(question["id"], "modify", value={**question["inputs"], "plan_markdown": one}).status == 200
    server.follow(run, "human.requested", last=last)
    (second,) = server.inbox()
    assert second["inputs"]["plan_markdown"].strip() == one.strip() and second["inputs"]["plan_revision"] == 2
    assert server.respond(question["id"]).status == 409  # it was about another revision
    assert server.respond(second["id"]).status == 200
    assert ended(server, run)["state"] == "succeeded"
    assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1"]


def test_reviewers_send_work_back(server, repository):
    objects = script({"step": "tasks/work/review/reviews[0]/general", **review(False, "greeting.txt:1: too short")}, review(True))
    profile(server, repository, team(task_reviewer=objects))
    run = implement(server, auto_approve=True)
    assert ended(server, run)["state"] == "succeeded"
    assert repository.show("baton/GREET-1", "greeting.txt") == "good day"
    turn = next(e for e in server.events(run) if e["type"] == "step.entered" and e["data"]["step"] == "tasks/work#2/develop")
    assert turn  # the developer was asked a second time
    assert len(repository.subjects("baton/GREET-1")) == 2


def test_work_that_is_never_approved_ends_with_issues(server, repository):
    profile(server, repository, team(task_reviewer=script(review(False, "greeting.txt:1: not polite"))))
    run = implement(server, auto_approve=True, max_task_reviews=1)
    outline = ended(server, run)
    assert outline["state"] == "with_issues", outline
    assert "task 1 (Write the greeting) was not approved: greeting.txt:1: not polite" in json.dumps(outline)
    assert len(repository.subjects("baton/GREET-1")) == 2  # the work is kept, and the branch says so


def test_an_empty_review_is_no_approval(server, repository):
    profile(server, repository, team(task_reviewer=script({"text": ""})))
    run = implement(server, auto_approve=True, max_task_reviews=1)
    assert ended(server, run)["state"] == "with_issues"


def test_all_personas_must_approve(server, repository):
    reviewer = script({"contains": "You review as: security", **review(False, "greeting.txt:1: leaks")}, review(True))
    profile(server, repository, team(task_reviewer=reviewer, reviewer=review_script()))
    run = implement(server, auto_approve=True, max_task_reviews=1, personas=["general", "security"])
    assert ended(server, run)["state"] == "with_issues"


def review_script():
    return script(review(True))


def test_a_rejected_attempt_begins_again_from_the_base_of_the_task(server, repository):
    developer = script(*writes("tasks/work/develop", "wrong.txt", "x\n"), *writes("tasks/work#2/develop", "greeting.txt", "hello\n"),
                       *writes("tasks#2/work/develop", "farewell.txt", "bye\n"))
    reviewer = script({"step": "tasks/work/review/reviews[0]/general", **review(False, "all wrong", severity="critical")}, review(True))
    profile(server, repository, team(developer=developer, task_reviewer=reviewer))
    run = implement(server, auto_approve=True)
    assert ended(server, run)["state"] == "succeeded"
    assert "wrong.txt" not in repository.git("ls-tree", "--name-only", "baton/GREET-1")


def test_the_limits_come_from_the_profile(server, repository):
    strict = script(review(False, "no"))
    strict["options"]["max_iterations"] = 2
    profile(server, repository, team(task_reviewer=strict))
    run = implement(server, auto_approve=True)
    assert ended(server, run)["state"] == "with_issues"
    developed = [p for p in paths(server, run) if p.endswith("/develop") and p.startswith("tasks/")]
    assert sorted(developed) == ["tasks/work#2/develop", "tasks/work/develop"]


def test_uncommitted_changes_are_named(server, repository):
    profile(server, repository)
    repository.write("README.md", "# changed\n")
    run = implement(server, auto_approve=True)
    outline = ended(server, run)
    assert outline["state"] == "failed" and "uncommitted changes" in json.dumps(outline), outline
    run = implement(server, auto_approve=True, allow_dirty=True)
    assert ended(server, run)["state"] == "succeeded"


def test_a_hook_that_refuses_fails_the_run_and_a_retry_goes_on(home, server, repository):
    hook = repository.folder / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho 'no farewells'; test ! -e farewell.txt\n")
    hook.chmod(0o755)
    profile(server, repository)
    run = implement(server, auto_approve=True)
    outline = ended(server, run)
    assert outline["state"] == "failed" and "no farewells" in json.dumps(outline), outline
    assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1"]
    # The hooks of the run are copies in its clone; the person gives in there, and nothing that succeeded is repeated.
    home.workspace(run, ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    last = server.events(run)[-1]["seq"]
    assert server.tell(run, "retry").status == 200
    server.follow(run, "run.finished", last=last)
    assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1", "feat(GREET-1): complete task 2"]
    again = [event["data"]["step"] for event in server.events(run) if event["seq"] > last and event["type"] == "turn.requested"]
    assert again == []


def test_the_plan_alone(server, repository):
    profile(server, repository)
    run = implement(server, auto_approve=True, plan_only=True)
    outline = ended(server, run)
    assert outline["state"] == "succeeded" and repository.subjects("baton/GREET-1") == []


def test_ten_runs_at_once_have_branches_of_their_own(server, repository):
    profile(server, repository)
    runs = [implement(server, auto_approve=True) for _ in range(10)]
    assert [ended(server, run)["state"] for run in runs] == ["succeeded"] * 10
    branches = repository.git("branch", "--list", "baton/GREET-1*", "--format=%(refname:short)").splitlines()
    assert sorted(branches) == sorted(["baton/GREET-1"] + [f"baton/GREET-1-{n}" for n in range(2, 11)])
    assert all(len(repository.subjects(branch)) == 2 for branch in branches)
    assert repository.untouched()


@pytest.mark.parametrize("at", ["checkout", "planning/draft/check", "tasks/work/develop[1]/write_file", "tasks/commit", "tasks/publish"])
def test_a_kill_at_any_stage_changes_nothing(home, repository, at):
    server = home.serve()
    profile(server, repository)
    run = implement(server, auto_approve=True)
    with server.stream(f"/api/runs/{run}/stream") as stream:
        for one in stream:
            if one.event["data"].get("step") == at:
                break
    server.kill()
    server = home.serve()
    assert ended(server, run)["state"] == "succeeded"
    assert repository.subjects("baton/GREET-1") == ["feat(GREET-1): complete task 1", "feat(GREET-1): complete task 2"]
    assert repository.show("baton/GREET-1", "greeting.txt") == "hello"
    assert repository.untouched()


# ---- review ----------------------------------------------------------------------------------

FINDINGS = [{"number": n, "title": title, "file_path": "greeting.txt", "line": 1, "disposition": disposition, "reason": "because",
             "original_issue": title, "suggested_fix": "change it"}
            for n, (title, disposition) in enumerate([("too short", "implement"), ("wrong language", "reject"), ("no tests", "defer")], 1)]


def reviewing(**agents):
    evaluator = script({"calls": [call("submit", result={"items": FINDINGS, "summary": "one of three"})]})
    reviewer = script({"step": "passes/review/reviews[0]/judge", **review(False, "too short", "wrong language", "no tests")}, review(True))
    return team(evaluator=evaluator, reviewer=reviewer,
                developer=script(*writes("passes/repair", "greeting.txt", "good day\n")), **agents)


def test_a_review_alone_reports_findings_and_changes_nothing(server, repository):
    profile(server, repository, reviewing())
    diff = "diff --git a/greeting.txt b/greeting.txt\nnew file mode 100644\n--- /dev/null\n+++ b/greeting.txt\n@@ -0,0 +1 @@\n+hi\n"
    answer = server.request("POST", "/api/run", {"workflow": "review", "profile": "team", "inputs": {"diff": diff}})
    run = answer.body["run_id"]
    assert ended(server, run)["state"] == "succeeded"
    outputs = server.result(run)["outputs"]
    assert outputs["approved"] is False and len(outputs["comments"]) == 3
    assert [item["title"] for item in outputs["evaluation"]["items_to_implement"]] == ["too short"]
    assert [item["title"] for item in outputs["deferred"]] == ["no tests"]
    assert repository.untouched()


def test_a_person_chooses_what_is_repaired(server, repository):
    profile(server, repository, reviewing())
    repository.write("greeting.txt", "hi\n")
    repository.commit("greeting")
    run = server.request("POST", "/api/run", {"workflow": "review", "profile": "team",
                                              "inputs": {"mode": "review_fix", "against": "HEAD~1", "branch": "baton/fix"}}).body["run_id"]
    question = gate(server, run)
    assert question["inputs"]["approved_items"] == [1]
    assert server.respond(question["id"]).status == 200
    assert ended(server, run)["state"] == "succeeded"
    assert repository.show("baton/fix", "greeting.txt") == "good day"
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    assert (state["approved_items"], state["review_pass"], state["max_review_passes"]) == ([1], 2, 3)
    assert [item["title"] for item in state["evaluation_result"]["items_deferred"]] == ["no tests"]


def test_nothing_is_repaired_when_nothing_is_chosen(server, repository):
    profile(server, repository, reviewing())
    repository.write("greeting.txt", "hi\n")
    repository.commit("greeting")
    run = server.request("POST", "/api/run", {"workflow": "review", "profile": "team",
                                              "inputs": {"mode": "review_fix", "against": "HEAD~1", "branch": "baton/fix"}}).body["run_id"]
    question = gate(server, run)
    assert server.respond(question["id"], "modify", value={**question["inputs"], "approved_items": []}).status == 200
    assert ended(server, run)["state"] == "with_issues"
    assert repository.show("baton/fix", "greeting.txt") == "hi"
