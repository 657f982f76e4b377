"""WebSockets: /ws/events with its backfill and subscriptions, /ws/execution, and who may open one."""
import base64
import contextlib
import hashlib
import json
import os
import socket
import struct

import pytest
from baton import PATIENCE_S, Gone, new_id

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10
NOBODY = "00000000-0000-4000-8000-000000000000"

GATED = """
name: gated
steps:
  - name: first
    tool: echo
    inputs: {text: one}
  - name: hold
    tool: shell
    depends_on: [first]
    inputs: {command: "echo up > told; read -r word < gate"}
  - name: last
    tool: echo
    depends_on: [hold]
    inputs: {text: three}
"""

# An event of the pipeline vocabulary as it is on the wire.
EVENT = {"id", "domain", "workflow_id", "sequence", "timestamp", "agent", "event_type", "level",
         "message", "data", "session_id", "correlation_id", "tool_name", "tool_input", "is_error", "model",
         "trace_id", "parent_id"}


class Refused(Exception):
    """The answer to the handshake was another one than 101."""

    def __init__(self, status, head, body):
        super().__init__(status)
        self.status, self.head, self.body = status, head, body


class Client:
    """A WebSocket client: what it needs of RFC 6455, and no more."""

    def __init__(self, server, target, headers=None, upgrade=True):
        host, port = server.address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        self.code = self.reason = None
        self.bytes, self.parts, self.whole = b"", [], True
        key = base64.b64encode(os.urandom(16)).decode()
        lines = {"Host": server.address}
        if upgrade:
            lines.update({"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                          "Sec-WebSocket-Key": key})
        lines.update(headers or {})
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.socket.sendall(f"GET {target} HTTP/1.1\r\n{head}\r\n".encode())
        self.read_head(key)

    def read_head(self, key):
        while b"\r\n\r\n" not in self.bytes:
            self.more()
        head, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        status = int(lines[0].split()[1])
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        if status != 101:
            body = self.take(int(headers.get("content-length", 0)))
            self.socket.close()
            raise Refused(status, headers, json.loads(body))
        wanted = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        assert headers["sec-websocket-accept"] == wanted
        self.headers = headers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def more(self):
        try:
            got = self.socket.recv(65536)
        except TimeoutError:
            raise
        except OSError as lost:
            raise Gone(str(lost)) from lost
        if not got:
            raise Gone("the server closed")
        self.bytes += got

    def take(self, size):
        while len(self.bytes) < size:
            self.more()
        got, self.bytes = self.bytes[:size], self.bytes[size:]
        return got

    def frame(self):
        first, size = self.take(2)
        assert first & 0x70 == 0 and size < 128  # unmasked, nothing reserved
        self.whole = first & 0x80 != 0
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return first & 15, self.take(size)

    def send_frame(self, opcode, payload):
        mask = os.urandom(4)
        assert len(payload) < 65536
        size = (bytes([0x80 | len(payload)]) if len(payload) < 126
                else b"\xfe" + struct.pack(">H", len(payload)))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def say(self, message):
        text = message if isinstance(message, str) else json.dumps(message)
        self.send_frame(TEXT, text.encode())

    def hear(self):
        """The next message; None once the server has closed, .code and .reason say how."""
        while True:
            opcode, payload = self.frame()
            if opcode in (TEXT, CONTINUATION):
                assert (opcode == TEXT) == (self.parts == [])
                self.parts.append(payload)
                if self.whole:
                    text, self.parts = b"".join(self.parts), []
                    return json.loads(text)
            if opcode == PING:
                self.send_frame(PONG, payload)
            if opcode == CLOSE:
                self.code = struct.unpack(">H", payload[:2])[0] if payload else None
                self.reason = payload[2:].decode()
                self.send_frame(CLOSE, payload[:2])
                return None

    def all(self):
        """Everything until it closes."""
        messages = []
        while (message := self.hear()) is not None:
            messages.append(message)
        return messages

    def events(self, count):
        """So many events, and nothing else between them."""
        heard = [self.hear() for _ in range(count)]
        assert [message["type"] for message in heard] == ["event"] * count, heard
        assert all(set(message) == {"type", "payload"} for message in heard)
        return [message["payload"] for message in heard]

    def sync(self):
        """What was said before has been heard when this returns; what came meanwhile is given."""
        self.say({"type": "ping"})
        before = []
        while (message := self.hear()) != {"type": "pong"}:
            before.append(message)
        return before


def begin_gated(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    return run, told, gate


def shown(server, run):
    """A run's events as the pipeline view has them, over plain HTTP."""
    items, after = [], "0"
    while after is not None:
        page = server.get(f"/api/runs/{run}/events?view=pipeline&after={after}").body
        items += page["items"]
        after = page["cursor"]
    return items


# ---- the door --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/ws/events", "/api/ws/events", f"/ws/execution/{NOBODY}"])
def test_without_an_upgrade_the_path_says_what_it_wants(server, path):
    answer = server.get(path)
    assert (answer.status, answer.body["code"]) == (426, "upgrade_required")
    assert answer.headers["Upgrade"] == "websocket"
    assert answer.headers["Connection"] == "Upgrade"
    assert answer.headers["Sec-WebSocket-Version"] == "13"
    assert server.request("POST", path, {}).status == 405


@pytest.mark.parametrize("headers, status", [
    ({"Sec-WebSocket-Version": "8"}, 426),
    ({"Connection": "close"}, 426),
    ({"Sec-WebSocket-Key": "short"}, 400),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Host": "evil.example"}, 421),
])
def test_who_is_not_let_in(server, headers, status):
    with pytest.raises(Refused) as refused:
        Client(server, "/ws/events", headers)
    assert refused.value.status == status
    assert refused.value.head["content-type"] == "application/problem+json"


def test_a_page_of_our_own_is_let_in(server):
    with Client(server, "/ws/events", {"Origin": f"http://{server.address}"}) as client:
        assert client.sync() == []


def test_an_upgrade_where_there_is_no_socket_is_an_ordinary_request(server):
    with pytest.raises(Refused) as refused:
        Client(server, "/api/health")
    assert (refused.value.status, refused.value.body["status"]) == (200, "ok")


# ---- /ws/events: live ------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/ws/events", "/api/ws/events"])
def test_everything_from_now_on(server, path):
    server.start("two-steps", wait=True)
    with Client(server, path) as client:
        run = server.start("two-steps", wait=True).body["run_id"]
        events = client.events(len(shown(server, run)))
        assert client.sync() == []
    assert events == shown(server, run)
    assert all(set(event) == EVENT for event in events)
    assert {event["workflow_id"] for event in events} == {run}
    assert events[0]["event_type"] == "workflow_created"
    assert events[-1]["event_type"] == "workflow_completed"


def test_subscriptions(home, server):
    """A followed run's event proves that the cursor has passed what was not to be told."""
    gated = [begin_gated(home, server) for _ in range(3)]

    def finish(number):
        run, _, gate = gated[number]
        gate.send()
        server.finish(run)
        return run

    with Client(server, "/ws/events") as client:
        client.say({"type": "subscribe", "workflow_id": gated[1][0]})
        client.say({"type": "subscribe", "workflow_id": gated[1][0]})
        assert client.sync() == []
        first, second = finish(0), finish(1)
        # The rest of the second run, and not a word of the first.
        assert client.events(3) == shown(server, second)[-3:]
        client.say({"type": "unsubscribe", "workflow_id": first})  # was never subscribed to
        client.say({"type": "unsubscribe", "workflow_id": second})
        assert client.sync() == []
        # Nothing subscribed to is everything.
        run = server.start("two-steps", wait=True).body["run_id"]
        assert client.events(len(shown(server, run))) == shown(server, run)
        client.say({"type": "subscribe", "workflow_id": gated[2][0]})
        assert client.sync() == []
        server.start("two-steps", wait=True)
        third = finish(2)
        assert client.events(3) == shown(server, third)[-3:]
        client.say({"type": "subscribe_all"})
        assert client.sync() == []
        run = server.start("two-steps", wait=True).body["run_id"]
        assert client.events(len(shown(server, run))) == shown(server, run)


def test_a_pong_is_taken_and_a_ping_answered(server):
    with Client(server, "/ws/events") as client:
        client.say({"type": "pong"})
        client.say({"type": "ping"})
        assert client.hear() == {"type": "pong"}
        client.send_frame(PING, b"frame")
        assert client.frame() == (PONG, b"frame")


@pytest.mark.parametrize("message", [
    "", "nonsense", "[]", "{}", '{"type": 1}', '{"type": "subscribed"}', '{"type": "subscribe"}',
    '{"type": "subscribe", "workflow_id": 7}', '{"type": "unsubscribe", "workflow_id": "seven"}',
])
def test_what_is_not_understood_closes(server, message):
    with Client(server, "/ws/events") as client:
        client.say(message)
        assert client.hear() is None
        assert client.code == 1008 and client.reason


def test_only_so_many_subscriptions(server):
    with Client(server, "/ws/events") as client:
        for _ in range(256):
            client.say({"type": "subscribe", "workflow_id": new_id()})
        assert client.sync() == []
        client.say({"type": "subscribe", "workflow_id": new_id()})
        assert client.hear() is None
        assert client.code == 1008


def test_the_client_closes(server):
    with Client(server, "/ws/events") as client:
        client.send_frame(CLOSE, struct.pack(">H", 1000))
        assert client.hear() is None
        assert client.code == 1000
        with pytest.raises(Gone):
            client.more()


# ---- /ws/events: backfill --------------------------------------------------------------------


def test_backfill_behind_every_event(server):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(2)]
    events = shown(server, runs[0]) + shown(server, runs[1])
    for at, event in enumerate(events):
        rest = events[at + 1:]
        with Client(server, f"/ws/events?since={event['id']}") as client:
            assert client.events(len(rest)) == rest
            assert client.hear() == {"type": "backfill_complete", "count": len(rest)}
            assert client.sync() == []


def test_backfill_behind_a_position(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    events = shown(server, run)
    positions = [int(event["position"]) for event in server.events(run)]
    with Client(server, "/ws/events?since=0") as client:
        assert client.events(len(events)) == events
        assert client.hear() == {"type": "backfill_complete", "count": len(events)}
    with Client(server, f"/ws/events?since={positions[-1]}") as client:
        assert client.hear() == {"type": "backfill_complete", "count": 0}


@pytest.mark.parametrize("since", [NOBODY, "garbage", "-1", "999999", "1.x", "1.-5", "x" * 500])
def test_an_event_that_is_not_there(server, since):
    server.start("two-steps", wait=True)
    with Client(server, f"/ws/events?since={since}") as client:
        told = client.hear()
        assert set(told) == {"type", "message"}
        assert told["type"] == "backfill_expired" and told["message"]
        # It goes on from now.
        assert client.sync() == []
        run = server.start("two-steps", wait=True).body["run_id"]
        assert client.events(len(shown(server, run))) == shown(server, run)


def test_a_backfill_has_everything_whatever_is_subscribed_to_meanwhile(home, server):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(3)]
    events = [event for run in runs for event in shown(server, run)]
    with Client(server, "/ws/events?since=0") as client:
        client.say({"type": "subscribe", "workflow_id": runs[2]})
        client.say({"type": "ping"})
        heard = []
        while len(heard) < len(events) + 2:
            heard.append(client.hear())
        assert [m["payload"] for m in heard if m["type"] == "event"] == events
        assert {"type": "backfill_complete", "count": len(events)} in heard
        server.start("two-steps", wait=True)
        assert client.sync() == []


def test_backfill_then_live_across_a_kill(home, server):
    """Whatever a client has seen, going on behind it gives the rest: no gap, nothing twice."""
    run, told, gate = begin_gated(home, server)
    with Client(server, "/ws/events?since=0") as client:
        seen = client.events(3)
        assert client.hear()["type"] == "backfill_complete"
        server.kill()
        with contextlib.suppress(Gone):
            assert client.all() == []
    server = home.serve()
    told.await_line()
    with Client(server, f"/ws/events?since={seen[-1]['id']}") as client:
        heard = [client.hear()]
        while heard[-1]["type"] == "event":
            heard.append(client.hear())
        assert heard[-1] == {"type": "backfill_complete", "count": len(heard) - 1}
        gate.send()
        while heard[-1].get("payload", {}).get("event_type") != "workflow_completed":
            heard.append(client.hear())
        assert client.sync() == []
    seen += [message["payload"] for message in heard if message["type"] == "event"]
    assert seen == shown(server, run)
    assert [event["sequence"] for event in seen] == sorted({event["sequence"] for event in seen})
    assert "system_warning" in [event["event_type"] for event in seen]  # the repeated step


@pytest.mark.parametrize("kills", [3])
def test_a_client_that_always_comes_back_misses_nothing(home, kills):
    """Runs go on while the client reads a little and the server is killed, again and again."""
    server = home.serve()
    seen, runs = [], []
    for _ in range(kills):
        since = seen[-1]["id"] if seen else "0"
        with Client(server, f"/ws/events?since={since}") as client:
            runs += [server.run_of("two-steps") for _ in range(3)]
            while len(seen) < 4 * len(runs):
                message = client.hear()
                if message["type"] == "event":
                    seen.append(message["payload"])
        server.kill()
        server = home.serve()
    for run in runs:
        server.finish(run)
    with Client(server, f"/ws/events?since={seen[-1]['id']}") as client:
        while (message := client.hear())["type"] == "event":
            seen.append(message["payload"])
    by_run = {run: [event for event in seen if event["workflow_id"] == run] for run in runs}
    assert sum(map(len, by_run.values())) == len(seen)
    for run in runs:
        assert by_run[run] == shown(server, run)


def test_a_reader_that_does_not_read_stops_nobody(home, server):
    """More than its queue and the kernel's buffers take waits for the slow one, on the disk."""
    steps = 1500
    lines = ["name: wide", "steps:"]
    lines += [f"  - {{name: s{n:04}, tool: echo, inputs: {{text: '{'x' * 200}'}}}}" for n in range(steps)]
    home.define("\n".join(lines) + "\n")
    with Client(server, "/ws/events?since=0") as slow:
        runs = [server.start("wide", wait=True).body["run_id"] for _ in range(2)]
        assert server.get("/api/health").status == 200
        assert server.start("two-steps", wait=True).body["status"] == "success"
        seen = []
        while len(seen) < 2 * (steps + 2):
            message = slow.hear()
            if message["type"] == "event":
                seen.append(message["payload"])
    assert [event["workflow_id"] for event in seen] == [run for run in runs for _ in range(steps + 2)]
    assert [event["sequence"] for event in seen] == 2 * list(range(1, steps + 3))


@pytest.mark.parametrize("refused", range(2, 6))
def test_a_message_that_the_client_has_no_room_for_is_sent_again(home, refused):
    """Whichever message of the page is refused, no event is lost and none comes twice."""
    server = home.serve(BATON_POINTS=f"http.write=full@{refused}")
    run = server.start("two-steps", wait=True).body["run_id"]
    events = shown(server, run)
    with Client(server, "/ws/events?since=0") as client:
        for event in events:
            assert client.hear() == {"type": "event", "payload": event}  # a gap shows at once
        assert client.hear() == {"type": "backfill_complete", "count": len(events)}


# ---- /ws/execution ---------------------------------------------------------------------------


def test_an_execution_from_its_beginning_to_its_end(home, server):
    run, _, gate = begin_gated(home, server)
    with Client(server, f"/ws/execution/{run}") as client:
        past = [client.hear() for _ in range(3)]
        assert [event["event"] for event in past] == ["workflow_start", "step_end", "step_start"]
        gate.send()
        events = past + client.all()
        assert (client.code, client.reason) == (1000, "the run has ended")
    assert [event["event"] for event in events[3:]] == ["step_end", "step_end", "workflow_end"]
    assert all(set(event) == {"event", "data", "timestamp"} for event in events)
    assert events[0]["data"]["run_id"] == run and events[0]["data"]["workflow"] == "gated"
    assert events[-1]["data"]["run_id"] == run and events[-1]["data"]["status"] == "success"
    # One who comes late is told the same.
    with Client(server, f"/ws/execution/{run}") as client:
        assert client.all() == events
        assert client.code == 1000


def test_an_execution_is_told_again_after_a_kill(home, server):
    run, told, gate = begin_gated(home, server)
    with Client(server, f"/ws/execution/{run}") as client:
        past = [client.hear() for _ in range(3)]
        server.kill()
    server = home.serve()
    told.await_line()
    gate.send()
    with Client(server, f"/ws/execution/{run}") as client:
        events = client.all()
        assert client.code == 1000
    assert events[:3] == past
    assert events[-1]["event"] == "workflow_end"


def test_an_execution_that_is_not_there(server):
    with pytest.raises(Refused) as refused:
        Client(server, f"/ws/execution/{new_id()}")
    assert (refused.value.status, refused.value.body["code"]) == (404, "not_found")
    with pytest.raises(Refused) as refused:
        Client(server, "/ws/execution/seven")
    assert refused.value.status == 404


def test_what_an_executions_client_says_is_not_listened_to(home, server):
    run, _, gate = begin_gated(home, server)
    with Client(server, f"/ws/execution/{run}") as client:
        client.say("anything")
        gate.send()
        assert client.all()[-1]["event"] == "workflow_end"
        assert client.code == 1000


def test_a_polite_stop_says_goodbye(home, server):
    with Client(server, "/ws/events") as client:
        assert client.sync() == []
        server.popen.terminate()
        assert client.all() == []
        assert client.code == 1001
    assert server.wait() == 0
