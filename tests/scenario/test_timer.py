"""Waits: as long as asked, by the wall clock after a restart, and once."""
import datetime

from baton import Home

WAIT = """
name: waits
inputs:
  note: {type: string, default: x}
steps:
  - {name: wait, wait: {seconds: SECONDS}}
  - name: after
    tool: shell
    depends_on: [wait]
    inputs: {command: "echo fired >> fired.txt; cat fired.txt"}
outputs:
  fired: {from: "${steps.after.outputs.stdout}"}
"""


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def fired_once(server, run):
    events = server.events(run)
    types = [event["type"] for event in events]
    assert types.count("timer.requested") == types.count("timer.finished") == 1
    due = moment(next(e["data"]["due_at"] for e in events if e["type"] == "timer.requested"))
    fired = moment(next(e["at"] for e in events if e["type"] == "timer.finished"))
    return due, fired


def test_a_wait_is_not_shorter_than_asked(home, server):
    home.define(WAIT.replace("SECONDS", "0.05"))
    run = server.run_of("waits")
    assert server.finish(run)["outputs"] == {"fired": "fired\n"}
    due, fired = fired_once(server, run)
    assert fired >= due


def test_no_wait_at_all(home, server):
    home.define(WAIT.replace("SECONDS", "0"))
    assert server.start("waits", wait=True).body["status"] == "success"


def test_a_wait_survives_a_kill(home):
    server = home.serve()
    home.define(WAIT.replace("SECONDS", "0.5"))
    run = server.run_of("waits")
    asked = server.until(run, "timer.requested")["data"]
    server.kill()
    server = home.serve()
    assert server.finish(run)["outputs"] == {"fired": "fired\n"}
    due, fired = fired_once(server, run)
    assert due == moment(asked["due_at"])
    assert fired >= due


def test_a_wait_that_ended_while_nobody_was_there_fires_once(home):
    server = home.serve()
    home.define(WAIT.replace("SECONDS", "0.3"))
    late = server.run_of("waits")
    due = moment(server.until(late, "timer.requested")["data"]["due_at"])
    server.kill()
    # Another folder's timer, asked for later and as long, tells us that the moment has passed.
    with Home() as other:
        other.define(WAIT.replace("SECONDS", "0.3"))
        witness = other.serve()
        assert witness.start("waits", wait=True).status == 200
    server = home.serve()
    assert server.finish(late)["outputs"] == {"fired": "fired\n"}
    assert fired_once(server, late)[1] > due
    server.kill()
    server = home.serve()
    assert server.types(late).count("timer.finished") == 1


def test_timers_run_side_by_side(home, server):
    lines = ["name: many", "steps:"]
    lines += [f"  - {{name: w{n}, wait: {{seconds: 0.2}}}}" for n in range(20)]
    home.define("\n".join(lines) + "\n")
    run = server.run_of("many")
    server.finish(run)
    types = server.types(run)
    first_end = types.index("timer.finished")
    assert types[:first_end].count("timer.requested") == 20
