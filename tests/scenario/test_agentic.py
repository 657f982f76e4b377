"""Agents started with a goal: POST /api/agentic, chats, and the conversation of an agent with tools."""
import json
import os

from baton import new_id

from test_agents import create


def agent(server, *replies, name="ada", **more):
    made = create(server, name, options={"replies": list(replies)}, **more)
    assert made.status == 201, made


def begin(server, headers=None, **body):
    return server.request("POST", "/api/agentic", body, headers)


def talks(server, run):
    return server.get(f"/api/runs/{run}/conversation").body["talks"]


def say(server, run, text=None, **data):
    answer = server.request("POST", f"/api/runs/{run}/signal",
                            {"name": "message", "data": data or {"role": "user", "content": text}})
    assert answer.status == 200, answer


def turns(server, run, count):
    """Waits until so many turns have ended."""
    with server.stream(f"/api/runs/{run}/stream") as stream:
        for told in stream:
            count -= told.event["type"] == "turn.finished"
            if count == 0:
                return
    raise AssertionError("the run ended")


def test_an_agent_works_on_a_goal(server):
    agent(server, {"contains": "Greet Grace", "text": "Good morning."})
    answer = begin(server, {"Prefer": "wait=600"}, agent="ada", goal="Greet Grace.")
    assert answer.status == 200 and answer.body["outputs"]["text"] == "Good morning."
    assert (answer.body["workflow"], answer.body["labels"]) == ("agent", {"agent": "ada"})
    run = new_id()
    other = begin(server, agent="ada", task="Greet Grace.", run_id=run)  # task is another word for goal
    assert (other.status, other.body) == (202, {"run_id": run, "status": "queued"})
    server.finish(run)
    (talk,) = talks(server, run)
    assert (talk["step"], talk["agent"], talk["turns"][0]["text"]) == ("ada", "ada", "Good morning.")
    assert begin(server, agent="ada", goal="Greet Grace.", run_id=run).status == 409


def test_a_request_is_repeated_without_a_second_run(server):
    agent(server, {"text": "Hello."})
    first = begin(server, {"Idempotency-Key": "one"}, agent="ada", goal="x").body["run_id"]
    assert begin(server, {"Idempotency-Key": "one"}, agent="ada", goal="x").body["run_id"] == first


def test_what_cannot_begin(server):
    agent(server, {"text": "Hello."})
    for body, status, says in (({"agent": "bob", "goal": "x"}, 422, "bob"),
                               ({"agent": "ada"}, 422, "must say what the agent shall do"),
                               ({"goal": "x"}, 422, "agent"),
                               ({"agent": "a: b", "goal": "x"}, 422, "agent"),
                               ({"agent": "ada", "goal": "x", "gaol": "y"}, 422, "goal")):
        answer = begin(server, **body)
        assert answer.status == status and says in str(answer.body), answer


def test_a_chat_replies_to_each_message_and_survives_the_server(home, server):
    agent(server, {"contains": "weather", "text": "It rains."}, {"text": "I see."})
    run = begin(server, agent="ada", chat=True).body["run_id"]
    say(server, run, "How is the weather?")
    turns(server, run, 1)
    server.kill()
    server = home.serve()
    say(server, run, "What a pity.")
    turns(server, run, 2)
    newest = talks(server, run)[-1]
    assert [(one["role"], one["content"]) for one in newest["messages"]] == [
        ("user", "How is the weather?"), ("assistant", "It rains."), ("user", "What a pity.")]
    assert newest["turns"][0]["text"] == "I see."
    say(server, run, end=True)
    result = server.finish(run)
    assert (result["status"], result["metadata"]["state"], result.get("warnings")) == ("success", "succeeded", None)
    assert len(talks(server, run)) == 2


def test_a_chat_begins_with_its_goal_and_goes_on_after_a_failure(server):
    agent(server, {"contains": "break", "fail": {"code": "forbidden", "text": "no"}}, {"text": "Hello."})
    run = begin(server, agent="ada", chat=True, goal="break").body["run_id"]
    turns(server, run, 1)
    say(server, run, "Are you there?")
    turns(server, run, 2)
    failed, good = talks(server, run)
    assert failed["turns"][0]["error"] == "forbidden: no" and good["turns"][0]["text"] == "Hello."
    assert [one["role"] for one in good["messages"]] == ["user", "assistant", "user"]
    server.tell(run, "cancel")


DEV = """
name: dev
agents:
  ada:
    driver: script
    system: You work.
    tools: [shell, write_file]
    options:
      replies:
        - turn: 1
          thinking: I should look.
          text: Looking.
          calls:
            - {name: nothing}
            - {name: shell, arguments: {command: "echo hi; echo bad >&2; exit 3"}}
            - {name: shell, arguments: {command: "seq 1 10000"}}
        - {turn: 2, text: All done.}
steps:
  - {name: dev, agent: ada, inputs: {prompt: Work on it.}}
"""


def test_the_calls_of_an_agent_with_tools(home, server):
    home.define(DEV)
    run = server.start("dev", wait=True).body["run_id"]
    (talk,) = talks(server, run)
    assert (talk["step"], talk["state"], [one["step"] for one in talk["turns"]]) == (
        "dev", "succeeded", ["dev[1]/turn", "dev[2]/turn"])
    first, last = talk["turns"]
    assert (first["thinking"], first["text"], first["stop"], last["text"]) == (
        "I should look.", "Looking.", "calls", "All done.")
    nothing, bad, long = first["calls"]
    assert "there is no tool nothing" in nothing["error"] and "step" not in nothing
    assert (bad["step"], bad["state"], bad["result"]) == ("dev[1]/shell", "succeeded", "hi\nbad\n[exit status 3]")
    assert bad["arguments"]["command"].startswith("echo hi")
    assert long["step"] == "dev[1]/shell#2" and long["result"].startswith("1\n2\n")
    assert len(long["result"]) == 16384 and long["result_left_out"] == 48894 - 16384
    for path in ("dev", "dev[2]/turn"):
        assert server.get(f"/api/runs/{run}/steps/{path}/reply").body["text"] == "All done."


def views(home, server, run, view, entity):
    """The conversation in another vocabulary; every message is valid there."""
    answer = server.get(f"/api/runs/{run}/conversation?view={view}")
    assert answer.status == 200, answer
    for one in answer.body if isinstance(answer.body, list) else [answer.body]:
        path = os.path.join(home.data, "message.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(one, file)
        status, _, errors = home.cli("contract", "check", entity, path)
        assert status == 0, (one, errors)
    return answer.body


def test_a_conversation_in_other_vocabularies(home, server):
    home.define(DEV)
    run = server.start("dev", wait=True).body["run_id"]
    messages = views(home, server, run, "pipeline", "pipeline.AgenticMessage")
    assert [one["type"] for one in messages] == [
        "thinking", "thinking", "tool_call", "tool_result", "tool_call", "tool_result", "tool_call", "tool_result", "result"]
    assert messages[3]["is_error"] and messages[-1]["content"] == "All done."
    assert messages[4]["tool_call_id"] == messages[5]["tool_call_id"] and messages[5]["tool_output"].startswith("hi")
    messages = views(home, server, run, "runtime", "runtime.AgentMessage")
    assert [one["type"] for one in messages] == [
        "task", "status", "status", "tool_call", "tool_result", "tool_call", "tool_result", "tool_call", "tool_result", "response"]
    assert (messages[0]["sender"], messages[0]["recipient"], messages[0]["content"]) == ("user", "ada", "Work on it.")
    assert messages[4]["parent_id"] == messages[3]["id"] and messages[-1]["parent_id"] == messages[0]["id"]
    steps = views(home, server, run, "task", "task.TaskStep")
    assert [[part["type"] for part in step["parts"]] for step in steps] == [
        ["text"], ["text"] + ["tool_call", "tool_result"] * 3, ["text"]]
    state = views(home, server, run, "graph", "graph.State")
    assert [one["role"] for one in state["messages"]] == ["user", "assistant", "tool", "tool", "tool", "assistant"]
    assert [call["tool"] for call in state["messages"][1]["tool_calls"]] == ["nothing", "shell", "shell"]
    assert state["current_agent"] == "ada"
    for view, says in (("pipeline_v1", "has no messages of agents"), ("x", "unknown view")):
        refused = server.get(f"/api/runs/{run}/conversation?view={view}")
        assert refused.status == 400 and says in refused.body["detail"]


def test_a_chat_in_another_vocabulary_has_each_message_once(home, server):
    agent(server, {"text": "I see.", "usage": {"input_tokens": 7}})
    run = begin(server, agent="ada", chat=True, goal="One.").body["run_id"]
    say(server, run, "Two.")
    turns(server, run, 2)
    state = views(home, server, run, "graph", "graph.State")
    assert [one["content"] for one in state["messages"]] == ["One.", "I see.", "Two.", "I see."]
    assert [one["type"] for one in views(home, server, run, "pipeline", "pipeline.AgenticMessage")] == ["result", "usage"] * 2
    server.tell(run, "cancel")
