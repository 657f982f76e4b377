"""Errors on the wire carry the class and the attributes of the runtime vocabulary; sessions and artifacts are shown."""

FAILS = """
name: fails
steps:
  - {name: lint, tool: shell, inputs: {command: "echo FAILED test_x; exit 3"}}
"""
AGENT = """
name: talks
agents:
  writer:
    driver: script
    model: m-1
    system: Be brief.
    options: {replies: [{contains: bad, fail: {code: rate_limited, text: slow down}}, {text: a haiku}]}
inputs:
  about: {default: rain}
steps:
  - {name: write, agent: writer, inputs: {prompt: "Write about ${inputs.about}"}}
"""
KEEPS = """
name: keeps
steps:
  - {name: first, tool: write_artifact, inputs: {name: report.md, content: "# one", media_type: text/markdown}}
  - {name: second, tool: write_artifact, depends_on: [first], inputs: {name: report.md, content: "# two", media_type: text/markdown}}
"""


def test_an_invalid_body_names_the_type_and_every_problem(server):
    problem = server.request("POST", "/api/run", {"workflw": "x", "inputs": []}).body
    assert problem["class"] == "SchemaValidationError"
    assert problem["model_name"] == "runtime.WorkflowRunRequest"
    assert [error["pointer"] for error in problem["validation_errors"]] == [d["pointer"] for d in problem["details"]]
    assert len(problem["details"]) >= 2


def test_an_unknown_adapter_lists_those_that_exist(server):
    answer = server.request("POST", "/api/run", {"workflow": "two-steps", "adapter": "other"})
    assert (answer.status, answer.body["code"]) == (400, "adapter_not_found")
    assert answer.body["class"] == "AdapterNotFoundError"
    assert answer.body["adapter_name"] == "other"
    assert answer.body["available_adapters"] == ["native", "sim", "replay"]


def test_an_unknown_workflow_is_a_workflow_error(server):
    problem = server.request("POST", "/api/run", {"workflow": "nothing-like-it"}).body
    assert (problem["code"], problem["class"]) == ("not_found", "WorkflowError")
    assert "model_name" not in problem


def test_a_failed_tool_says_which_step_and_tool(home, server):
    run = server.run_of(home.define(FAILS))
    step = server.finish(run)["steps"][0]
    failure = step["failure"]
    assert step["error"] == f'{failure["code"]}: {failure["message"]}'
    assert {name: failure[name] for name in ("class", "code", "step_id", "tool_name", "operation", "context")} == {
        "class": "ToolError", "code": "tool_failed", "step_id": "lint", "tool_name": "shell", "operation": "call",
        "context": {"attempt": 1}}
    assert server.steps(run)["lint"]["failure"] == failure


def test_a_failed_turn_says_which_agent_and_model(home, server):
    run = server.run_of(home.define(AGENT), {"about": "bad weather"})
    server.finish(run)
    failure = server.steps(run)["write"]["failure"]
    assert (failure["agent"], failure["model_name"], failure["code"]) == ("writer", "m-1", "rate_limited")
    assert "tool_name" not in failure


def test_the_sessions_of_agents_are_listed(home, server):
    run = server.run_of(home.define(AGENT))
    server.finish(run)
    sessions = server.get(f"/api/runs/{run}/sessions").body
    assert [(s["agent_name"], s["status"], s["summary"]) for s in sessions] == [("writer", "completed", "a haiku")]
    said = [(message["role"], message["content"]) for message in sessions[0]["message_history"]]
    assert said == [("user", "Write about rain"), ("assistant", "a haiku")]
    trace = server.get(f"/api/runs/{run}/trace").body
    assert [info["agent"] for info in trace["sub_agent_sessions"].values()] == ["writer"]


def test_artifacts_are_parts_and_are_listed_at_the_end(home, server):
    run = server.run_of(home.define(KEEPS))
    server.finish(run)
    task = server.get(f"/api/runs/{run}?view=task").body
    parts = [part["artifact"] for part in task["parts"] if part["type"] == "artifact"]
    assert [(part["version"], part["mime_type"], part["created_by"]) for part in parts] == [
        ("1", "text/markdown", "first"), ("2", "text/markdown", "second")]
    assert server.get(parts[0]["uri"]).body == b"# one"
    assert server.get(parts[1]["uri"]).body == b"# two"
    events = server.get(f"/api/runs/{run}/events?view=task").body["items"]
    complete = next(event for event in events if event["type"] == "event_task_complete")
    assert complete["artifacts_created"] == ["report.md"]
