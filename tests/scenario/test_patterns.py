"""`patterns` of a graph workflow: expanded into nodes, one behind the other or where an edge names them."""
import json

import pytest

SCRIPT = {"driver": "script", "options": {"replies": [{"text": "fine"}]}}


def replies(*all):
    return {"driver": "script", "options": {"replies": list(all)}}


def done(home, server, file, **inputs):
    home.define(json.dumps({"name": "p", **file}), "p")
    run = server.finish(server.run_of("p", {"task": "Explain it.", **inputs}))
    steps = [event["data"]["step"] for event in server.events(run["run_id"])
             if event["type"] in ("turn.finished", "step.computed", "tool.finished")]
    return run, steps


def validate(server, file):
    return server.request("POST", "/api/workflows/validate", {"name": "p", "yaml_content": json.dumps({"name": "p", **file}, indent=1)}).body


def nodes(server):
    return {node["id"]: node for node in server.get("/api/workflows/p/dag").body["nodes"]}


def test_react_thinks_acts_and_observes(home, server):
    ada = replies({"step": "react_think", "json": {"next_action": "look into the log", "routing_key": "act"}},
                  {"step": "react_act", "contains": "look into the log", "text": "It is full."},
                  {"step": "react_think#2", "json": {"routing_key": "done"}})
    run, steps = done(home, server, {"patterns": ["react"], "agents": {"ada": ada}})
    assert run["status"] == "success", run
    assert steps == ["react_think", "react_act", "react_observe", "react_think#2"]
    assert run["outputs"]["state"]["react_rounds"] == 1


def test_reflection_ends_after_its_rounds(home, server):
    agents = {"writer": SCRIPT, "critic": replies({"json": {"routing_key": "refine"}})}
    run, steps = done(home, server, {"patterns": [{"pattern": "reflection", "rounds": 2}], "agents": agents})
    assert run["status"] == "success" and run["outputs"]["state"]["reflection_rounds"] == 2
    assert [step.split("_")[1] for step in steps] == ["generate", "critique", "refine", "round", "critique#2", "refine#2", "round#2"]


def test_patterns_are_composed_in_sequence(home, server):
    agents = {"ada": replies({"step": "reflection_critique", "json": {"routing_key": "accept"}}, {"text": "yes"})}
    run, steps = done(home, server, {"patterns": ["cot", "reflection", {"pattern": "cot", "name": "last"}], "agents": agents})
    assert run["status"] == "success", run
    assert steps == ["cot_think", "cot_answer", "reflection_generate", "reflection_critique", "last_think", "last_answer"]
    assert set(nodes(server)) == {"cot_think", "cot_answer", "reflection_generate", "reflection_critique", "reflection_refine",
                                  "reflection_round", "last_think", "last_answer"}


def test_map_reduce_gives_each_part_to_a_worker(home, server):
    agents = {"splitter": replies({"json": {"map_reduce_parts": ["one", "two"]}}), "reducer": replies({"contains": "did two", "text": "both"}),
              "worker": replies({"contains": "one", "text": "did one"}, {"contains": "two", "text": "did two"})}
    run, steps = done(home, server, {"patterns": [{"pattern": "map_reduce", "parts": 2}], "agents": agents})
    assert run["status"] == "success", run
    assert sorted(steps) == ["map_reduce_map/part_1", "map_reduce_map/part_2", "map_reduce_reduce", "map_reduce_split"]


def test_supervisor_router_and_chain_use_the_agents_of_the_file(home, server):
    agents = {"boss": replies({"step": "supervisor_lead", "text": "ann"}, {"step": "supervisor_lead#2", "text": "bob"}, {"text": "done"}),
              "ann": SCRIPT, "bob": SCRIPT}
    run, steps = done(home, server, {"patterns": [{"pattern": "supervisor", "agents": {"supervisor": "boss"}}], "agents": agents})
    assert run["status"] == "success", run
    assert steps == ["supervisor_lead", "supervisor_ann", "supervisor_lead#2", "supervisor_bob", "supervisor_lead#3"]
    agents["boss"] = replies({"text": "bob"})
    run, steps = done(home, server, {"patterns": [{"pattern": "router", "agents": {"router": "boss"}}], "agents": agents})
    assert steps == ["router_route", "router_bob"]
    run, steps = done(home, server, {"patterns": [{"pattern": "chain", "workers": ["bob", "ann"]}], "agents": agents})
    assert steps == ["chain_bob", "chain_ann"]


def test_every_pattern_runs(home, server):
    """With simulated models: each pattern is a graph that comes to its end."""
    agents = {name: {"driver": "api:openai", "model": "m"} for name in ("lead", "ann", "bob")}
    for name in ("react", "reflection", "cot", "tot", "debate", "plan_execute", "supervisor", "chain", "map_reduce", "router"):
        home.define(json.dumps({"name": "p", "patterns": [{"pattern": name, "agent": "lead"}], "agents": agents}), "p")
        answer = server.request("POST", "/api/run", {"workflow": "p", "inputs": {"task": "x"}, "adapter": "sim"})
        assert answer.status == 202, (name, answer)
        run = server.finish(answer.body["run_id"])
        assert run["status"] == "success", (name, run)
        assert all(one.startswith(name + "_") for one in nodes(server)), name


def test_an_edge_leads_into_a_pattern_and_out_of_it(home, server):
    file = {"patterns": ["reflection"], "entry_point": "ask", "agents": {"ada": replies({"step": "reflection_critique", "json": {"routing_key": "accept"}}, {"text": "yes"})},
            "nodes": {"ask": {"type": "tool", "tool": "echo"}, "publish": {"type": "tool", "tool": "echo"}},
            "edges": [{"from": "ask", "to": "reflection"}, {"from": "reflection", "to": "publish"}]}
    run, steps = done(home, server, file)
    assert run["status"] == "success", run
    assert [step for step in steps if step != "reflection_end"] == ["ask", "reflection_generate", "reflection_critique", "publish"]
    assert {"reflection_refine", "reflection_end"} <= set(nodes(server))


def test_a_pattern_that_nothing_leads_to_is_a_warning(server):
    answer = validate(server, {"patterns": ["reflection"], "entry_point": "a", "nodes": {"a": {"type": "tool", "tool": "echo"}}, "edges": []})
    assert answer["is_valid"] and any("pattern reflection has no nodes" in one for one in answer["warnings"]), answer


@pytest.mark.parametrize("patterns, says", [
    (["reflektion"], "unknown pattern reflektion; did you mean \"reflection\"?"),
    ([{"pattern": "react", "round": 3}], "round"),
    ([{"pattern": "react", "rounds": 1000}], "rounds"),
    ([{"pattern": "supervisor", "agent": "ada"}], "needs agents that do the work"),
    ([{"pattern": "react", "agent": "zoe"}], "zoe"),
    (["cot"] * 101, "at most 100 patterns"),
    ("cot", "patterns"),
    ([7], "pattern"),
])
def test_mistakes_have_their_place(server, patterns, says):
    answer = validate(server, {"patterns": patterns, "agents": {"ada": SCRIPT}})
    assert not answer["is_valid"] and any(says in one for one in answer["errors"]), answer
    assert all(problem["line"] >= 3 for problem in answer["problems"] if says in problem["text"]), answer
