"""BATON_TOOLS_ISOLATION=off: the whole machine is open, so nothing is ever repeated by itself."""
import os

from baton import EXIT, new_id, wait_until, wait_until_none_with

OFF = {"BATON_TOOLS_ISOLATION": "off"}
STEPS = """
name: open
inputs:
  log: {type: string}
steps:
  - name: write
    tool: shell
    inputs: {command: "echo once >> ${inputs.log}; echo up > told; read -r w < gate"}
  - {name: after, tool: echo, depends_on: [write]}
"""


def begin(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(STEPS)
    log = os.path.join(home.path, "log")
    assert server.start("open", {"log": log}, run_id=run).status == 202
    told.await_line()
    return run, log, gate


def test_the_machine_is_open(home):
    server = home.serve(**OFF)
    run, log, gate = begin(home, server)
    gate.send()
    assert server.finish(run)["status"] == "success"
    assert open(log).read() == "once\n"
    assert [e["data"]["class"] for e in server.events(run) if e["type"] == "tool.requested"] == ["once"]


def test_an_interrupted_call_is_closed_as_unknown_and_not_repeated(home):
    server = home.serve(**OFF)
    run, log, _ = begin(home, server)
    server.kill()
    wait_until_none_with(home.data)
    server = home.serve(**OFF)
    wait_until(lambda: {"human.requested", "tool.restarted"} & set(server.types(run)))
    assert "tool.restarted" not in server.types(run)
    server.settle(run)
    result = server.finish(run)
    assert result["status"] == "failed"
    assert [step["status"] for step in result["steps"]] == ["failed", "skipped"]
    assert open(log).read() == "once\n"
    types = server.types(run)
    assert types.count("tool.finished") == 1 and "tool.restarted" not in types
    outcome = [e["data"]["outcome"] for e in server.events(run) if e["type"] == "tool.finished"]
    assert outcome == ["unknown"]


def test_a_command_that_is_cut_off_at_its_time_is_a_question(home):
    """It may have done anything out there; one that ends by itself has said how."""
    server = home.serve(**OFF)
    home.define("name: cut\nsteps: [{name: a, tool: shell, inputs: {command: sleep 1000, timeout_seconds: 0.2}}]\n")
    run = server.run_of("cut")
    asked = server.until(run, "human.requested")["data"]
    assert asked["kind"] == "outcome_unknown"
    server.respond(asked["effect"], "not_happened", revision=asked["revision"])
    assert server.finish(run)["status"] == "failed"
    home.define("name: said\nsteps: [{name: a, tool: shell, inputs: {command: exit 3}}]\n")
    result = server.start("said", wait=True).body
    assert result["status"] == "failed" and "exit status 3" in result["error"]


def test_what_was_requested_open_is_not_repeated_in_isolation_either(home):
    server = home.serve(**OFF)
    run, log, _ = begin(home, server)
    server.kill()
    server = home.serve()
    server.settle(run)
    assert server.finish(run)["status"] == "failed"
    assert "tool.restarted" not in server.types(run)
    assert open(log).read() == "once\n"


def test_what_was_requested_contained_stays_contained(home):
    server = home.serve()
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define("name: shut\nsteps:\n  - {name: a, tool: shell, inputs: {command: "
                "'pwd > where; echo up > told; read -r w < gate'}}\n")
    server.start("shut", run_id=run)
    told.await_line()
    server.kill()
    server = home.serve(**OFF)
    told.await_line()
    gate.send()
    assert server.finish(run)["status"] == "success"
    assert home.workspace(run, "where").read_text() == "/workspace\n"


def test_no_child_survives_without_isolation_either(home):
    marker = f"open-{new_id()}"
    server = home.serve(**OFF)
    run = new_id()
    told = home.fifo(run, "told")
    home.define("name: stay\nsteps:\n  - {name: a, tool: shell, inputs: {command: "
                f"'setsid sh -c \": {marker}; sleep 1000; :\" & echo up > told; sleep 1000; :'}}}}\n")
    server.start("stay", run_id=run)
    told.await_line()
    server.kill()
    wait_until_none_with(marker)


def test_an_unknown_isolation_is_refused(home):
    status, output, errors = home.cli("run", "two-steps", BATON_TOOLS_ISOLATION="perhaps")
    assert (status, output) == (EXIT["usage"], ""), errors
    assert "native or off" in errors
