"""Slow and greedy clients: they are put out in their time, and good ones are served meanwhile."""
import contextlib
import http.client
import os
import re
import resource
import select
import socket

import pytest
from baton import PATIENCE_S, WAIT_S, wait_until
from test_websocket import Client

ASKS_MUCH = ("name: asks-much\ninputs:\n  text: {type: string}\nsteps:\n" + "".join(
    f"  - name: ask{number}\n    human: {{question: '${{inputs.text}}'}}\n" for number in range(1000)))


@pytest.fixture
def impatient(home):
    """A server that gives everybody three seconds: far more than a good client takes on a busy machine."""
    return home.serve(BATON_SERVE_HEADER_SECONDS="3", BATON_SERVE_BODY_SECONDS="3",
                      BATON_SERVE_IDLE_SECONDS="3", BATON_SERVE_SEND_SECONDS="3",
                      BATON_SERVE_SOCKET_IDLE_SECONDS="3")


def raw(server):
    host, port = server.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=PATIENCE_S)


def all_of(client):
    """What comes until the server closes."""
    text = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65536):
            text += piece
    return text


def drip(clients, server, until_closed):
    """Sends a byte on each now and then, asking the server something between: a good client is
    served while the bad ones are being put out.  Gives what each was answered."""
    answers = {client: b"" for client in clients}
    waiting = set(clients)
    while waiting:
        assert server.get("/api/health").status == 200
        for client in list(waiting):
            with contextlib.suppress(OSError):
                client.send(until_closed)
        ready, _, _ = select.select(list(waiting), [], [], 0.05)
        for client in ready:
            try:
                piece = client.recv(65536)
            except ConnectionResetError:
                piece = b""
            answers[client] += piece
            if not piece:
                waiting.discard(client)
    return [answers[client] for client in clients]


def test_slow_headers(impatient):
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(50):
            client = stack.enter_context(raw(impatient))
            clients.append(client)
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        for answer in drip(clients, impatient, b"x"):
            assert answer.startswith(b"HTTP/1.1 408 ") and b'"code":"timeout"' in answer
    assert impatient.rejections("HTTP_HEADER_MS") == 50


def test_slow_bodies(impatient):
    with contextlib.ExitStack() as stack:
        clients = []
        for number in range(20):
            client = stack.enter_context(raw(impatient))
            clients.append(client)
            how = b"Content-Length: 1000" if number % 2 else b"Transfer-Encoding: chunked"
            client.sendall(b"POST /api/run HTTP/1.1\r\nHost: localhost\r\n" + how + b"\r\n\r\n")
        for answer in drip(clients, impatient, b"1"):
            assert answer.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 400 "))
    assert impatient.rejections("HTTP_BODY_MS") >= 10


def test_who_says_nothing_at_all(impatient):
    with raw(impatient) as silent:
        assert all_of(silent) == b""
    # One that has been served may stay for its own time, and goes without a word too.
    with raw(impatient) as idle:
        idle.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert all_of(idle).count(b"HTTP/1.1 ") == 1
    assert impatient.rejections("HTTP_HEADER_MS") == 1
    assert impatient.rejections("HTTP_IDLE_MS") == 1


def test_who_does_not_read_is_put_out(home, impatient):
    home.define(ASKS_MUCH)
    with raw(impatient) as client:
        client.sendall(b"GET /api/stream?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        run = impatient.run_of("asks-much", {"text": "x" * 8000})
        wait_until(lambda: impatient.rejections("HTTP_SEND_MS") == 1)
        assert impatient.figures()['baton_streams{kind="sse",behind="none"}'] == 0
        # Whoever reads gets all of it, however long that takes.
        with impatient.stream(f"/api/runs/{run}/stream") as events:
            assert sum(next(events).event["type"] == "human.requested" for _ in range(1001)) == 1000


def test_holding_connections_keeps_nobody_out(home):
    """With 128 descriptors there are 64 connections, half of them for those who have said nothing yet."""
    server = home.serve(under=("prlimit", "--nofile=128:128"))
    with contextlib.ExitStack() as stack:
        holders = [stack.enter_context(raw(server)) for _ in range(32)]
        # Whoever asks is new too, until the question is there: the oldest holder gives way.
        wait_until(lambda: server.figures()["baton_http_connections_new"] == 31)
        assert all_of(holders[0]) == b""
        for _ in range(100):
            assert server.get("/api/health").status == 200
        more = [stack.enter_context(raw(server)) for _ in range(60)]
        for client in holders + more[:28]:
            assert all_of(client) == b""
        assert server.get("/api/health").status == 200
        assert server.rejections("HTTP_NEW_CONNECTIONS") >= 60
        assert server.figures()["baton_http_connections_new"] <= 32


def test_no_more_connections_than_descriptors_allow(home):
    server = home.serve(under=("prlimit", "--nofile=128:128"))
    with contextlib.ExitStack() as stack:
        kept = []
        while True:
            client = stack.enter_context(raw(server))
            with contextlib.suppress(OSError):
                client.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = client.recv(65536)
            if not answer.startswith(b"HTTP/1.1 200 "):
                break
            kept.append(client)
        assert len(kept) == 64
        assert answer.startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in answer
        # baton.sock has places of its own, and the program can still run children.
        figures = home.local("GET", "/metrics").body.decode()
        assert 'baton_rejections_total{limit="HTTP_CONNECTIONS"} 1\n' in figures
        assert home.local("POST", "/api/run", {"workflow": "two-steps", "inputs": {}},
                          {"Prefer": f"wait={WAIT_S}"}).body["status"] == "success"
        # Who stayed is still served.
        kept[0].sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept[0].recv(65536).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: server.get("/api/health").status == 200)


def test_out_of_descriptors_it_waits_without_spinning_and_goes_on(home):
    """The kernel gives no descriptor at all for a while: whoever connects waits in its queue."""
    server = home.serve()
    friend = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)

    def turns():
        friend.request("GET", "/metrics")
        text = friend.getresponse().read().decode()
        return int(re.search(r"^baton_loop_turn_seconds_count (\d+)$", text, re.M).group(1))

    turns()
    used = {int(name) for name in os.listdir(f"/proc/{server.pid}/fd")}
    first_free = next(number for number in range(len(used) + 1) if number not in used)
    before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (first_free, before[1]))
    with raw(server) as client:
        client.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        counted = turns()
        for _ in range(50):
            turns()
        # A few for each question; a loop that tries again and again would turn thousands of times.
        assert turns() - counted < 1000
        assert not select.select([client], [], [], 0)[0]
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    friend.close()


def test_a_websocket_that_is_never_heard_is_put_out(impatient):
    with Client(impatient, "/ws/events") as client:
        client.all()
        assert client.code == 1001 and "idle timeout" in client.reason
    assert impatient.rejections("WS_IDLE_MS") == 1
