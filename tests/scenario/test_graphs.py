"""Graph workflows: nodes, edges, a shared state with reducers, interrupts, and what the graph view shows of them."""
import json
import pathlib

import pytest
from baton import wait_until


def agent(*replies):
    return {"driver": "script", "options": {"replies": list(replies)}}


def supervised(**more):
    """A supervisor sends work to two agents and decides by routing keys."""
    return {
        "name": "supervised", "entry_point": "boss", "patterns": ["supervisor"],
        "state": {"notes": "append", "score": {"type": "number", "reducer": "add", "default": 1}, "draft": "string",
                  "facts": {"reducer": "merge"}, "tags": "union"},
        "agents": {
            "ada": agent({"step": "boss", "text": " research\n"}, {"step": "boss#2", "json": {"routing_key": "write", "score": 2}},
                         {"step": "boss#3", "text": "done"}),
            "bob": agent({"json": {"notes": ["a", "b"], "next_action": "write", "ignored": 1, "facts": {"x": 1, "y": 1}, "tags": ["p", "q"]}}),
            "eve": agent({"json": {"draft": "the text", "notes": "c", "score": 0.5, "facts": {"y": 2}, "tags": ["q", "r"], "metadata": {"k": 1}}})},
        "nodes": {"boss": {"type": "agent", "agent": "ada"}, "research": {"type": "agent", "agent": "bob", "description": "Find facts."},
                  "write": {"type": "agent", "agent": "eve"}, "check": {"type": "condition", "condition": "score > 3"},
                  "publish": {"type": "tool", "tool": "echo"}},
        "edges": [{"from": "boss", "to": {"research": "research", "write": "write", "done": "check"}}, {"from": "research", "to": "boss"},
                  {"from": "write", "to": "boss"}, {"from": "check", "to": {"true": "publish", "false": "__end__"}},
                  {"from": "publish", "to": "__end__"}],
        "checkpoints": ["write"], **more}


def started(home, server, file, inputs=None):
    """JSON is accepted where YAML is."""
    return server.run_of(home.define(json.dumps(file), file["name"]), inputs)


def finished(home, server, file, inputs=None):
    return server.finish(started(home, server, file, inputs))


def refused(home, file, name="g"):
    """The problems of a file, which is not started."""
    pathlib.Path(home.path, name + ".yaml").write_text(file if isinstance(file, str) else json.dumps(file, indent=1))
    status, out, narration = home.cli("run", name + ".yaml")
    assert status != 0
    return narration


def asked(server, step=None):
    """The question of a step, once it is asked."""
    wait_until(lambda: any(step in (None, one["step"]) for one in server.inbox()))
    return next(one for one in server.inbox() if step in (None, one["step"]))


def test_a_supervisor_routes_until_it_is_done(home, server):
    run = finished(home, server, supervised(), {"task": "Write about C."})
    assert run["status"] == "success", run
    state = run["outputs"]["state"]
    assert [one["role"] for one in state["messages"]] == ["user"] + ["assistant"] * 5 + ["tool"]
    assert state["notes"] == ["a", "b", "c"] and state["score"] == 3.5 and state["draft"] == "the text"
    assert state["facts"] == {"x": 1, "y": 2} and state["tags"] == ["p", "q", "r"] and state["metadata"] == {"k": 1}
    assert state["next_action"] == "write" and state["current_agent"] == "ada" and "ignored" not in state
    steps = server.steps(run["run_id"])
    assert {path for path, step in steps.items() if step["state"] == "succeeded"} == {
        "boss", "research", "write", "check", "publish", "boss#2", "boss#3"}


def test_an_agent_gets_the_messages_and_the_fields(home, server):
    run = finished(home, server, supervised(), {"task": "Write about C.", "score": 1.5})
    talk = server.get(f"/api/runs/{run['run_id']}/conversation").body
    text = json.dumps(talk)
    assert "Write about C." in text and "Find facts." in text
    assert "Reply with a JSON object whose routing_key is one of: research, write, done." in text
    assert "score: 1.5" in text and "notes: [" in text


def test_the_graph_view_shows_the_state_and_its_checkpoints(home, server):
    run = finished(home, server, supervised(), {"task": "Write about C."})["run_id"]
    state = server.get(f"/api/runs/{run}/conversation?view=graph").body
    assert state["current_agent"] == "ada" and state["routing_key"] == "true" and state["next_action"] == "write"
    assert state["metadata"] == {"k": 1, "notes": ["a", "b", "c"], "score": 3.5, "draft": "the text", "facts": {"x": 1, "y": 2},
                                 "tags": ["p", "q", "r"]}
    assert [one["content"] for one in state["messages"]][:2] == ["Write about C.", " research\n"]
    times = [one["timestamp"] for one in state["messages"]]
    assert times == sorted(times)
    [checkpoint] = server.get(f"/api/runs/{run}/checkpoints").body
    assert checkpoint["position"] == "write" and checkpoint["awaiting_human"] is False
    assert checkpoint["state"]["current_agent"] == "eve" and checkpoint["state"]["metadata"]["draft"] == "the text"


def test_the_state_survives_a_kill_at_a_question(home):
    file = supervised(interrupt_before=["publish"], interrupt_after=["research"])
    server = home.serve()
    run = started(home, server, file, {"task": "x"})
    question = asked(server)
    assert question["step"] == "research-after"
    server.kill()
    server = home.serve()
    question = asked(server)
    assert server.respond(question["id"], "modify", value={"score": 10, "messages": [{"role": "user", "content": "hurry"}]}).status == 200
    second = asked(server, "publish-before")
    checkpoints = server.get(f"/api/runs/{run}/checkpoints").body
    assert [one["position"] for one in checkpoints] == ["research-after", "write", "publish-before"]
    assert checkpoints[-1]["awaiting_human"] is True
    assert server.respond(second["id"], "approve").status == 200
    state = server.finish(run)["outputs"]["state"]
    assert state["score"] == 13.5 and "hurry" in [one["content"] for one in state["messages"]]


def test_two_nodes_that_end_together_both_change_the_state(home, server):
    """An edge without a condition is always taken: three nodes run in parallel, and no update is lost."""
    file = {"name": "fan", "entry_point": "start", "state": {"seen": "append", "sum": "add"},
            "nodes": {"start": {"type": "tool", "tool": "echo", "inputs": {}},
                      **{n: {"type": "tool", "tool": "echo", "inputs": {"seen": n, "sum": 1}} for n in ("a", "b", "c")}},
            "edges": [{"from": "start", "to": ["a", "b"]}, {"from": "start", "to": "c"}]}
    state = finished(home, server, file)["outputs"]["state"]
    assert sorted(state["seen"]) == ["a", "b", "c"] and state["sum"] == 3


def test_parallel_tasks_with_data_dependencies(home, server):
    """Tasks that need nothing run at once; one that consumes what another produces comes after it."""
    file = {"name": "tasks", "entry_point": "work", "state": {"seen": "append"},
            "agents": {"ann": agent({"json": {"seen": "ann"}})},
            "nodes": {"work": {"type": "parallel", "parallel_tasks": [
                {"name": "late", "tool": "echo", "inputs": {"seen": "late"}, "consumes": ["facts"]},
                {"name": "early", "tool": "echo", "inputs": {"seen": "early"}, "produces": ["facts"]},
                "ann", "sum"]},
                "sum": {"type": "tool", "tool": "echo", "inputs": {"seen": "sum"}}}, "edges": []}
    run = finished(home, server, file)
    assert run["outputs"]["state"]["seen"] == ["early", "late", "ann", "sum"] or sorted(run["outputs"]["state"]["seen"]) == [
        "ann", "early", "late", "sum"]
    ended = [e["data"]["step"] for e in server.events(run["run_id"]) if e["type"] == "step.computed"]
    assert ended.index("work/early") < ended.index("work/late")
    file["nodes"]["work"]["parallel_tasks"][1]["consumes"] = ["more"]
    file["nodes"]["work"]["parallel_tasks"][0]["produces"] = ["more"]
    assert "cycle: late -> early -> late" in refused(home, file) or "cycle: early -> late -> early" in refused(home, file)


def test_a_key_that_no_edge_knows_fails_loudly(home, server):
    file = supervised()
    file["agents"]["ada"] = agent({"text": "I do not know"})
    run = finished(home, server, file)
    assert run["status"] == "failed"
    assert 'routing_key: is null, and the edges of boss lead from research, write, done' in json.dumps(run)
    file["name"], file["edges"][0]["to"]["*"] = "lenient", "__end__"
    assert finished(home, server, file)["status"] == "success"


def test_a_result_that_does_not_fit_the_state_fails_its_node(home, server):
    file = supervised(name="unfit")
    file["agents"]["bob"] = agent({"json": {"score": "high"}})
    assert "score: cannot add a value of type string" in json.dumps(finished(home, server, file))


def test_endless_graphs_end_at_their_limits(home, server):
    file = {"name": "round", "entry_point": "a", "nodes": {n: {"type": "tool", "tool": "echo"} for n in "ab"},
            "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a", "condition": "true"}]}
    run = finished(home, server, file)
    assert run["status"] == "failed" and "max_iterations" in json.dumps(run)
    assert sum(path.startswith("a") for path in server.steps(run["run_id"])) == 10
    file["max_iterations"] = 4
    file["name"] = "shorter"
    run = finished(home, server, file)
    assert len(server.steps(run["run_id"])) <= 5


@pytest.mark.parametrize("change, says", [
    (lambda f: f["edges"].append({"from": "boss", "to": "wirte"}), "there is no node wirte; did you mean \"write\"?"),
    (lambda f: f.update(entry_point="bos"), "entry_point: there is no node bos; did you mean \"boss\"?"),
    (lambda f: f["nodes"]["write"].pop("agent"), "a node of type agent needs agent"),
    (lambda f: f["nodes"]["check"].update(tool="echo"), "a node of type condition has no tool"),
    (lambda f: f["nodes"]["publish"].update(tool="ehco"), "; did you mean \"echo\"?"),
    (lambda f: f["nodes"]["write"].update(agent="evve"), "agent evve does not exist: add it to `agents` of the file"),
    (lambda f: f["edges"].append({"from": "publish", "to": "publish"}), "publish -> publish"),
    (lambda f: f["edges"].extend([{"from": "publish", "to": "write"}, {"from": "write", "to": "publish"}]), "write -> publish -> write"),
    (lambda f: f.update(patterns=["reakt"]), "unknown pattern reakt; did you mean \"react\"?"),
    (lambda f: f.update(max_iterations=1001), "1000"),
    (lambda f: f["nodes"]["check"].update(condition="scor > 3"), "unknown name scor"),
    (lambda f: f["nodes"].update({"__end__": {"type": "human"}}), "__end__ is reserved"),
    (lambda f: f.update(checkpoints=["wriet"]), "there is no node wriet; did you mean \"write\"?"),
    (lambda f: f["edges"].append({"from": "boss", "to": 3}), "to is the name of a node"),
    (lambda f: f["state"].update(notes={"reducer": "apend"}), "append"),
])
def test_mistakes_are_reported_in_the_words_of_the_dialect(home, change, says):
    file = supervised()
    change(file)
    narration = refused(home, file)
    assert "graph workflow" in narration and says in narration, narration


def test_a_mistake_has_its_place_in_the_file(home):
    narration = refused(home, """name: g
entry_point: a
nodes:
  a: {type: tool, tool: echo}
  b:
    type: agent
    agent: nobody
edges:
  - from: a
    to: c
""")
    assert "10:9" in narration, narration


def test_a_person_can_be_a_node(home, server):
    file = {"name": "asked", "entry_point": "ask", "state": {"n": "number"},
            "nodes": {"ask": {"type": "human", "question": "Good?"}, "yes": {"type": "tool", "tool": "echo", "inputs": {"n": 1}},
                      "changed": {"type": "tool", "tool": "echo", "inputs": {"n": "${n + 1}"}}},
            "edges": [{"from": "ask", "to": {"approve": "yes", "modify": "changed"}}]}
    run = started(home, server, file)
    question = asked(server)
    server.respond(question["id"], "modify", value={"n": 41})
    assert server.finish(run)["outputs"]["state"]["n"] == 42
