"""Milestones of steps, rejections that continue, and runs that end with issues."""
import signal

from baton import new_id
from test_event_groups import listed, types

# A plan that is checked twice, then two tasks: the first is approved in the second round, the second never.
PLANNED = """
name: planned
issues: steps.all.outputs[1].sum.open
steps:
  - name: planning
    loop:
      until: steps.check.outputs.valid
      max: 3
      steps:
        - {name: draft, tool: echo, inputs: {ok: "${coalesce(steps.planning.outputs.check.seen, false)}"}}
        - name: check
          tool: echo
          depends_on: [draft]
          inputs: {valid: "${steps.draft.outputs.ok}", issues: [], severity: none, seen: true}
          milestone: {kind: plan_validation, data: {title: the plan}, passed: output.valid}
  - name: all
    depends_on: [planning]
    map:
      over: [{title: First, after: 2}, {title: Second, after: 9}]
      as: task
      at_once: 1
      steps:
        - name: task
          milestone:
            kind: task
            data: {task_index: "${index}", total_tasks: 2, task_title: "${task.title}"}
            passed: steps.task.outputs.sum.approved
          try:
            steps:
              - name: rounds
                loop:
                  until: steps.review.outputs.approved
                  max: 2
                  on_limit: continue
                  steps:
                    - {name: work, tool: echo, inputs: {round: "${coalesce(steps.rounds.outputs.review.round, 0) + 1}"}}
                    - name: review
                      tool: echo
                      depends_on: [work]
                      milestone: {kind: review, passed: output.approved}
                      inputs:
                        approved: "${steps.work.outputs.round >= task.after}"
                        round: "${steps.work.outputs.round}"
                        reviewer_persona: General
                        comments: ["round ${steps.work.outputs.round}"]
                        severity: minor
              - name: sum
                tool: echo
                depends_on: [rounds]
                inputs:
                  approved: "${steps.rounds.outputs.review.approved}"
                  open: "${[task.title + ': not approved']}"
            finally:
              - {name: note, tool: echo, inputs: {}}
"""


def test_milestones_become_events_with_their_data(home, server):
    run = server.run_of(home.define(PLANNED.replace("issues: steps.all.outputs[1].sum.open\n", "")))
    assert server.finish(run)["status"] == "success", server.result(run)
    items, _ = listed(server, run, "pipeline")
    told = [item for item in items if item["event_type"].startswith(("task_", "review_", "revision_", "plan_"))]
    assert types(told) == [
        "plan_validation_failed", "plan_validated",
        "task_started", "review_requested", "review_completed", "revision_requested", "review_requested", "review_completed", "task_completed",
        "task_started", "review_requested", "review_completed", "revision_requested", "review_requested", "review_completed",
        "revision_requested", "task_failed"]
    first = next(item for item in told if item["event_type"] == "task_started")
    assert {key: first["data"][key] for key in ("task_index", "total_tasks", "task_title")} == {"task_index": 0, "total_tasks": 2, "task_title": "First"}
    assert first["message"] == "task started: First"
    last = told[-1]
    assert last["data"]["task_title"] == "Second" and last["data"]["passed"] is False and last["is_error"] and last["level"] == "error"
    reviews = [item for item in told if item["event_type"] == "review_completed"]
    assert [item["data"]["passed"] for item in reviews] == [False, True, False, False]
    assert reviews[1]["data"]["result"]["comments"] == ["round 2"]
    older = types(listed(server, run, "pipeline_v1")[0])
    assert [older.count(type) for type in ("review_requested", "review_completed", "revision_requested")] == [4, 4, 3]


def test_the_events_that_start_and_end_a_step_record_its_milestone(home, server):
    run = server.run_of(home.define(PLANNED))
    server.finish(run)
    told = [(event["type"], event["data"]["step"], event["data"]["milestone"]) for event in server.events(run) if "milestone" in event["data"]]
    tasks = [(type, step, milestone) for type, step, milestone in told if milestone["kind"] == "task"]
    data = {"task_index": 0, "total_tasks": 2, "task_title": "First"}
    assert tasks[0] == ("step.entered", "all[0]/task", {"kind": "task", "data": data, "starts": True})
    assert tasks[1] == ("step.left", "all[0]/task", {"kind": "task", "data": data, "passed": True})
    # A pure step has one event more, so that its milestone begins before it ends.
    assert [type for type, step, _ in told if step == "planning/check"] == ["step.started", "step.computed"]


def test_a_step_that_fails_ends_its_milestone(home, server):
    run = server.run_of(home.define("""
name: breaks
steps:
  - {name: build, tool: shell, inputs: {command: exit 3}, milestone: {kind: task, data: {task_title: Build}}}
"""))
    assert server.finish(run)["status"] == "failed"
    items, _ = listed(server, run, "pipeline")
    assert types(items) == ["workflow_created", "stage_started", "task_started", "stage_completed", "task_failed", "workflow_failed"]


def test_a_retried_attempt_does_not_begin_the_milestone_again(home, server):
    run = server.run_of(home.define("""
name: stubborn
steps:
  - name: build
    tool: shell
    inputs: {command: "test -e done || { touch done; exit 3; }"}
    retry: {max_retries: 2, base_delay: 0}
    milestone: {kind: task}
"""))
    assert server.finish(run)["status"] == "success"
    assert [type for type in types(listed(server, run, "pipeline")[0]) if type.startswith("task_")] == ["task_started", "task_completed"]


def test_the_data_of_a_milestone_is_limited(home, server):
    run = server.run_of(home.define("""
name: long
inputs: {text: {type: string}}
steps:
  - {name: build, tool: echo, inputs: {}, milestone: {kind: task, data: {title: "${inputs.text}"}}}
"""), {"text": "x" * 5000})
    result = server.finish(run)
    assert result["status"] == "failed" and "the data of the milestone is over 4096 bytes" in result["error"], result


def test_an_unknown_kind_of_milestone_is_refused(home):
    home.define("name: wrong\nsteps:\n  - {name: a, tool: echo, inputs: {}, milestone: {kind: party}}\n")
    status, _, errors = home.cli("run", "wrong")
    assert status == 2 and "party" in errors and "plan_validation" in errors, errors


def test_a_milestone_is_the_same_after_compaction(home, server):
    run = server.run_of(home.define("""
name: short
steps:
  - {name: a, tool: echo, inputs: {ok: true}, milestone: {kind: review, data: {title: A}, passed: output.ok}}
  - {name: b, depends_on: [a], tool: shell, inputs: {command: "true"}, milestone: {kind: task, data: {title: B}}}
"""))
    server.finish(run)
    before = [entry["action"] for entry in server.get(f"/api/runs/{run}?view=pipeline").body["history"]]
    assert [type for type in before if type.startswith(("task_", "review_"))] == [
        "review_requested", "review_completed", "task_started", "task_completed"]
    assert home.local("POST", "/api/db/compact", {"max_events": 1}).body["compacted"] == 1
    assert server.get(f"/api/runs/{run}/events").status == 410
    assert [entry["action"] for entry in server.get(f"/api/runs/{run}?view=pipeline").body["history"]] == before


# ---- rejections that continue

GATE = """
name: gate
steps:
  - {name: ask, human: {question: "Good?", on_reject: continue}}
  - name: use
    tool: echo
    depends_on: [ask]
    inputs: {decision: "${steps.ask.outputs.decision}", why: "${steps.ask.outputs.comment}", by: "${steps.ask.outputs.by}"}
outputs: {result: {from: "${steps.use.outputs}", optional: true}}
"""


def test_a_rejection_can_continue_with_its_comment(home, server):
    run = server.run_of(home.define(GATE))
    asked = server.until(run, "human.requested")
    assert server.respond(asked["data"]["effect"], "reject", comment="Too long.", by="ada").status == 200
    result = server.finish(run)
    assert result["status"] == "success"
    assert result["outputs"]["result"] == {"decision": "reject", "why": "Too long.", "by": "ada"}
    assert "approval_rejected" in types(listed(server, run, "pipeline")[0])
    answered = [event["data"] for event in server.events(run) if event["type"] == "human.finished"]
    assert answered[0]["continues"] is True and "final" not in answered[0]


def test_a_final_rejection_fails_the_step(home, server):
    run = server.run_of(home.define(GATE))
    server.until(run, "human.requested")
    assert server.tell(run, "reject", comment="Never.", final=True).status == 200
    result = server.finish(run)
    assert result["status"] == "failed" and "rejected by" in result["error"]
    assert [event["data"]["final"] for event in server.events(run) if event["type"] == "human.finished"] == [True]


def test_the_command_line_rejects_finally(home, server):
    run = server.run_of(home.define(GATE))
    server.until(run, "human.requested")
    status, _, errors = home.cli("reject", run, "-m", "Never.", "--final", "--follow")
    assert status == 1 and "rejected by" in errors, errors


def test_final_belongs_to_a_rejection(home, server):
    run = server.run_of(home.define(GATE))
    server.until(run, "human.requested")
    answer = server.tell(run, "approve", final=True)
    assert answer.status == 400 and "final belongs to the answer reject" in answer.body["detail"], answer
    server.tell(run, "cancel")
    server.finish(run)


def test_a_rejection_that_continued_survives_a_crash(home):
    server = home.serve()
    home.define(GATE + "  \n".join([""]))
    home.define(GATE.replace("name: gate", "name: gate2").replace(
        'tool: echo\n    depends_on: [ask]', 'tool: echo\n    depends_on: [hold]').replace(
        "  - name: use", "  - {name: hold, depends_on: [ask], wait: {signal: go}}\n  - name: use"))
    run = new_id()
    server.start("gate2", run_id=run)
    asked = server.until(run, "human.requested")
    assert server.respond(asked["data"]["effect"], "reject", comment="No.", by="ada").status == 200
    server.until(run, "timer.requested")
    assert server.kill() == -signal.SIGKILL
    server = home.serve()
    assert server.tell(run, "signal", name="go", data={}).status in (200, 202)
    assert server.finish(run)["outputs"]["result"] == {"decision": "reject", "why": "No.", "by": "ada"}


# ---- with issues


def test_a_run_with_issues_says_so_everywhere(home, server):
    run = server.run_of(home.define(PLANNED))
    result = server.finish(run)
    assert result["status"] == "failed" and result["error"] == "with issues: Second: not approved", result
    assert result["metadata"]["state"] == "with_issues"
    assert server.events(run)[-1]["data"]["outcome"] == "with_issues"
    assert server.events(run)[-1]["data"]["issues"] == ["Second: not approved"]
    pipeline = server.get(f"/api/runs/{run}?view=pipeline").body
    assert pipeline["status"] == "failed" and "Second: not approved" in pipeline["error"]
    assert server.get(f"/api/runs/{run}?view=graph").body["status"] == "failed"
    task = server.get(f"/api/runs/{run}?view=task").body
    assert task["metadata"]["status"] == "error" and "Second: not approved" in task["metadata"]["summary"], task["metadata"]
    assert "workflow_failed" in types(listed(server, run, "pipeline")[0])
    for filter in ("status=with_issues", "state=with_issues"):
        assert [row["run_id"] for row in server.get(f"/api/runs?{filter}").body] == [run], filter
    assert server.get("/api/runs?state=succeeded").body == []
    assert server.tell(run, "retry").status == 409


def test_the_command_line_has_an_exit_status_for_issues(home):
    home.define(PLANNED)
    status, _, errors = home.cli("run", "planned")
    assert status == 3 and "the run ended with issues: Second: not approved" in errors, errors
    status, out, _ = home.cli("runs")
    assert status == 0 and "with_issues" in out
    status, out, errors = home.cli("run", "--help")
    assert "ended with issues" in out


def test_no_issues_is_an_ordinary_success(home, server):
    run = server.run_of(home.define("name: fine\nissues: steps.a.outputs.list\nsteps:\n  - {name: a, tool: echo, inputs: {list: []}}\n"))
    assert server.finish(run)["status"] == "success"
    assert server.events(run)[-1]["data"]["outcome"] == "ok"


def test_many_issues_are_counted(home, server):
    run = server.run_of(home.define("name: many\nissues: inputs.list\ninputs: {list: {type: array}}\nsteps:\n  - {name: a, tool: echo, inputs: {}}\n"),
                        {"list": ["x" * 2000] + ["issue %d" % n for n in range(150)]})
    server.finish(run)
    issues = server.events(run)[-1]["data"]["issues"]
    assert len(issues) == 100 and len(issues[0]) == 1000 and issues[-1] == "and 52 further issues"
