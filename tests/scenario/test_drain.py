"""SIGTERM: nothing new begins, what is under way is finished and recorded, then everybody is told."""
import concurrent.futures
import signal

import pytest
from baton import killed, new_id, wait_until_none_with
from test_websocket import Client

TWO = """
name: two
steps:
  - name: first
    tool: shell
    inputs: {command: "echo first >> log; echo up > told; read -r word < gate; echo $word"}
  - name: second
    tool: shell
    depends_on: [first]
    inputs: {command: "echo second >> log; cat log"}
outputs:
  log: {from: "${steps.second.outputs.stdout}"}
"""

ONE = """
name: one
steps:
  - name: only
    tool: shell
    inputs: {command: "echo up > told; read -r word < gate; echo $word"}
outputs:
  said: {from: "${steps.only.outputs.stdout}"}
"""

ASKS = """
name: asks
steps:
  - name: ask
    human:
      question: Go on?
"""


def begin(home, server, yaml):
    """A run whose first step waits for its gate."""
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start(home.define(yaml), run_id=run).status == 202
    told.await_line()
    return run, gate


def stop(server):
    """SIGTERM, awaited: a command that would not be found is refused for another reason now."""
    server.popen.send_signal(signal.SIGTERM)
    while True:
        answer = server.start("no-such-workflow")
        if answer.status != 404:
            assert answer.status == 503, answer
            return answer


def stored_types(home, run):
    with home.database() as database:
        rows = database.execute("SELECT type FROM events JOIN runs ON key = run WHERE hex(id) = ?"
                                " ORDER BY events.seq", (run.replace("-", "").upper(),)).fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("isolation", ["native", "off"])
def test_what_runs_is_finished_and_recorded_and_nothing_new_begins(home, isolation):
    """With isolation off a step can never be repeated: one that was held back was never requested."""
    server = home.serve(BATON_TOOLS_ISOLATION=isolation)
    run, gate = begin(home, server, TWO)
    refused = stop(server)
    assert refused.body["code"] == "unavailable"
    assert int(refused.headers["Retry-After"]) >= 1
    # Reads go on while it drains.
    assert server.result(run)["status"] == "running"
    assert server.get("/api/health").status == 200
    gate.send()
    assert server.wait() == 0
    types = stored_types(home, run)
    assert types.count("tool.requested") == types.count("tool.finished") == 1
    assert home.workspace(run, "log").read_text() == "first\n"

    server = home.serve(BATON_TOOLS_ISOLATION=isolation)
    assert server.finish(run)["outputs"] == {"log": "first\nsecond\n"}
    types = server.types(run)
    assert types.count("tool.requested") == types.count("tool.finished") == 2
    assert "tool.restarted" not in types
    assert "recovered 1 open run" in server.errors()


def test_a_run_may_end_and_is_seen_to_end(home, server):
    run, gate = begin(home, server, ONE)
    with server.stream(f"/api/runs/{run}/stream?after=0") as events:
        stop(server)
        gate.send("bye\n")
        assert [told.event["type"] for told in events][-1] == "run.finished"
    assert server.wait() == 0
    assert stored_types(home, run)[-1] == "run.finished"


def test_nothing_under_way_ends_at_once_and_nothing_is_in_the_way_of_the_next(home):
    home.define(ASKS)
    server = home.serve()
    run = server.run_of("asks")
    server.until(run, "human.requested")
    server.popen.send_signal(signal.SIGINT)
    assert server.wait() == 0
    server = home.serve()
    assert server.respond(server.inbox()[0]["id"]).status == 200
    assert server.finish(run)["status"] == "success"


def test_answers_are_refused_while_it_drains(home, server):
    home.define(ASKS)
    asking = server.run_of("asks")
    server.until(asking, "human.requested")
    question = server.inbox()[0]["id"]
    run, gate = begin(home, server, ONE)
    stop(server)
    refused = server.respond(question)
    assert (refused.status, refused.body["code"]) == (503, "unavailable")
    gate.send()
    assert server.wait() == 0
    assert stored_types(home, run)[-1] == "run.finished"
    assert "human.finished" not in stored_types(home, asking)


def test_streams_and_sockets_are_ended_properly(home, server):
    run, gate = begin(home, server, ONE)
    with concurrent.futures.ThreadPoolExecutor() as pool, \
            Client(server, "/ws/events") as socket, \
            server.stream("/api/stream") as events:
        patient = pool.submit(server.start, home.define(ASKS), wait=True)
        next(told for told in events if told.event["type"] == "human.requested")
        stop(server)
        gate.send()
        # The stream comes to its end, which an interrupted chunk would not be.
        assert [told.event["type"] for told in events if told.event["run_id"] == run][-1] == "run.finished"
        assert [said["payload"]["event_type"] for said in socket.all() if said["type"] == "event"]
        assert socket.code == 1001
        assert patient.result().status == 202
    assert server.wait() == 0


def test_patience_has_an_end(home):
    server = home.serve(BATON_SERVE_DRAIN_SECONDS="1")
    run, _ = begin(home, server, ONE)
    server.popen.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    wait_until_none_with(home.data)
    assert "1 tool call did not finish in time" in server.errors()
    server = home.serve()
    server.until(run, "tool.restarted")


def test_a_second_signal_ends_it_at_once(home):
    server = home.serve(BATON_SERVE_DRAIN_SECONDS="3600")
    run, _ = begin(home, server, ONE)
    stop(server)
    server.popen.send_signal(signal.SIGTERM)
    assert server.wait() == 130
    wait_until_none_with(home.data)
    assert "tool.finished" not in stored_types(home, run)


@pytest.mark.parametrize("point", ["server.draining", "server.drained"])
def test_killed_within_a_drain_it_goes_on_as_after_any_crash(home, point):
    server = home.serve(BATON_POINTS=f"{point}=kill")
    run, gate = begin(home, server, TWO)
    if point == "server.drained":
        gate.send()
    server.popen.send_signal(signal.SIGTERM)
    assert killed(server)
    wait_until_none_with(home.data)
    server = home.serve()
    if point == "server.draining":
        server.until(run, "tool.restarted")
        gate.send()
    assert server.finish(run)["outputs"] == {"log": "first\nsecond\n"}


def test_a_wrong_patience_is_refused(home):
    server = home.begin_serve(BATON_SERVE_DRAIN_SECONDS="soon")
    assert server.wait() == 2
    assert "serve.drain_seconds" in server.errors()
