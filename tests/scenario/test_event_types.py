"""The table of `baton describe vocabularies`: every event type of every vocabulary, and the scenario that produces it.

Each scenario of the table happens here, in the table's order.  A type belongs to the first scenario in which it is seen."""
import json
import pathlib
import signal

from baton import new_id
from pipelines import profile
from pipelines import team as whole_team
from test_brainstorm import begin, rounds, say
from test_event_groups import WRITER, listed, types
from test_messages import team
from test_milestones import PLANNED
from test_oracle import ADVISES, consult, repository
from test_sessions import call, definition

VIEWS = ("pipeline", "pipeline_v1", "runtime", "task", "graph")
WORDS = {"pipeline": "pipeline.EventType", "pipeline_v1": "pipeline_v1.EventType", "runtime": "runtime.StreamEventType", "graph": "graph.StepStatus"}

FAILS = "name: fails\nsteps:\n  - {name: no, tool: shell, inputs: {command: exit 3}}\n"
ASKS = """
name: asks
steps:
  - {name: one, human: {question: "Go on?"}}
  - {name: two, human: {question: "And now?"}, depends_on: [one]}
"""
WAITS = "name: waits\nsteps:\n  - {name: hold, wait: {signal: go}}\n"
LATE = "name: late\ntimeout: 0.001\nsteps:\n  - {name: hold, wait: {signal: go}}\n"
HELD = """
name: held
steps:
  - name: hold
    tool: shell
    inputs: {command: "echo up > told; read -r word < gate"}
"""


def works(home, server):
    return server, [run_of(home, server, WRITER.split("  - name: fail")[0])]


def run_of(home, server, yaml):
    run = server.run_of(home.define(yaml))
    server.finish(run)
    return run


def fails(home, server):
    run = run_of(home, server, FAILS)
    assert server.tell(run, "retry").status == 200
    with server.stream(f"/api/runs/{run}/stream") as stream:
        ends = 0
        for told in stream:
            ends += told.event["type"] == "run.finished"
            if ends == 2:
                break
    return server, [run]


def asks(home, server):
    run = server.run_of(home.define(ASKS))
    first = server.until(run, "human.requested")
    assert server.respond(first["data"]["effect"]).status == 200
    server.until(run, "human.finished")
    second = [e for e in follow_to(server, run, "human.requested", 2)][-1]
    assert server.respond(second["data"]["effect"], "reject").status == 200
    server.finish(run)
    return server, [run]


def follow_to(server, run, type, count):
    seen = []
    with server.stream(f"/api/runs/{run}/stream") as stream:
        for told in stream:
            seen += [told.event] if told.event["type"] == type else []
            if len(seen) == count:
                return seen
    raise AssertionError(type)


def cancelled(home, server):
    run = server.run_of(home.define(WAITS))
    server.until(run, "timer.requested")
    assert server.tell(run, "cancel").status in (200, 202)
    server.finish(run)
    return server, [run]


def late(home, server):
    return server, [run_of(home, server, LATE)]


def held(home, server):
    run = server.run_of(home.define(WAITS))
    server.until(run, "timer.requested")
    for command in ("pause", "resume"):
        assert server.tell(run, command).status in (200, 202)
    assert server.tell(run, "signal", name="go", data={}).status in (200, 202)
    server.finish(run)
    return server, [run]


def agent(home, server):
    good = run_of(home, server, definition([
        {"turn": 1, "thinking": "First a file.", "calls": [call("write_file", path="a.txt", content="x"), call("nothing")]},
        {"turn": 2, "text": "Done."}]))
    bad = run_of(home, server, definition([{"fail": {"code": "unauthenticated"}}], name="bad"))
    return server, [good, bad]


def mail(home, server):
    return server, [run_of(home, server, team({
        "ada": [{"turn": 1, "calls": [call("send_message", to="bob", content="Hello.")]}, {"text": "Done."}],
        "bob": [{"turn": 1, "calls": [call("read_messages")]}, {"text": "Done."}]}, after=("bob",)))]


def milestones(home, server):
    return server, [run_of(home, server, PLANNED)]


def advised(home, server):
    profile(server, repository(pathlib.Path(home.data) / "advised"), whole_team(oracle=ADVISES))
    runs = [consult(server, **body).body["consultation"]["session_id"] for body in ({}, {"files": ["../outside"]})]
    return server, runs


def designed(home, server):
    _, run = begin(server, pathlib.Path(home.data) / "designed")
    rounds(server, run, 1)
    say(server, run, "In Redis.")
    rounds(server, run, 2)
    say(server, run, end=True)
    server.finish(run)
    return server, [run]


def crash(home, server):
    home.define(HELD)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    server.start("held", run_id=run)
    told.await_line()
    assert server.kill() == -signal.SIGKILL
    server = home.serve()
    told.await_line()
    gate.send()
    server.finish(run)
    return server, [run]


def table(home):
    """The rows of the page: scenarios in order, and view -> type -> what produces it."""
    status, page, errors = home.cli("describe", "vocabularies")
    assert status == 0, errors
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| ")]
    names = [row[0] for row in rows if len(row) == 2 and row[0] != "scenario"]
    produced = {view: {} for view in VIEWS}
    for view, type, by in (row for row in rows if len(row) == 3 and row[0] in VIEWS):
        assert type not in produced[view], (view, type)
        produced[view][type] = by
    return names, produced


def test_the_table_has_every_type_of_every_vocabulary(home):
    _, produced = table(home)
    types_of = json.loads(home.cli("describe", "schema")[1])["$defs"]
    for view, name in WORDS.items():
        assert set(produced[view]) == set(types_of[name]["enum"]), view
    cases = [types_of[one["$ref"].rsplit("/", 1)[1]] for one in types_of["task.ExecutionEvent"]["anyOf"]]
    assert set(produced["task"]) == {case["properties"]["type"]["const"] for case in cases}


def test_every_scenario_produces_what_the_table_says_and_nothing_else(home):
    names, produced = table(home)
    happen = {f.__name__: f for f in (works, fails, asks, cancelled, late, held, agent, mail, milestones, advised, designed, crash)}
    assert names == list(happen)
    server = home.serve()
    seen = {view: {} for view in VIEWS}
    for name in names:
        server, runs = happen[name](home, server)
        for run in runs:
            for view in VIEWS:
                for type in types(listed(server, run, view)[0]):
                    seen[view].setdefault(type, name)
    for view in VIEWS:
        wanted = {type: by for type, by in produced[view].items() if by in names}
        assert seen[view] == wanted, view
        for type, by in produced[view].items():
            assert by in names or by.startswith(("planned: ", "never stored: ")), (view, type, by)
