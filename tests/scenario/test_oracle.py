"""The oracle: POST /api/oracle/consult, baton oracle, and the tool of agents."""
import os

import pytest
from pipelines import Repository, call, profile, script, team


@pytest.fixture(name="server")
def server_of_home(home):
    return home.serve()


THINKS = {"turn": 1, "thinking": "the counter looks odd", "calls": [call("read_file", path="src/counter.py"), call("grep", pattern="count")]}
ADVISES = script(THINKS, {"text": "Reset the counter.", "usage": {"input_tokens": 30, "output_tokens": 5, "cost_usd": 0.25}})


def consult(server, seconds=60, **body):
    headers = {"Prefer": f"wait={seconds}"} if seconds else {}
    return server.request("POST", "/api/oracle/consult", {"problem": "Why does it grow?", **body}, headers=headers)


def words(server, run, **query):
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return [event["event_type"] for event in server.get(f"/api/runs/{run}/events?view=pipeline&limit=1000&{asked}").body["items"]]


def repository(tmp_path):
    made = Repository(tmp_path / "repository")
    made.write("src/counter.py", "count = 1\n")
    made.write("src/data.bin", "\0\1\2")
    made.write("docs/notes.md", "notes\n")
    made.base = made.commit("files")
    made.write("src/untracked.py", "secret\n")
    return made


def test_a_consultation_answers_with_advice_and_its_record(server, tmp_path):
    made = repository(tmp_path)
    profile(server, made, team(oracle=ADVISES))
    other = "11111111-1111-4111-8111-111111111111"
    answer = consult(server, files=["src/*", "docs/*.md", "src/counter.py"], workflow_id=other)
    assert answer.status == 200, answer
    assert answer.body["advice"] == "Reset the counter."
    record = answer.body["consultation"]
    run = record["session_id"]
    assert record["problem"] == "Why does it grow?" and record["advice"] == "Reset the counter."
    assert record["outcome"] == "success" and record["error_message"] is None
    assert record["model"] == "play" and record["workflow_id"] == other
    # Binary files and files that git does not track are left out; a file that two patterns match is there once.
    assert record["files_consulted"] == ["src/counter.py", "docs/notes.md"]
    assert set(record["tokens"]) == {"input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"}
    assert record["tokens"]["output_tokens"] > 0
    assert server.get(f"/api/runs/{run}/consultation").body == answer.body
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    assert state["pipeline_type"] == "oracle" and state["oracle_consultations"] == [record]
    prompt = server.get(f"/api/runs/{run}/conversation").body
    assert "count = 1" in str(prompt) and "secret" not in str(prompt)
    assert made.git("rev-parse", "HEAD") == made.base and made.git("branch", "--list") == "* main"


def test_the_events_of_a_consultation_are_those_of_the_oracle(server, tmp_path):
    profile(server, repository(tmp_path), team(oracle=ADVISES))
    run = consult(server).body["consultation"]["session_id"]
    seen = [word for word in words(server, run) if word.startswith("oracle_")]
    assert seen[:2] == ["oracle_consultation_started", "oracle_consultation_thinking"] and seen[-1] == "oracle_consultation_completed"
    assert sorted(seen[2:-1]) == ["oracle_tool_call", "oracle_tool_call", "oracle_tool_result", "oracle_tool_result"]
    assert not any(word.startswith(("workflow_", "claude_")) for word in words(server, run))
    events = server.get(f"/api/runs/{run}/events?view=pipeline&limit=1000").body["items"]
    assert {event["domain"] for event in events} == {"oracle"} and {event["session_id"] for event in events} == {run}
    assert words(server, run, domain="oracle") == words(server, run) and words(server, run, domain="workflow") == []


def test_a_consultation_that_fails_says_why(server, tmp_path):
    profile(server, repository(tmp_path), team(oracle=script({"calls": [call("read_file", path="README.md")]})))
    answer = consult(server, files=["../outside"])
    assert answer.status == 200 and answer.body["advice"] is None, answer
    record = answer.body["consultation"]
    assert record["outcome"] == "error" and "bundle" in record["error_message"]
    assert words(server, record["session_id"])[-1] == "oracle_consultation_failed"


def test_without_prefer_the_answer_is_the_run(server, tmp_path):
    profile(server, repository(tmp_path), team(oracle=ADVISES))
    answer = consult(server, seconds=0)
    assert answer.status == 202 and set(answer.body) >= {"run_id", "status"}
    server.finish(answer.body["run_id"])
    assert server.get(f"/api/runs/{answer.body['run_id']}/consultation").body["advice"] == "Reset the counter."


def test_the_folder_must_be_inside_of_the_repository(server, tmp_path):
    made = repository(tmp_path)
    profile(server, made, team(oracle=ADVISES))
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", made.folder / "out")
    for folder in (tmp_path / "elsewhere", made.folder / "out", made.folder / "..", tmp_path / "repository-2"):
        folder.mkdir(exist_ok=True)
        refused = consult(server, working_dir=str(folder))
        assert refused.status == 403 and "outside of the repository" in str(refused.body), refused
    assert consult(server, working_dir="src").status == 422
    assert consult(server, working_dir=str(made.folder / "none")).status == 404
    answer = consult(server, working_dir=str(made.folder / "src"), files=["*.py"])
    assert answer.body["consultation"]["files_consulted"] == ["src/counter.py"]
    assert "The problem is about the folder src." in str(server.get(f"/api/runs/{answer.body['consultation']['session_id']}/conversation").body)


def test_bad_requests_are_refused(server, tmp_path):
    assert consult(server, working_dir=str(tmp_path)).status in (409, 422, 500)
    profile(server, repository(tmp_path), team(oracle=ADVISES))
    for body in ({"problem": "  "}, {"problem": ""}, {"files": ["a\nb"]}, {"files": [" "]}, {"workflow_id": "x"}, {"model": ""}, {"more": 1}):
        refused = consult(server, **body)
        assert refused.status == 422, (body, refused)
    assert consult(server, profile_id="nowhere").status in (409, 422, 500)


def test_a_model_of_the_request_answers(server, tmp_path):
    profile(server, repository(tmp_path), team(oracle=ADVISES))
    assert consult(server, model="other").body["consultation"]["model"] == "other"
    assert consult(server).body["consultation"]["model"] == "play"


def test_another_model_needs_an_agent_of_the_profile(home, server, tmp_path):
    home.define("name: plain\nsteps:\n  - {name: one, tool: echo, inputs: {}}\n")
    start = {"workflow": "plain", "models": {"nobody": "x"}}
    assert "the run's profile has no agent nobody" in str(server.request("POST", "/api/run", start).body)
    profile(server, repository(tmp_path), team(oracle=ADVISES))
    assert "the run's profile has no agent nobody" in str(server.request("POST", "/api/run", start).body)


def test_a_run_that_is_no_consultation_has_none(home, server):
    run = server.run_of(home.define("name: plain\nsteps:\n  - {name: one, tool: echo, inputs: {}}\n"))
    server.finish(run)
    refused = server.get(f"/api/runs/{run}/consultation")
    assert refused.status == 404 and "not a consultation" in str(refused.body)


def test_a_kill_in_between_asks_once(home, tmp_path):
    server = home.serve()
    slow = script({"turn": 1, "calls": [call("read_file", path="src/counter.py")]}, {"text": "Reset it."})
    profile(server, repository(tmp_path), team(oracle=slow))
    run = consult(server, seconds=0).body["run_id"]
    server.until(run, "turn.finished")
    server.kill()
    server = home.serve()
    server.finish(run)
    answer = server.get(f"/api/runs/{run}/consultation").body
    assert answer["advice"] == "Reset it." and answer["consultation"]["files_consulted"] == ["src/counter.py"]
    assert words(server, run).count("oracle_consultation_started") == 1


CONSULTING = """
name: consulting
pipeline: implementation
agents:
  developer: {tools: ["workflow:oracle"], max_turns: 4}
steps:
  - {name: work, agent: developer, inputs: {prompt: Build it.}}
outputs:
  said: {from: "${steps.work.outputs.text}"}
"""


def test_an_agent_consults_the_oracle_with_a_tool(home, server, tmp_path):
    developer = script({"turn": 1, "calls": [call("oracle", problem="Which way?", files=["src/*.py"])]}, {"text": "done as advised"})
    profile(server, repository(tmp_path), team(oracle=ADVISES, developer=developer))
    run = server.run_of(home.define(CONSULTING))
    server.finish(run)
    state = server.get(f"/api/runs/{run}?view=pipeline").body
    (record,) = state["oracle_consultations"]
    assert record["problem"] == "Which way?" and record["advice"] == "Reset the counter." and record["workflow_id"] == run
    assert record["model"] == "play" and record["tokens"]["output_tokens"] > 0 and record["files_consulted"] == ["src/counter.py"]
    assert record == server.get(f"/api/runs/{record['session_id']}/consultation").body["consultation"]
    assert "Reset the counter." in str(server.get(f"/api/runs/{run}/conversation").body)
    # The consultation has its own events; those of the run that asked are of the domain workflow.
    assert {event["domain"] for event in server.get(f"/api/runs/{run}/events?view=pipeline&limit=1000").body["items"]} == {"workflow"}
    assert words(server, record["session_id"], domain="oracle")[0] == "oracle_consultation_started"


def test_a_consultation_of_an_agent_that_fails_is_recorded(home, server, tmp_path):
    developer = script({"turn": 1, "calls": [call("oracle", problem="Which way?", files=["../outside"])]}, {"text": "done without it"})
    profile(server, repository(tmp_path), team(oracle=ADVISES, developer=developer))
    run = server.run_of(home.define(CONSULTING))
    server.finish(run)
    (record,) = server.get(f"/api/runs/{run}?view=pipeline").body["oracle_consultations"]
    assert record["outcome"] == "error" and record["advice"] is None and "bundle" in record["error_message"]


def test_the_command_prints_the_advice(home, server, tmp_path):
    made = repository(tmp_path)
    profile(server, made, team(oracle=ADVISES))
    status, output, errors = home.cli("oracle", "Why does it grow?", "--file", "src/*.py", under=("env", "-C", str(made.folder)))
    assert status == 0 and output == "Reset the counter.\n", (output, errors)
    assert "read_file" in errors
    status, output, errors = home.cli("oracle", " ", under=("env", "-C", str(made.folder)))
    assert status == 2 and "describe the problem" in errors
    status, output, errors = home.cli("oracle", "x", "--file", "../outside", under=("env", "-C", str(made.folder)))
    assert status == 1 and "bundle" in errors
