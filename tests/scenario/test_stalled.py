"""Clients that follow events and do not read: they share what is encoded, hold one piece each, and delay nobody."""
import json
import pathlib
import socket

import pytest
from baton import Home, new_id, wait_until
from test_websocket import Client

CLIENTS, STEPS = 40, 1200
QUEUE, PIECE, FRAMING = 1024, 4096, 64      # HTTP_WRITE_QUEUE_BYTES, STREAM_PIECE_BYTES
SEND_BUFFER = 65536                         # STREAM_SEND_BUFFER
ALL = ["/api/stream?after=0", "/api/stream?after=0&view=runtime", "/ws/events?since=0"]

BIG = """
name: big
inputs:
  text: {type: string}
steps:
  - {name: say, tool: echo, inputs: {text: "${inputs.text}"}}
"""
ASKS = """
name: asks
steps:
  - {name: ask, human: {question: "well?"}}
"""


@pytest.fixture
def home():
    with Home() as home:
        yield home


@pytest.fixture
def server(home):
    lines = ["name: wide", "steps:"]
    lines += [f"  - {{name: s{n:04}, tool: echo, inputs: {{text: '{'x' * 200}'}}}}" for n in range(STEPS)]
    home.define("\n".join(lines) + "\n")
    home.define(BIG)
    home.define(ASKS)
    return home.serve()


def small(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return client


def connect(server, target):
    """A client that has asked and does not read."""
    host, port = server.address.rsplit(":", 1)
    client = small(socket.socket())
    client.connect((host, int(port)))
    upgrade = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" if target.startswith("/ws") else "")
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: {server.address}\r\n{upgrade}\r\n".encode())
    return client


def stalled(server, count):
    """True when so many clients take no more: for each of them something waits."""
    return server.figures()["baton_http_queued_bytes"] >= count * QUEUE


def kernel_queues(server):
    """The bytes that the kernel keeps for each connection of the server, by /proc/net/tcp."""
    port = f":{int(server.address.rsplit(':', 1)[1]):04X}"
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].split(":")[0], 16) for row in rows if row[1].endswith(port) and row[3] == "01"]


@pytest.mark.parametrize("target", ALL)
def test_clients_that_do_not_read_share_their_pages(server, target):
    for _ in range(2):
        assert server.start("wide", wait=True).body["status"] == "success"
    first = connect(server, target)
    wait_until(lambda: stalled(server, 1))
    encoded = server.figures()['baton_stream_pages_total{source="encoded"}']
    assert encoded >= 1
    others = [connect(server, target) for _ in range(CLIENTS - 1)]
    wait_until(lambda: stalled(server, CLIENTS))
    figures = server.figures()
    assert figures['baton_stream_pages_total{source="encoded"}'] == encoded  # whatever the number of clients
    assert figures["baton_http_queued_bytes"] <= CLIENTS * (QUEUE + PIECE + FRAMING)
    assert max(kernel_queues(server)) <= SEND_BUFFER
    # Work goes on, and is not encoded for those who take nothing.
    assert server.start("wide", wait=True).body["status"] == "success"
    assert server.get("/health/live").status == 200
    assert server.figures()['baton_stream_pages_total{source="encoded"}'] == encoded
    for client in [first, *others]:
        client.close()
    wait_until(lambda: server.figures()['baton_stream_memory_bytes{kind="pages"}'] == 0)
    figures = server.figures()
    assert figures['baton_stream_memory_bytes{kind="timelines"}'] == figures["baton_http_queued_bytes"] == 0


def test_followers_of_one_run_are_told_with_one_page(home, server):
    """However many follow, a commit is read and encoded once."""
    run = server.run_of("asks")
    server.until(run, "human.requested")
    streams = [server.stream(f"/api/runs/{run}/stream") for _ in range(10)]
    opened = [stream.__enter__() for stream in streams]
    for events in opened:
        while next(events).event["type"] != "human.requested":
            pass
    wait_until(lambda: server.figures()['baton_streams{kind="sse",behind="none"}'] == len(opened))
    before = server.figures()
    assert server.respond(server.inbox()[0]["id"]).status == 200
    for events in opened:
        assert [told.event["type"] for told in events][-1] == "run.finished"
    after = server.figures()
    commits = after["baton_commits_total"] - before["baton_commits_total"]
    assert after['baton_stream_pages_total{source="encoded"}'] - before['baton_stream_pages_total{source="encoded"}'] <= commits
    for stream in streams:
        stream.__exit__(None, None, None)


@pytest.mark.parametrize("target", ALL[1:])
def test_a_large_event_reaches_a_client_that_pauses(server, target):
    """In pieces, each byte once: a client that reads late sees what one sees that reads at once."""
    for number in range(6):
        assert server.start("big", {"text": f"{number} " + "Grüße " * 10000}, wait=True).body["status"] == "success"

    if target.startswith("/ws"):
        with Client(server, target) as quick, Client(server, target) as late:
            small(late.socket)
            heard = [quick.hear()]
            while heard[-1]["type"] != "backfill_complete":
                heard.append(quick.hear())
            wait_until(lambda: stalled(server, 1))
            late.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            assert [late.hear() for _ in heard] == heard
            late.sync()
            assert max(len(json.dumps(message)) for message in heard) > 50000
    else:
        with server.stream(target) as quick:
            seen = [next(quick) for _ in range(6)]
            assert max(len(json.dumps(event.event)) for event in seen) > 50000
        late = connect(server, target)
        wait_until(lambda: stalled(server, 1))
        late.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        response = late.makefile("rb")
        while response.readline().strip():
            pass
        text = b""
        while text.count(b"\n\n") < 6:
            size = int(response.readline(), 16)
            assert size <= PIECE
            text += response.read(size)
            assert response.read(2) == b"\r\n"
        got = [json.loads(event.split(b"data: ", 1)[1]) for event in text.split(b"\n\n")[:6]]
        assert got == [event.event for event in seen]
        late.close()


def test_a_commit_visits_only_the_watches_of_its_run(server):
    """Thirty runs are followed; the commits of another one are of no concern to them."""
    runs = [server.run_of("asks") for _ in range(30)]
    streams = [server.stream(f"/api/runs/{run}/stream") for run in runs]
    for stream in streams:
        events = stream.__enter__()
        while next(events).event["type"] != "human.requested":
            pass
    before = server.figures()
    assert before["baton_watches"] >= 30
    for _ in range(5):
        assert server.start("big", {"text": "x"}, new_id(), wait=True).body["status"] == "success"
    after = server.figures()
    commits = after["baton_commits_total"] - before["baton_commits_total"]
    visits = after["baton_watches_visited_total"] - before["baton_watches_visited_total"]
    # A notice goes to the request that waits for the run and to the schedules.  A commit may hold a notice of two runs.
    assert 5 <= visits <= 4 * commits < 30 * commits
    for stream in streams:
        stream.__exit__(None, None, None)
