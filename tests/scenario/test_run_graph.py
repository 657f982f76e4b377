"""A run's graph as boxes, and its trace and sessions in the graph vocabulary."""
from baton import new_id

SHAPES = """
name: shapes
steps:
  - {name: plan, tool: echo, inputs: {text: plan}}
  - name: each
    depends_on: [plan]
    map:
      over: [1, 2, 3]
      steps:
        - {name: work, tool: echo, inputs: {text: "${item}"}}
        - {name: check, tool: echo, depends_on: [work], inputs: {text: x}}
  - name: improve
    depends_on: [plan]
    loop:
      until: "false"
      max: 2
      on_limit: continue
      steps:
        - {name: draft, tool: echo, inputs: {text: y}}
  - {name: hold, tool: shell, depends_on: [each, improve], inputs: {command: "echo up > told; read -r word < gate"}}
  - {name: last, tool: echo, depends_on: [hold], inputs: {text: done}}
"""

CYCLE = """
name: cycle
steps:
  - {name: begin, tool: echo, join: any, entry: true, inputs: {text: a}, next: [{to: judge}]}
  - name: judge
    condition: "1"
    join: any
    next: [{to: begin, when: "steps.judge.outputs.value == 2"}, {to: done, when: "steps.judge.outputs.value == 1"}]
  - {name: done, tool: echo, join: any, inputs: {text: z}}
"""

CHILD = """
name: child
steps:
  - {name: only, tool: echo, inputs: {text: "from the child"}}
outputs:
  said: {from: "${steps.only.outputs.text}"}
"""

PARENT = """
name: parent
steps:
  - {name: ask, workflow: child}
"""

PLACE = ("x", "y", "width", "height", "layer")


def graph(server, run):
    answer = server.get(f"/api/runs/{run}/graph")
    assert answer.status == 200, answer
    check(answer.body)
    return answer.body


def check(picture):
    """No box on another one, bodies in their boxes, lines that lead on."""
    nodes = {node["path"]: node for node in picture["nodes"]}
    assert len(nodes) == len(picture["nodes"])
    for node in picture["nodes"]:
        assert node["x"] + node["width"] <= picture["width"] and node["y"] + node["height"] <= picture["height"]
        if "within" in node:
            around = nodes[node["within"]]
            assert around["x"] < node["x"] and node["x"] + node["width"] < around["x"] + around["width"]
            assert around["y"] < node["y"] and node["y"] + node["height"] < around["y"] + around["height"]
        for other in picture["nodes"]:
            if other is not node and other.get("within") == node.get("within"):
                assert (node["x"] + node["width"] <= other["x"] or other["x"] + other["width"] <= node["x"]
                        or node["y"] + node["height"] <= other["y"] or other["y"] + other["height"] <= node["y"])
    for edge in picture["edges"]:
        if not edge["back"]:
            assert nodes[edge["from"]]["layer"] < nodes[edge["to"]]["layer"]
            assert nodes[edge["from"]]["y"] + nodes[edge["from"]]["height"] < nodes[edge["to"]]["y"]


def states(picture):
    return {node["path"]: node["state"] for node in picture["nodes"]}


def places(picture):
    return {node["path"]: [node[name] for name in PLACE] for node in picture["nodes"]}


def test_states_change_and_nothing_moves_also_through_a_kill(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(SHAPES)
    assert server.start("shapes", run_id=run).status == 202
    told.await_line()
    before = graph(server, run)
    assert states(before) == {"plan": "succeeded", "each": "succeeded", "each/work": "succeeded",
                              "each/check": "succeeded", "improve": "succeeded", "improve/draft": "succeeded",
                              "hold": "running", "last": "pending"}
    assert before["state"] == "running"
    server.kill()
    again = home.serve()
    told.await_line()
    during = graph(again, run)
    assert places(during) == places(before) and during["seq"] > before["seq"]
    gate.send()
    again.finish(run)
    after = graph(again, run)
    assert places(after) == places(before) and after["edges"] == before["edges"]
    assert (after["state"], states(after)["hold"], states(after)["last"]) == ("succeeded",) * 3


def test_items_and_rounds_are_counts(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(SHAPES)
    server.start("shapes", run_id=run)
    told.await_line()
    gate.send()
    server.finish(run)
    nodes = {node["path"]: node for node in graph(server, run)["nodes"]}
    assert (nodes["each"]["items"], nodes["each"]["activations"]) == (3, 1)
    assert (nodes["each/work"]["activations"], nodes["each/work"]["succeeded"]) == (3, 3)
    assert (nodes["improve"]["activations"], nodes["improve/draft"]["activations"]) == (2, 2)
    assert nodes["each/work"]["within"] == "each" and "within" not in nodes["each"]
    assert nodes["plan"]["layer"] == 0 and nodes["hold"]["layer"] == 2


def test_a_line_that_leads_back_says_so(home, server):
    home.define(CYCLE)
    run = server.start("cycle", wait=True).body["run_id"]
    picture = graph(server, run)
    back = [(edge["from"], edge["to"]) for edge in picture["edges"] if edge["back"]]
    assert back == [("judge", "begin")]
    [line] = [edge for edge in picture["edges"] if edge["to"] == "done"]
    assert not line["depends"] and line["when"] == "steps.judge.outputs.value == 1"
    assert states(picture) == {"begin": "succeeded", "judge": "succeeded", "done": "succeeded"}


def test_a_definition_that_is_too_large_is_shown_as_far_as_that_goes(home, server):
    steps = "\n".join(f"  - {{name: s{number}, tool: echo, inputs: {{text: x}}}}" for number in range(3000))
    home.define(f"name: wide\nsteps:\n{steps}\n")
    run = server.start("wide", wait=True).body["run_id"]
    answer = server.get(f"/api/runs/{run}/graph").body
    assert (len(answer["nodes"]), answer["nodes_left_out"]) == (2000, 1000)


def test_the_trace_in_the_words_of_the_fifth_vocabulary(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    trace = server.get(f"/api/runs/{run}/trace").body
    assert trace["task_id"] == run
    assert len(trace["steps"]) == len(server.events(run)) + 1  # the file that the second step created
    assert server.get(f"/api/runs/{run}/sessions").body == []


def test_sessions_of_sub_runs(home, server):
    home.define(CHILD)
    home.define(PARENT)
    run = server.start("parent", wait=True).body["run_id"]
    [session] = server.get(f"/api/runs/{run}/sessions").body
    assert (session["parent_task_id"], session["agent_name"], session["status"]) == (run, "child", "completed")
    assert "from the child" in session["summary"]
    child = server.get(f"/api/runs/{session['session_id']}")
    assert child.status == 200 and child.body["workflow"] == "child"
    assert list(server.get(f"/api/runs/{run}/trace").body["sub_agent_sessions"]) == ["ask"]
