"""Undo steps: what a run that fails or is cancelled takes back, in which order, and when it cannot."""
import pathlib

import pytest
from baton import new_id, wait_until


def run_of(home, server, definition, inputs=None):
    """The run's result once it has ended."""
    return server.finish(server.run_of(home.define(definition), inputs))


def states(server, run):
    return {path: step["state"] for path, step in server.steps(run).items()}


def undone(server, run):
    """The steps that were undone, in the order in which their undo began."""
    return [event["data"]["undoes"] for event in server.events(run)
            if event["type"] == "step.entered" and "undoes" in event["data"]]


ORDERED = """
name: ordered
strict: true
inputs: {who: {type: string, default: ada}}
steps:
  - name: buy-disk
    tool: shell
    inputs: {command: "printf disk-7"}
    outputs: {stdout: disk}
    undo:
      - {name: sell, tool: shell, inputs: {command: "echo 'sell ${steps.buy-disk.outputs.stdout} of ${inputs.who}' >> ledger"}}
  - name: copy
    depends_on: [buy-disk]
    tool: echo
    inputs: {to: "${steps.buy-disk.outputs.stdout}"}
    undo:
      - {name: look, tool: echo, inputs: {was: "${steps.copy.outputs.to}", disk: "${ctx.disk}"}}
      - {name: wipe, tool: shell, depends_on: [look], inputs: {command: "echo 'wipe ${steps.look.outputs.was} ${steps.copy.status} ${steps.look.outputs.disk}' >> ledger"}}
  - {name: start, depends_on: [copy], tool: shell, inputs: {command: "exit 1"}, undo: [{name: stop, tool: shell, inputs: {command: "echo stop >> ledger"}}]}
  - {name: never, depends_on: [start], tool: echo, undo: [{name: no, tool: shell, inputs: {command: "echo no >> ledger"}}]}
"""


def test_a_failed_run_is_undone_in_reverse_order(home, server):
    result = run_of(home, server, ORDERED)
    run = result["run_id"]
    assert result["status"] == "failed" and "step start: exit status 1" in result["error"], result
    assert home.workspace(run, "ledger").read_text() == "wipe disk-7 success disk-7\nsell disk-7 of ada\n"
    assert undone(server, run) == ["copy", "buy-disk"]
    assert states(server, run) == {
        "buy-disk": "succeeded", "copy": "succeeded", "start": "failed", "never": "skipped",
        "copy~undo": "succeeded", "copy~undo/look": "succeeded", "copy~undo/wipe": "succeeded",
        "buy-disk~undo": "succeeded", "buy-disk~undo/sell": "succeeded"}
    types = server.types(run)
    assert types.count("run.unwinding") == 1 and types[-1] == "run.finished" and "run.cancelling" not in types
    [unwinding] = [e["data"] for e in server.events(run) if e["type"] == "run.unwinding"]
    assert unwinding["fault"]["code"] == "tool_failed" and unwinding["due_at"]


def test_a_run_that_succeeds_is_not_undone(home, server):
    result = run_of(home, server, ORDERED.replace("exit 1", "exit 0"))
    assert result["status"] == "success", result
    assert not home.workspace(result["run_id"], "ledger").exists()
    assert "run.unwinding" not in server.types(result["run_id"])


def test_what_an_undo_reads_is_recorded_when_its_step_succeeds(home, server):
    run = run_of(home, server, ORDERED)["run_id"]
    [end] = [e["data"] for e in server.events(run) if e["type"] == "tool.finished" and e["data"]["step"] == "buy-disk"]
    recorded = end["next"]["undo"]["is"]
    assert recorded["steps"]["buy-disk"]["outputs"]["stdout"] == "disk-7"


def test_a_run_whose_undo_steps_have_run_cannot_be_retried(home, server):
    run = run_of(home, server, ORDERED)["run_id"]
    answer = server.tell(run, "retry")
    assert (answer.status, answer.body["code"]) == (409, "conflict")
    assert "the undo steps of the run have run" in answer.body["detail"]
    assert server.types(run).count("run.retried") == 0


def test_a_failing_undo_is_recorded_and_the_others_continue(home, server):
    result = run_of(home, server, """
name: stubborn
steps:
  - {name: a, tool: echo, undo: [{name: back, tool: shell, inputs: {command: "echo a >> ledger"}}]}
  - {name: b, depends_on: [a], tool: echo, undo: [{name: back, tool: shell, inputs: {command: "echo b >> ledger; exit 3"}}, {name: then, depends_on: [back], tool: echo}]}
  - {name: c, depends_on: [b], tool: echo, undo: [{name: back, tool: shell, inputs: {command: "echo c >> ledger"}}]}
  - {name: bad, depends_on: [c], tool: shell, inputs: {command: "exit 1"}}
""")
    run = result["run_id"]
    assert "step bad: exit status 1" in result["error"], result
    assert home.workspace(run, "ledger").read_text() == "c\nb\na\n"
    assert {path: state for path, state in states(server, run).items() if "~" in path} == {
        "c~undo": "succeeded", "c~undo/back": "succeeded", "b~undo": "failed", "b~undo/back": "failed", "b~undo/then": "skipped",
        "a~undo": "succeeded", "a~undo/back": "succeeded"}
    _, shown, _ = home.cli("show", run)
    assert "undo of c" in shown and "b~undo" in shown and "exit status 3" in shown, shown


NESTED = """
name: nested
steps:
  - name: each
    map:
      over: [10, 20, 30]
      as: size
      at_once: 1
      steps:
        - {name: make, tool: echo, inputs: {id: "n${size}"}, undo: [{name: drop, tool: shell, inputs: {command: "echo 'drop ${steps.make.outputs.id} ${size} ${index}' >> ledger"}}]}
  - name: rounds
    depends_on: [each]
    loop:
      until: steps.turn.outputs.n >= 2
      max: 5
      steps:
        - {name: turn, tool: shell, inputs: {command: "echo x >> turns; wc -l < turns | tr -d ' \\n'"}, undo: [{name: back, tool: shell, inputs: {command: "echo 'turn ${steps.turn.outputs.stdout}' >> ledger"}}]}
        - {name: count, depends_on: [turn], tool: echo, inputs: {n: "${int(steps.turn.outputs.stdout)}"}}
  - name: guarded
    depends_on: [rounds]
    tool: echo
    undo: [{name: back, tool: shell, inputs: {command: "echo guarded >> ledger"}}]
    finally: [{name: tidy, tool: echo}]
  - {name: bad, depends_on: [guarded], tool: shell, inputs: {command: "exit 1"}}
""".replace("until: steps.turn.outputs.n", "until: steps.count.outputs.n")


def test_undo_inside_containers(home, server):
    """Items, rounds and tries: each success is undone with the values it had, although its body is gone."""
    result = run_of(home, server, NESTED)
    run = result["run_id"]
    assert "step bad: exit status 1" in result["error"], result
    assert home.workspace(run, "ledger").read_text().splitlines() == [
        "guarded", "turn 2", "turn 1", "drop n30 30 2", "drop n20 20 1", "drop n10 10 0"]
    assert undone(server, run) == [
        "guarded/guarded", "rounds#2/turn", "rounds/turn", "each[2]/make", "each[1]/make", "each[0]/make"]
    names = [e["data"]["step"] for e in server.events(run) if e["type"] == "step.entered" and "undoes" in e["data"]]
    assert names == ["guarded~undo", "rounds.turn~undo", "rounds.turn~undo#2", "each.make~undo", "each.make~undo#2", "each.make~undo#3"]


HELD = """
name: held
steps:
  - {name: first, tool: echo, inputs: {n: 1}, undo: [{name: back, tool: shell, inputs: {command: "echo 'first ${steps.first.outputs.n}' >> ledger"}}]}
  - {name: second, depends_on: [first], tool: echo, undo: [{name: back, tool: shell, inputs: {command: "echo undo > told; read -r word < gate; echo second >> ledger"}}]}
  - name: block
    depends_on: [second]
    try:
      steps: [{name: hold, tool: shell, inputs: {command: "echo up > told; sleep 600"}}]
      finally: [{name: tidy, tool: shell, inputs: {command: "echo tidy >> ledger"}}]
"""


def start_held(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(HELD)
    assert server.start("held", run_id=run).status == 202
    assert told.await_line() == "up"
    return run, told, gate


def test_a_cancelled_run_is_undone_behind_its_finally_steps(home, server):
    run, told, gate = start_held(home, server)
    assert server.tell(run, "cancel").status == 200
    assert told.await_line() == "undo"
    assert server.tell(run, "pause").status == 409
    assert states(server, run)["second~undo/back"] == "running"
    gate.send()
    assert server.finish(run)["status"] == "failed"
    assert home.workspace(run, "ledger").read_text() == "tidy\nsecond\nfirst 1\n"
    assert states(server, run)["first~undo"] == "succeeded"
    assert server.types(run).count("run.unwinding") == 1


def test_a_second_cancel_ends_the_undo_steps(home, server):
    run, told, gate = start_held(home, server)
    assert server.tell(run, "cancel").status == 200
    assert told.await_line() == "undo"
    assert server.tell(run, "cancel").status == 200
    server.finish(run)
    assert home.workspace(run, "ledger").read_text() == "tidy\n"
    assert states(server, run)["second~undo"] == "cancelled" and "first~undo" not in states(server, run)
    assert server.types(run).count("run.cancelling") == 2


FAILS = """
name: fails
timeout: 600
steps:
  - {name: first, tool: echo, inputs: {n: 1}, undo: [{name: back, tool: shell, inputs: {command: "echo 'first ${steps.first.outputs.n}' >> ledger"}}]}
  - {name: second, depends_on: [first], tool: echo, undo: [{name: back, tool: shell, inputs: {command: "echo undo > told; read -r word < gate; echo second >> ledger"}}]}
  - {name: bad, depends_on: [second], tool: shell, inputs: {command: "exit 9"}}
"""


def test_undo_steps_have_a_deadline(home, server):
    """It stops the undo that holds; the one behind it never begins."""
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(FAILS.replace("timeout: 600", "unwind_timeout: 0.5"))
    assert server.start("fails", run_id=run).status == 202
    assert "exit status 9" in server.finish(run)["error"]
    assert states(server, run)["second~undo"] == "cancelled" and "first~undo" not in states(server, run)
    [late] = [event["data"] for event in server.events(run) if event["type"] == "run.cancelling"]
    assert late["by"] == "baton" and "undo steps took longer" in late["reason"]


def start_failing(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(FAILS)
    assert server.start("fails", run_id=run).status == 202
    assert told.await_line() == "undo"
    return run, told, gate


def test_cancelling_a_failed_run_ends_its_undo_steps_and_it_has_failed(home, server):
    run, told, gate = start_failing(home, server)
    assert server.request("GET", f"/api/runs/{run}/steps").body["unwinding"] is True
    assert server.tell(run, "cancel").status == 200
    result = server.finish(run)
    assert "exit status 9" in result["error"], result
    assert not home.workspace(run, "ledger").exists()
    assert states(server, run)["second~undo"] == "cancelled"


CHILD = """
name: child
steps:
  - {name: made, tool: echo, undo: [{name: back, tool: shell, inputs: {command: "sleep 600"}}]}
  - {name: hold, depends_on: [made], wait: {signal: never}}
"""
PARENT = """
name: parent
steps:
  - {name: made, tool: echo, undo: [{name: back, tool: shell, inputs: {command: "echo back > ledger"}}]}
  - {name: sub, depends_on: [made], workflow: child}
"""


def sub_run_of(server, run):
    """The only sub-run, once it exists: it is created behind the commit of its request."""
    [child] = [e["data"]["effect"] for e in server.events(run) if e["type"] == "subrun.requested"]
    wait_until(lambda: server.get(f"/api/runs/{child}").status == 200)
    return child


def test_a_second_cancel_reaches_the_undo_steps_of_a_sub_run(home, server):
    """The parent waits for its sub-run, whose undo steps hold; its own undo steps run afterwards."""
    home.define(CHILD)
    run = server.run_of(home.define(PARENT))
    server.until(run, "subrun.requested")
    child = sub_run_of(server, run)
    server.until(child, "timer.requested")
    assert server.tell(run, "cancel").status == 200
    server.until(child, "tool.requested")
    assert "run.unwinding" in server.types(child) and "run.unwinding" not in server.types(run)
    assert server.tell(run, "cancel").status == 200
    server.finish(run)
    assert states(server, child)["made~undo"] == "cancelled"
    assert server.types(child).count("run.cancelling") == 2 and server.types(run).count("run.cancelling") == 1
    assert states(server, run)["made~undo"] == "succeeded"


def start_with_sub_run(home, server, timeout, child=CHILD):
    home.define(child)
    run = server.run_of(home.define(f"unwind_timeout: {timeout}\n" + PARENT))
    server.until(run, "subrun.requested")
    return run, sub_run_of(server, run)


def is_ended(server, run, child, cancels=2):
    """The cleanup of the sub-run, which would last for minutes, was ended, and the parent ended behind it."""
    assert "cancelled" in server.finish(run)["error"]
    assert "run.unwinding" in server.types(child) and server.types(child).count("run.cancelling") == cancels
    assert states(server, child).get("made~undo") in ("cancelled", None)


def test_a_run_waits_for_the_cleanup_of_its_sub_run_for_its_own_unwind_timeout(home, server):
    run, child = start_with_sub_run(home, server, 2)
    server.until(child, "timer.requested")
    assert server.tell(run, "cancel").status == 200
    is_ended(server, run, child)
    [told] = [e["data"] for e in server.events(run) if e["type"] == "run.cancelling" and "due_at" in e["data"]]


def test_the_time_may_be_over_before_the_cleanup_of_a_sub_run_begins(home, server):
    """With a millisecond it usually is; in both cases the cleanup is ended."""
    run, child = start_with_sub_run(home, server, 0.001)
    server.until(child, "timer.requested")
    assert server.tell(run, "cancel").status == 200
    is_ended(server, run, child)


def test_a_sub_run_that_has_failed_is_waited_for_as_long(home, server):
    run, child = start_with_sub_run(home, server, 2, CHILD.replace("wait: {signal: never}", "tool: shell, inputs: {command: exit 3}"))
    server.until(child, "run.unwinding")
    assert server.tell(run, "cancel").status == 200
    is_ended(server, run, child, cancels=1)


def test_the_wait_for_a_sub_run_survives_kill_9(home):
    server = home.serve()
    run, child = start_with_sub_run(home, server, 2)
    server.until(child, "timer.requested")
    assert server.tell(run, "cancel").status == 200
    server.kill()
    server = home.serve()
    is_ended(server, run, child)


def test_a_run_without_a_sub_run_under_way_has_no_such_deadline(home, server):
    home.define("name: plain\nsteps:\n  - {name: hold, wait: {signal: never}}\n")
    run = server.run_of("plain")
    server.until(run, "timer.requested")
    assert server.tell(run, "cancel").status == 200
    server.finish(run)
    [told] = [e["data"] for e in server.events(run) if e["type"] == "run.cancelling"]
    assert "due_at" not in told


@pytest.mark.parametrize("compact", [False, True])
def test_undo_steps_survive_kill_9(home, compact):
    server = home.serve()
    run, told, gate = start_failing(home, server)
    server.kill()
    server = home.serve()
    assert told.await_line() == "undo"
    gate.send()
    assert "exit status 9" in server.finish(run)["error"]
    assert home.workspace(run, "ledger").read_text() == "second\nfirst 1\n"
    assert server.types(run).count("run.unwinding") == 1
    assert undone(server, run) == ["second", "first"]
    before = states(server, run)
    if compact:
        assert home.local("POST", "/api/db/compact", {"days": 0}).body["compacted"] == 1
        # The steps inside a container that is over go with its events.
        assert states(server, run) == {path: state for path, state in before.items() if "/" not in path}


@pytest.mark.parametrize("definition, problem", [
    ("{name: a, tool: echo, undo: [{name: b, tool: echo, undo: [{name: c, tool: echo}]}]}", "undo steps cannot have undo steps of their own"),
    ("{name: a, tool: echo, finally: [{name: b, tool: echo, undo: [{name: c, tool: echo}]}]}", "finally steps cannot have undo steps"),
    ("{name: a, tool: echo, undo: [{name: b, tool: nope}]}", "unknown tool nope"),
    ("{name: a, tool: echo, undo: []}", "undo"),
    ("{name: a, tool: echo, undo: [{name: b, tool: echo, inputs: {x: '${steps.z.outputs.y}'}}]}", "unknown step z"),
    ("{name: a, tool: echo, undo: [{name: b, tool: echo}]}\n  - {name: z, tool: echo, inputs: {x: '${steps.b.outputs.y}'}}", "unknown step b"),
    ("{name: a, tool: echo, undo: [{name: b, tool: echo, inputs: {x: '${steps.z.outputs.y}'}}]}\n  - {name: z, tool: echo}", "reads step z without depending on it"),
])
def test_an_undo_that_cannot_be(home, definition, problem):
    file = pathlib.Path(home.path, "bad.yaml")
    file.write_text(f"name: bad\nsteps:\n  - {definition}\n")
    status, report, _ = home.cli("check", str(file))
    assert status != 0 and problem in report, report
