"""The workflow brainstorm: a durable talk about a design, in the profile of a repository."""
import pytest
from pipelines import Repository, call, profile, script, team
from test_agent_cli import chat

DESIGN = "# Rate limits\n\nA counter for each key.\n"
TALKS = script({"turn": 2, "contains": "Redis", "calls": [{"name": "write_artifact", "arguments": {"name": "design.md", "content": DESIGN}}]},
               {"turn": 3, "text": "The design is written."},
               {"contains": "break", "fail": {"code": "forbidden", "text": "no"}},
               {"turn": 1, "thinking": "what is there?", "calls": [call("read_file", path="README.md")]},
               {"text": "Where are the counters kept?\n1. in memory\n2. in a store (I would take this one)"})


@pytest.fixture(name="server")
def server_of_home(home):
    return home.serve()


def begin(server, tmp_path, agents=None, **inputs):
    made = Repository(tmp_path / "repository")
    profile(server, made, agents or team(brainstormer=TALKS))
    answer = server.request("POST", "/api/run", {"workflow": "brainstorm", "inputs": {"topic": "We need rate limits.", **inputs}})
    assert answer.status == 202, answer
    return made, answer.body["run_id"]


def say(server, run, content=None, **data):
    data = data or {"role": "user", "content": content}
    assert server.tell(run, "signal", name="message", data=data).status == 200


def rounds(server, run, count):
    """Waits until the run has asked for the next message this often."""
    with server.stream(f"/api/runs/{run}/stream") as stream:
        for told in stream:
            count -= told.event["type"] == "timer.requested"
            if count == 0:
                return
    raise AssertionError("the run has ended")


def words(server, run):
    events = server.get(f"/api/runs/{run}/events?view=pipeline&limit=1000").body["items"]
    assert {event["domain"] for event in events} == {"brainstorm"} and {event["session_id"] for event in events} == {run}
    return [event["event_type"] for event in events if event["event_type"].startswith("brainstorm_")]


def test_a_talk_ends_with_a_design_and_survives_the_server(home, server, tmp_path):
    made, run = begin(server, tmp_path)
    rounds(server, run, 1)
    assert server.kill() is not None
    server = home.serve()
    say(server, run, "In Redis.")
    rounds(server, run, 2)
    say(server, run, end=True)
    result = server.finish(run)
    assert server.get(f"/api/runs/{run}/steps").body["state"] == "succeeded" and DESIGN in str(result).replace("\\n", "\n"), result
    assert words(server, run) == ["brainstorm_session_created", "brainstorm_reasoning", "brainstorm_tool_call", "brainstorm_tool_result",
                                  "brainstorm_text", "brainstorm_tool_call", "brainstorm_tool_result", "brainstorm_artifact_created",
                                  "brainstorm_text", "brainstorm_session_completed"]
    assert server.get(f"/api/runs/{run}?view=pipeline").body["pipeline_type"] == "brainstorm"
    assert made.untouched() and made.git("branch", "--list") == "* main"


def test_a_reply_that_fails_does_not_end_the_talk(server, tmp_path):
    _, run = begin(server, tmp_path)
    rounds(server, run, 1)
    say(server, run, "break it")
    rounds(server, run, 2)
    say(server, run, "In Redis.")
    rounds(server, run, 3)
    assert words(server, run)[-1] == "brainstorm_text"


def test_a_talk_without_a_design_ends_too(server, tmp_path):
    _, run = begin(server, tmp_path)
    rounds(server, run, 1)
    say(server, run, end=True)
    server.finish(run)
    assert server.get(f"/api/runs/{run}/artifacts").body["items"] == []
    assert words(server, run)[-1] == "brainstorm_session_completed"


def test_the_talk_goes_on_in_a_terminal(home, server, tmp_path):
    _, run = begin(server, tmp_path)
    rounds(server, run, 1)
    output, errors = chat(home, run, says="In Redis.\n/end\n")
    assert "Where are the counters kept?" in output + errors and "The design is written." in output
    server.finish(run)
    status, text, errors = home.cli("artifacts", run, "design.md")
    assert status == 0 and text == DESIGN, errors


def test_a_profile_without_a_brainstormer_is_named(server, tmp_path):
    agents = {name: config for name, config in team().items() if name != "brainstormer"}
    made = Repository(tmp_path / "repository")
    profile(server, made, agents)
    answer = server.request("POST", "/api/run", {"workflow": "brainstorm", "inputs": {"topic": "x"}})
    assert answer.status == 422 and "brainstormer" in str(answer.body), answer
    assert server.request("POST", "/api/run", {"workflow": "brainstorm", "inputs": {}}).status == 422
