"""SSE: what was, then what happens, without gap or repetition, also across a kill -9."""
import contextlib
import http.client

import pytest
from baton import PATIENCE_S, Gone, new_id

GATED = """
name: gated
steps:
  - {name: a, tool: echo, inputs: {x: 1}}
  - {name: b, tool: shell, depends_on: [a], inputs: {command: "echo up > told; read -r w < gate"}}
  - {name: c, tool: echo, depends_on: [b], inputs: {x: 2}}
"""


def begin_gated(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    return run, told, gate


def take(stream, count):
    return [next(stream) for _ in range(count)]


def test_replay_then_live(home, server):
    run, _, gate = begin_gated(home, server)
    with server.stream(f"/api/runs/{run}/stream") as stream:
        past = take(stream, 3)
        assert [told.event["type"] for told in past] == ["run.created", "step.computed",
                                                         "tool.requested"]
        gate.send()
        live = list(stream)  # the stream ends with the run
    assert [told.event["type"] for told in live] == ["tool.finished", "step.computed", "run.finished"]
    assert [told.id for told in past + live] == ["1", "2", "3", "4", "5", "6"]
    assert [told.event for told in past + live] == server.events(run)


def test_the_headers_of_a_stream(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    connection.request("GET", f"/api/runs/{run}/stream")
    response = connection.getresponse()
    assert response.getheader("Content-Type") == "text/event-stream"
    assert response.getheader("Cache-Control") == "no-store"
    response.read()
    connection.close()


@pytest.mark.parametrize("last", range(5))
def test_last_event_id_at_every_place(server, last):
    run = server.start("two-steps", wait=True).body["run_id"]
    with server.stream(f"/api/runs/{run}/stream", last) as stream:
        assert [told.id for told in stream] == [str(seq) for seq in range(last + 1, 6)]


def test_the_query_says_the_same_as_the_header(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    with server.stream(f"/api/runs/{run}/stream?after=3") as stream:
        assert [told.id for told in stream] == ["4", "5"]


def test_without_gap_across_a_kill(home, server):
    run, told, gate = begin_gated(home, server)
    seen = []
    with server.stream(f"/api/runs/{run}/stream") as stream:
        seen += take(stream, 3)
        server.kill()
        with contextlib.suppress(Gone):
            assert list(stream) == []
    server = home.serve()
    told.await_line()
    gate.send()
    with server.stream(f"/api/runs/{run}/stream", seen[-1].id) as stream:
        seen += list(stream)
    assert [item.event for item in seen] == server.events(run)
    assert [item.id for item in seen] == [str(n + 1) for n in range(len(seen))]
    assert "tool.restarted" in [item.event["type"] for item in seen]


def test_what_was_streamed_is_on_the_disk(home, server):
    """No event leaves before its commit: whatever a client saw is there after a kill."""
    run = server.run_of("two-steps")
    with server.stream(f"/api/runs/{run}/stream") as stream:
        seen = take(stream, 2)
        server.kill()
    server = home.serve()
    assert server.events(run)[:2] == [told.event for told in seen]


def test_the_global_stream_from_now_on(server):
    server.start("two-steps", wait=True)
    with server.stream("/api/stream") as stream:
        runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(2)]
        seen = take(stream, 10)
    assert [told.event["run_id"] for told in seen] == [runs[0]] * 5 + [runs[1]] * 5
    positions = [int(told.id) for told in seen]
    assert positions == sorted(set(positions))


def test_the_global_stream_goes_on_behind_a_position(home, server):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(2)]
    with server.stream("/api/stream", 0) as stream:
        seen = take(stream, 4)
    server.kill()
    server = home.serve()
    with server.stream("/api/stream", seen[-1].id) as stream:
        seen += take(stream, 6)
    assert [told.event for told in seen] == server.events(runs[0]) + server.events(runs[1])
    assert [told.event["position"] for told in seen] == [told.id for told in seen]


def test_an_unknown_run(server):
    assert server.get(f"/api/runs/{new_id()}/stream").status == 404


@pytest.mark.parametrize("last", ["x", "-1", "1.", "1.x"])
def test_a_foreign_last_event_id(server, last):
    run = server.start("two-steps", wait=True).body["run_id"]
    answer = server.get(f"/api/runs/{run}/stream", {"Last-Event-ID": last})
    assert (answer.status, answer.body["code"]) == (400, "usage")


def test_several_readers_see_the_same(home, server):
    run, _, gate = begin_gated(home, server)
    connections = []
    for _ in range(5):
        stream = server.stream(f"/api/runs/{run}/stream")
        connections.append((stream, stream.__enter__()))
    gate.send()
    seen = [[told.event for told in events] for _, events in connections]
    for stream, _ in connections:
        stream.__exit__(None, None, None)
    assert all(events == server.events(run) for events in seen)


def test_a_reader_that_does_not_read_stops_nobody(home, server):
    """More than its queue and the kernel's buffers take waits for the slow one, on the disk."""
    steps = 1500
    lines = ["name: wide", "steps:"]
    lines += [f"  - {{name: s{n:04}, tool: echo, inputs: {{text: '{'x' * 200}'}}}}" for n in range(steps)]
    home.define("\n".join(lines) + "\n")
    with server.stream("/api/stream", 0) as slow:
        runs = [server.start("wide", wait=True).body["run_id"] for _ in range(2)]
        assert server.get("/api/health").status == 200
        for run in runs:
            assert len(server.follow(run)) == steps + 2
        # It wakes up, and nothing is missing.
        seen = take(slow, 2 * (steps + 2))
    assert [told.event["run_id"] for told in seen] == [runs[0]] * (steps + 2) + [runs[1]] * (steps + 2)
    assert [told.event["seq"] for told in seen] == 2 * list(range(1, steps + 3))


@pytest.mark.parametrize("refused", range(2, 6))
def test_a_write_that_the_client_has_no_room_for_is_made_again(home, refused):
    """Whichever piece of the page is refused, no event is lost and none comes twice."""
    steps = 50
    home.define("\n".join(["name: many", "steps:"] +
                          [f"  - {{name: s{n:02}, tool: echo, inputs: {{text: '{'x' * 200}'}}}}" for n in range(steps)]) + "\n")
    server = home.serve(BATON_POINTS=f"http.write=full@{refused}")
    run = server.start("many", wait=True).body["run_id"]
    with server.stream(f"/api/runs/{run}/stream?after=0") as stream:
        for number in range(1, steps + 3):
            assert next(stream).id == str(number)  # a gap shows at once, and nobody waits for what was lost
        assert list(stream) == []


def test_one_who_has_seen_the_end_is_told_so(server):
    body = server.start("two-steps", wait=True).body
    run, last = body["run_id"], server.get(f"/api/runs/{body['run_id']}/events").body["items"][-1]["seq"]
    answer = server.get(f"/api/runs/{run}/stream?after={last}")
    assert answer.status == 200
    assert not answer.body
