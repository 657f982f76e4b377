"""The state of a pipeline in the pipeline vocabularies: every field comes from what happened."""
import json
import pathlib
import tempfile

ISSUE = {"id": "GH-7", "title": "add() subtracts", "description": "1 + 1 is 0.", "status": "open"}
ITEM = {"number": 1, "title": "no test", "file_path": "a.py", "line": 3, "reason": "true", "original_issue": "x", "suggested_fix": "y"}

PIPELINE = """
name: small
pipeline: implementation
inputs:
  issue: {type: object}
  auto_approve: {type: boolean, default: true}
  max_review_passes: {type: integer, default: 2}
steps:
  - name: checkout
    tool: echo
    inputs: {base_commit: "1f0c2d3", nonsense: 5}
    outputs: {base_commit: base_commit, nonsense: total_tasks_of_nothing}
  - name: plan
    depends_on: [checkout]
    loop:
      until: steps.check.outputs.valid
      steps:
        - name: check
          tool: echo
          inputs:
            valid: "${steps.plan.status == 'success'}"
            issues: [no tests]
            severity: minor
            markdown: "# Plan"
            goal: Correct addition
            files: [a.py]
          outputs: {markdown: plan_markdown, goal: goal, files: key_files}
          milestone: {kind: plan_validation, passed: output.valid}
  - {name: approval, depends_on: [plan], human: {question: "Good?"}}
  - name: tasks
    depends_on: [approval]
    map:
      over: [one, two]
      at_once: 1
      serial: true
      steps:
        - name: task
          milestone: {kind: task, data: {task_index: "${index}", total_tasks: 2, task_title: "${item}"}}
          try:
            steps:
              - name: work
                tool: shell
                inputs: {command: "echo ${item} >> a.txt"}
              - name: review
                depends_on: [work]
                tool: review_merge
                inputs: {reviews: [{reviewer_persona: Security, approved: true, comments: [fine], severity: none}]}
                milestone: {kind: review, passed: output.approved}
            finally:
              - {name: note, tool: echo, inputs: {}}
  - name: evaluate
    depends_on: [tasks]
    tool: evaluation_sort
    inputs: {items: [ITEM], approved_items: [1]}
    outputs: {result: evaluation_result, approved_items: approved_items, count: goal}
  - {name: hold, depends_on: [evaluate], wait: {signal: go}}
""".replace("ITEM", json.dumps({**ITEM, "disposition": "implement"}))


def begun(home, server):
    run = server.run_of(home.define(PIPELINE), {"issue": {**ISSUE, "labels": ["bug"]}})
    asked = server.until(run, "human.requested")
    return run, asked["data"]["effect"]


def test_the_state_grows_with_the_work(home, server):
    run, question = begun(home, server)
    early = server.get(f"/api/runs/{run}?view=pipeline").body
    assert early["pipeline_type"] == "implementation" and early["pending_user_input"] is True and early["status"] == "paused"
    assert early["issue"] == ISSUE  # further members of the input are not part of an issue
    assert (early["goal"], early["plan_markdown"], early["key_files"]) == ("Correct addition", "# Plan", ["a.py"])
    assert early["plan_validation_result"] == {"valid": True, "issues": ["no tests"], "severity": "minor"}
    assert (early["plan_revision_count"], early["base_commit"], early["human_approved"]) == (1, "1f0c2d3", None)
    assert early["last_review"] is None and early["max_review_passes"] == 2
    assert server.respond(question, comment="Go.", by="ada").status == 200
    server.until(run, "timer.requested")
    later = server.get(f"/api/runs/{run}?view=pipeline").body
    assert (later["human_approved"], later["human_feedback"], later["user_message"]) == (True, "Go.", "Go.")
    assert (later["total_tasks"], later["current_task_index"], later["review_iteration"], later["task_review_iteration"]) == (2, 2, 2, 1)
    assert later["last_review"] == {"reviewer_persona": "Security", "approved": True, "comments": ["fine"], "severity": "none"}
    assert later["evaluation_result"]["items_to_implement"] == [{**ITEM, "disposition": "implement"}]
    assert later["approved_items"] == [1]
    assert later["goal"] is None  # a number does not fit the field, so it is left out
    assert [call["tool_name"] for call in later["tool_calls"]].count("shell") == 2
    assert len(later["tool_results"]) == len(later["tool_calls"])
    actions = [entry["action"] for entry in later["history"]]
    assert [actions.count(word) for word in ("task_started", "task_completed", "review_completed", "plan_validated")] == [2, 2, 2, 1]
    assert later["history"][: len(early["history"])] == early["history"]  # append-only
    assert server.tell(run, "signal", name="go", data={}).status in (200, 202)
    server.finish(run)
    done = server.get(f"/api/runs/{run}?view=pipeline").body
    assert done["status"] == "completed" and done["agentic_status"] == "completed" and done["pending_user_input"] is False


def test_the_older_vocabulary_has_the_same_work(home, server):
    run, question = begun(home, server)
    state = server.get(f"/api/runs/{run}?view=pipeline_v1").body
    assert state["issue"] == ISSUE and state["goal"] == "Correct addition" and state["plan_markdown"] == "# Plan"
    assert state["auto_approve"] is True and state["is_queued"] is False and state["agentic_status"] == "awaiting_approval"
    assert server.respond(question, "reject").status == 200
    server.finish(run)
    state = server.get(f"/api/runs/{run}?view=pipeline_v1").body
    assert state["human_approved"] is False and state["agentic_status"] == "failed" and state["error"]


def test_a_review_pipeline_is_a_base_state_with_the_same_members(home, server):
    run = server.run_of(home.define("""
name: looks
pipeline: review
steps:
  - name: review
    tool: review_merge
    inputs: {reviews: [{reviewer_persona: A, approved: false, comments: [bad], severity: major}, {reviewer_persona: B}]}
    milestone: {kind: review, passed: output.approved}
"""))
    server.finish(run)
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    assert state["pipeline_type"] == "review" and state["status"] == "completed"
    assert state["last_review"]["approved"] is False and state["last_review"]["severity"] == "major"
    assert state["review_iteration"] == 1


def test_a_plain_workflow_stays_a_base_state(home, server):
    run = server.run_of(home.define("name: plain\nsteps:\n  - {name: goal, tool: echo, inputs: {goal: x}, outputs: {goal: goal}}\n"))
    server.finish(run)
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    assert state["pipeline_type"] == "plain" and "goal" not in state and state["metadata"]["state"] == "succeeded"


def test_a_stored_state_is_a_valid_document(home, server):
    run, question = begun(home, server)
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "state.json"
        path.write_text(json.dumps(state))
        status, _, errors = home.cli("contract", "check", "pipeline.ImplementationState", str(path))
    assert status == 0, errors
    server.tell(run, "cancel")
    server.finish(run)
