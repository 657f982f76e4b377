"""Plans: the tools that write, read and name them; revisions, diffs, edits and imports; prompts have a file of their own."""
import concurrent.futures
import datetime

from baton import new_id
from test_tools import finish, kill_at, one_step, run

TASK = "{number: '1', title: Fix add, files_to_modify: [calc.py], steps: ['Replace the minus sign.', 'Run the tests.']}"
DRAFT = f"{{goal: add() adds, architecture_summary: One function., tech_stack: [Python], tasks: [{TASK}], file_path: docs/plans/a.md}}"


def test_a_written_plan_is_a_file_of_the_workspace_and_valid(home, server):
    result = run(home, server, "write_plan", DRAFT)
    output = result["outputs"]["all"]
    assert output["path"] == "docs/plans/a.md"
    assert home.workspace(result["run_id"], "docs/plans/a.md").read_text() == output["markdown"]
    home.define("name: check\ninputs:\n  plan: {type: string}\nsteps:\n  - name: check\n    tool: plan_check\n"
                "    inputs: {markdown: '${inputs.plan}'}\noutputs:\n  all: {from: '${steps.check.outputs}'}\n", name="check")
    checked = server.start("check", {"plan": output["markdown"]}, wait=True).body["outputs"]["all"]
    assert checked["valid"] and checked["issues"] == [] and checked["severity"] == "none"
    assert checked["goal"] == "add() adds" and checked["key_files"] == ["calc.py"] and checked["total_tasks"] == 1
    assert checked["tasks"][0]["title"] == "Fix add" and checked["tasks"][0]["markdown"].startswith("### Task 1: Fix add")


def test_a_killed_write_of_a_plan_is_repeated(home):
    run_id = kill_at(home, "tool.before_start", one_step("write_plan", DRAFT))
    result, _ = finish(home, run_id)
    assert result["status"] == "success", result
    assert home.workspace(run_id, "docs/plans/a.md").read_text() == result["outputs"]["all"]["markdown"]


def test_a_bad_plan_is_an_output_and_no_failure(home, server):
    result = run(home, server, "plan_check", "{markdown: null, fallback: I cannot do this.}")
    output = result["outputs"]["all"]
    assert result["status"] == "success"
    assert not output["valid"] and output["severity"] == "critical" and output["source"] == "none"
    assert "does not look like a plan" in output["diagnostic"]


def test_a_plan_outside_of_the_workspace_is_refused(home, server):
    # Literal inputs are checked before the start, others when the step begins.
    refused = run(home, server, "write_plan", DRAFT.replace("docs/plans/a.md", "../a.md"))
    assert refused["status"] == 422 and '".."' in str(refused)
    home.define("name: outside\ninputs:\n  path: {type: string}\nsteps:\n  - name: write\n    tool: write_plan\n"
                f"    inputs: {DRAFT.replace('docs/plans/a.md', '${inputs.path}')}\n".replace("file_path: ${inputs.path}", "file_path: '${inputs.path}'"))
    for path in ("../a.md", "docs/../../a.md", "/tmp/a.md"):
        result = server.start("outside", {"path": path}, wait=True).body
        assert result["status"] == "failed", result


def path_in(home, server, inputs, profile):
    home.define(one_step("plan_path", inputs))
    return server.request("POST", "/api/run", {"workflow": "one", "inputs": {}, "profile": profile}, {"Prefer": "wait=60"}).body


def test_the_path_of_a_plan_has_the_day_of_the_run_and_the_pattern_of_its_profile(home, server, tmp_path):
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = {str(today), str(today + datetime.timedelta(days=1))}
    output = run(home, server, "plan_path", "{issue_key: 'acme/site#12'}")["outputs"]["all"]
    assert output["date"] in days
    assert output["path"] == f"docs/plans/{output['date']}-acme-site-12.md"
    profile = {"name": "work", "repo_root": str(tmp_path), "plan_path_pattern": "plans/{issue_key}/{date}.md"}
    assert server.request("POST", "/api/profiles", profile).status == 201
    output = path_in(home, server, "{issue_key: '', title: Fix the sum}", "work")["outputs"]["all"]
    assert output["path"] == f"plans/Fix-the-sum/{output['date']}.md"
    old = {"name": "old", "driver": "api", "model": "m", "working_dir": str(tmp_path), "plan_output_dir": "notes"}
    assert server.request("POST", "/api/profiles", old).status == 201
    output = path_in(home, server, "{issue_key: BAT-1}", "old")["outputs"]["all"]
    assert output["path"] == f"notes/{output['date']}-BAT-1.md"
    bad = {"name": "bad", "repo_root": str(tmp_path), "plan_path_pattern": "/etc/{date}"}
    assert server.request("POST", "/api/profiles", bad).status == 201
    result = path_in(home, server, "{issue_key: BAT-1}", "bad")
    assert result["status"] == "failed" and "relative to the repository" in str(result), result


# ---- the plan of a run ------------------------------------------------------------------------------

PLANNED = """name: planned
inputs:
  plan: {type: string}
  hold: {type: boolean, default: false}
steps:
  - name: planning
    loop:
      until: steps.gate.status == 'success' and steps.gate.outputs.decision == 'approve'
      max: 10
      steps:
        - {name: architect, when: inputs.hold and steps.planning.outputs is null, wait: {signal: planned}}
        - name: check
          depends_on: [architect]
          tool: plan_check
          inputs: {markdown: "${coalesce(steps.planning.outputs.gate.value.plan_markdown, inputs.plan)}", path: docs/plan.md}
        - name: gate
          depends_on: [check]
          continue_on_error: true
          human: {question: "Approve the plan?"}
          inputs: {plan_markdown: "${steps.check.outputs.markdown}", plan_revision: 1}
outputs:
  tasks: {from: "${steps.planning.outputs.check.total_tasks}"}
"""


def plan_of(tasks, goal="add() adds"):
    text = f"# Sums Implementation Plan\n\n**Goal:** {goal}\n\n"
    for number in range(1, tasks + 1):
        text += f"### Task {number}: Part {number}\n\n- Modify: `part{number}.py`\n\nWrite the test first, then change the function and run all tests.\n\n"
    return text + "Notes: " + "keep the interface as it is. " * 6 + "\n"


def ask_for_approval(home, server, tasks=1, **inputs):
    """A run that asks for the approval of its plan."""
    run_id = server.run_of(home.define(PLANNED), {"plan": plan_of(tasks), **inputs})
    server.until(run_id, "human.requested")
    return run_id


def next_question(server, run_id, count):
    """Waits until the run has asked so often."""
    with server.stream(f"/api/runs/{run_id}/stream") as stream:
        while count > 0:
            count -= next(stream).event["type"] == "human.requested"


def plan(server, run_id, query=""):
    return server.get(f"/api/runs/{run_id}/plan{query}")


def test_the_plan_is_read_with_its_tasks_and_validation(home, server):
    run_id = ask_for_approval(home, server, 2)
    shown = plan(server, run_id).body
    assert shown["revision"] == shown["revisions"] == 1 and shown["markdown"] == plan_of(2)
    assert shown["goal"] == "add() adds" and shown["key_files"] == ["part1.py", "part2.py"] and shown["path"] == "docs/plan.md"
    assert shown["total_tasks"] == 2 and [task["number"] for task in shown["tasks"]] == ["1", "2"]
    assert shown["validation"] == {"valid": True, "issues": [], "severity": "none"}
    (item,) = server.inbox()
    assert shown["question"] == item["id"]
    assert plan(server, run_id, "?revision=2").status == 404 and plan(server, run_id, "?revision=0").status == 400
    assert server.tell(run_id, "approve").status == 200
    assert server.finish(run_id)["outputs"] == {"tasks": 2}
    shown = plan(server, run_id).body
    assert shown["approved_by"] and "question" not in shown


def test_an_edit_is_a_new_revision_with_a_difference(home, server):
    run_id = ask_for_approval(home, server)
    stale = server.request("PUT", f"/api/runs/{run_id}/plan", {"plan_markdown": plan_of(2), "revision": 7})
    assert stale.status == 409 and "revision 1 is the newest" in stale.body["detail"]
    edited = server.request("PUT", f"/api/runs/{run_id}/plan", {"plan_markdown": plan_of(2), "revision": 1})
    assert edited.status == 200 and edited.body["decision"] == "modify"
    next_question(server, run_id, 2)
    shown = plan(server, run_id, "?diff").body
    assert shown["revision"] == 2 and shown["diff_from"] == 1 and "+### Task 2: Part 2" in shown["diff"]
    first = plan(server, run_id, "?revision=1&diff").body
    assert first["markdown"] == plan_of(1) and "diff" not in first and first["revisions"] == 2
    server.kill()
    server = home.serve()
    assert plan(server, run_id).body["markdown"] == plan_of(2)
    assert server.tell(run_id, "approve").status == 200
    assert server.finish(run_id)["outputs"] == {"tasks": 2}
    late = server.request("PUT", f"/api/runs/{run_id}/plan", {"plan_markdown": plan_of(3)})
    assert late.status == 409 and "has ended" in late.body["detail"]


def test_a_plan_is_imported_from_the_repository_and_nowhere_else(home, server, tmp_path):
    repository = tmp_path / "site"
    repository.mkdir()
    (repository / "good.md").write_text(plan_of(3))
    (repository / "bad.md").write_text("no plan")
    (repository / "empty.md").write_text(" \n")
    (tmp_path / "outside.md").write_text(plan_of(3))
    (repository / "link.md").symlink_to(tmp_path / "outside.md")
    assert server.request("POST", "/api/profiles", {"name": "site", "repo_root": str(repository)}).status == 201
    run_id = ask_for_approval(home, server)

    def send(**body):
        return server.request("POST", f"/api/runs/{run_id}/plan", body)

    assert send().status == 422 and send(plan_content="x", plan_file="good.md").status == 422 and send(plan_content=" ").status == 422
    refused = send(plan_file="good.md")
    assert refused.status == 409 and "use force" in refused.body["detail"]
    for file, status in [("../outside.md", 403), ("link.md", 403), ("/etc/passwd", 403), ("none.md", 404), ("empty.md", 422)]:
        assert send(plan_file=file, force=True).status == status, file
    bad = send(plan_file="bad.md", force=True)
    assert bad.status == 200 and bad.body["status"] == "invalid" and bad.body["validation_issues"]
    assert plan(server, run_id).body["revisions"] == 1
    good = send(plan_file="good.md", force=True)
    assert good.body == {"status": "ready", "goal": "add() adds", "key_files": ["part1.py", "part2.py", "part3.py"], "total_tasks": 3}
    next_question(server, run_id, 2)
    assert send(plan_content=plan_of(4), force=True).body["total_tasks"] == 4
    next_question(server, run_id, 3)
    assert server.tell(run_id, "approve").status == 200
    assert server.finish(run_id)["outputs"] == {"tasks": 4}


def test_planning_again_rejects_the_plan_with_the_comment(home, server):
    run_id = ask_for_approval(home, server)
    again = server.request("POST", f"/api/runs/{run_id}/replan", {"comment": "smaller tasks"})
    assert again.status == 200 and again.body["decision"] == "reject"
    next_question(server, run_id, 2)
    (finished,) = [event["data"] for event in server.events(run_id) if event["type"] == "human.finished"]
    assert finished["comment"] == "smaller tasks" and plan(server, run_id).body["revisions"] == 2
    assert server.tell(run_id, "approve").status == 200
    server.finish(run_id)


def test_while_the_run_plans_its_plan_cannot_be_read_or_changed(home, server):
    run_id = server.run_of(home.define(PLANNED), {"plan": plan_of(1), "hold": True})
    server.until(run_id, "timer.requested")
    for answer in (plan(server, run_id), server.request("PUT", f"/api/runs/{run_id}/plan", {"plan_markdown": "x"}),
                   server.request("POST", f"/api/runs/{run_id}/plan", {"plan_content": "x", "force": True}),
                   server.request("POST", f"/api/runs/{run_id}/replan")):
        assert answer.status == 409 and "still planning" in answer.body["detail"]
    assert home.cli("plan", run_id)[0] == 5 and home.cli("replan", run_id)[0] == 5
    assert home.cli("cancel", run_id)[0] == 0
    other = server.run_of(home.define("name: other\nsteps:\n  - {name: one, tool: noop}\n"))
    server.finish(other)
    assert plan(server, other).status == 404 and plan(server, new_id()).status == 404


def test_of_two_edits_at_once_one_wins(home, server):
    run_id = ask_for_approval(home, server)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: server.request("PUT", f"/api/runs/{run_id}/plan", {"plan_markdown": plan_of(n + 2), "revision": 1}), range(8)))
    assert [answer.status for answer in answers].count(200) == 1 and {answer.status for answer in answers} == {200, 409}
    next_question(server, run_id, 2)
    assert plan(server, run_id).body["revisions"] == 2


def test_the_command_line_prints_edits_imports_and_plans_again(home, server, tmp_path):
    run_id = ask_for_approval(home, server)
    status, output, _ = home.cli("plan", run_id)
    assert status == 0 and output == plan_of(1)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/add() adds/add() adds twice/' \"$1\"\n")
    editor.chmod(0o755)
    status, output, errors = home.cli("plan", run_id, "--edit", VISUAL=str(editor))
    assert status == 0, errors
    next_question(server, run_id, 2)
    status, output, _ = home.cli("plan", run_id, "--diff")
    assert "+**Goal:** add() adds twice" in output
    assert home.cli("plan", run_id, "--revision", "1")[1] == plan_of(1)
    assert home.cli("plan", run_id, "--edit", VISUAL="true")[1].startswith("the plan is unchanged")
    file = tmp_path / "mine.md"
    file.write_text(plan_of(3))
    status, output, _ = home.cli("plan", run_id, "--import", str(file))
    assert status == 0 and "3 tasks" in output
    next_question(server, run_id, 3)
    file.write_text("nothing")
    status, output, errors = home.cli("plan", run_id, "--import", str(file))
    assert status == 2 and "no task heading" in errors + output
    assert home.cli("replan", run_id, "-m", "again")[0] == 0
    next_question(server, run_id, 4)
    assert home.cli("approve", run_id)[0] == 0
    assert server.finish(run_id)["status"] == "success"
