"""GET /metrics: the format, and every series moved by what happens."""
import contextlib
import json
import pathlib
import re
import select
import socket
import subprocess

from baton import PATIENCE_S, ROOT, new_id, wait_until
from test_websocket import Client

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+)\})? (-?[0-9.e+-]+|NaN|[+-]Inf)')
PROMTOOL = pathlib.Path(__file__).resolve().parents[1] / "support/.promtool/promtool"
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\.)*)"')

GATED = """
name: gated
steps:
  - name: hold
    tool: shell
    inputs: {command: "echo up > told; read -r word < gate"}
"""

WAITS = """
name: waits
steps:
  - name: wait
    wait: {seconds: 3600}
"""

ASKS = """
name: asks
steps:
  - name: ask
    human: {question: "Go on?"}
"""

SLEEPS = """
name: sleeps
steps:
  - name: sleep
    tool: shell
    inputs: {command: "sleep 600"}
"""


# ---- the format ----------------------------------------------------------------------------------


def families(text):
    """Reads the text as strictly as its definition is; {name: (kind, [(sample, labels, figure)])}."""
    assert text.endswith("\n")
    found, name = {}, None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("# HELP "):
            name, words = line[7:].split(" ", 1)
            assert re.fullmatch("[a-z_]+", name) and name not in found and words
            kind = next(lines)
            assert kind.startswith(f"# TYPE {name} "), kind
            found[name] = (kind.rsplit(" ", 1)[1], [])
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        labels = LABEL.findall(match[2] or "")
        assert len({label for label, _ in labels}) == len(labels), line
        found[name][1].append((match[1], tuple(labels), float(match[3])))
    return found


def check_histogram(name, samples):
    assert [sample for sample, _, _ in samples[-2:]] == [f"{name}_sum", f"{name}_count"]
    bounds = [(float(labels[0][1]), figure) for sample, labels, figure in samples[:-2]]
    assert [sample for sample, _, _ in samples[:-2]] == [f"{name}_bucket"] * len(bounds)
    assert bounds == sorted(set(bounds)) and bounds[-1][0] == float("inf")
    assert [count for _, count in bounds] == sorted(count for _, count in bounds)
    assert bounds[-1][1] == samples[-1][2]


def judged(text):
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_format_is_kept(server):
    server.start("two-steps", wait=True)
    server.get('/no"such\\path')
    text = server.get("/metrics").body.decode()
    seen = set()
    for name, (kind, samples) in families(text).items():
        assert kind in ("counter", "gauge", "histogram")
        assert name.endswith("_total") == (kind == "counter")
        for sample in samples:
            assert sample[:2] not in seen
            seen.add(sample[:2])
        if kind == "histogram":
            check_histogram(name, samples)
        else:
            assert {sample for sample, _, _ in samples} <= {name}
            assert all(figure >= 0 for _, _, figure in samples)
    # Prometheus' own judge has nothing to say; of a wrong one it has.
    assert judged(text) == (0, "")
    assert "counter metrics should have" in judged("# HELP runs All.\n# TYPE runs counter\nruns 1\n")[1]


# ---- what has happened -----------------------------------------------------------------------------


def test_every_figure_of_the_list_is_there(server):
    rows = re.findall(r"^(?:METRIC|HISTOGRAM|FAMILY)\((\w+),", (ROOT / "contracts/metrics.def").read_text(), re.M)
    assert len(rows) > 40
    assert sorted(families(server.get("/metrics").body.decode())) == sorted(rows)


def test_what_has_happened_is_counted(server):
    before = server.figures()
    server.start("two-steps", wait=True)
    after = server.figures()

    def moved(series):
        return after[series] - before.get(series, 0)

    assert moved("baton_events_total") == 5
    assert moved("baton_commits_total") == moved("baton_appends_total") == 3
    assert moved("baton_commit_appends_count") == moved("baton_commit_appends_sum") == 3
    assert moved("baton_commit_seconds_count") == 3
    assert moved("baton_commit_seconds_sum") > 0
    assert moved("baton_wal_bytes") > 0
    assert moved("baton_loop_turn_seconds_count") > 0
    assert moved('baton_runs{state="succeeded"}') == 1
    assert after["baton_runs_live"] == after["baton_children"] == 0
    # Where processors are scarce the loop may be held; without a slow turn there is no stall.
    later = server.figures()
    slow = later["baton_loop_turn_seconds_count"] - later['baton_loop_turn_seconds_bucket{le="0.1"}']
    assert after["baton_loop_stalls_total"] == 0 or slow > 0


def test_requests_are_counted_by_route_and_status(home, server):
    def count(method, route, status):
        return server.figures().get(f'baton_http_requests_total{{method="{method}",route="{route}",status="{status}"}}', 0)

    for _ in range(3):
        server.get("/api/health")
    server.get(f"/api/runs/{new_id()}")
    server.get("/nowhere")
    server.request("POST", "/api/run", b"{", {"Content-Type": "application/json"})
    with Client(server, "/ws/events"):
        pass
    assert count("GET", "/api/health", 200) == 3
    assert count("GET", "/api/runs/{id}", 404) == 1
    assert count("", "", 404) == 1
    assert count("POST", "/api/run", 400) == 1
    assert count("GET", "/ws/events", 101) == 1
    assert count("", "unread", 400) == 0
    with raw(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\n folded: yes\r\n\r\n")
        assert b" 400 " in client.recv(100)
    assert count("", "unread", 400) == 1


# ---- what is under way -----------------------------------------------------------------------------


def test_what_is_under_way_is_shown(home, server):
    for yaml in (GATED, WAITS, ASKS):
        home.define(yaml)
    own = server.figures()["baton_watches"]  # schedules look at what their runs come to
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    server.until(server.run_of("waits"), "timer.requested")
    server.until(server.run_of("asks"), "human.requested")
    # The streams above are gone when the server has noticed.
    wait_until(lambda: server.figures()["baton_watches"] == own)
    with server.stream(f"/api/runs/{run}/stream") as events, Client(server, "/ws/events") as client:
        next(told for told in events if told.event["type"] == "tool.requested")
        client.sync()
        figures = server.figures()
        assert figures["baton_runs_live"] == 1  # those that only wait are not in memory
        assert figures["baton_tools_open"] == 1
        assert figures["baton_children"] >= 1
        for kind, count in {"contained": 1, "timer": 1, "human": 1, "once": 0, "idempotent": 0}.items():
            assert figures[f'baton_effects_open{{class="{kind}"}}'] == count
            assert (figures[f'baton_effects_oldest_seconds{{class="{kind}"}}'] > 0) == (count > 0)
        assert figures['baton_runs{state="running"}'] + figures['baton_runs{state="waiting_human"}'] == 3
        assert figures["baton_watches"] == own + 2
        assert figures['baton_streams{kind="sse",behind="none"}'] == 1
        assert figures['baton_streams{kind="websocket",behind="none"}'] == 1
        assert figures["baton_http_exchanges_open"] == 3  # the streams and this very request
        assert figures["baton_http_connections"] == 3
        assert figures["baton_draining"] == 0
    gate.send()
    server.finish(run)
    figures = server.figures()
    assert figures["baton_runs_live"] == 0 and figures["baton_tools_open"] == 0


def test_who_does_not_read_is_shown_to_be_behind(home, server):
    """A client that reads nothing while there is more than its queue and the kernel's take."""
    home.define("name: asks-much\ninputs:\n  text: {type: string}\nsteps:\n" + "".join(
        f"  - name: ask{number}\n    human: {{question: '${{inputs.text}}'}}\n" for number in range(1000)))
    with raw(server) as client:
        client.sendall(b"GET /api/stream?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in client.recv(100)
        run = server.run_of("asks-much", {"text": "x" * 8000})
        wait_until(lambda: server.figures()['baton_streams{kind="sse",behind="more"}'] == 1)
        figures = server.figures()
        assert figures["baton_http_exchanges_open"] == 2
        assert figures['baton_effects_open{class="human"}'] == 1000
        # Once it reads, it is not behind any more.
        seen, rest = 0, b""
        while seen < 1000:
            rest += client.recv(1 << 20)
            seen += rest.count(b'"human.requested"')
            rest = rest[rest.rfind(b'"'):]
        wait_until(lambda: server.figures()['baton_streams{kind="sse",behind="none"}'] == 1)
    assert server.result(run)["status"] == "running"


def test_a_queue_is_shown(home):
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold", BATON_POINTS_GATE=str(hold.path))
    first, second = raw(server), raw(server)
    with first, second:
        post(first, "/api/run", {"workflow": "two-steps", "inputs": {}})
        wait_until(lambda: server.figures()["baton_writer_waiting"] == 1)
        # Care of the database is a job behind the commit.
        with contextlib.closing(home.local_socket()) as owner:
            post(owner, "/api/db/vacuum", {})
            wait_until(lambda: server.figures()['baton_queue_depth{lane="writer"}'] == 1)
            assert server.figures()['baton_queue_oldest_seconds{lane="writer"}'] > 0
            hold.send("x")
            assert b" 200 " in owner.recv(100)
        assert b" 202 " in first.recv(100)
    # The run goes on behind its answer, and its commits come and go here.
    wait_until(lambda: server.figures()['baton_queue_depth{lane="writer"}'] == 0)


def test_a_queue_of_readers_is_shown(home):
    """Two questions for the figures and three long bodies, all of which readers' threads read.  The questions
    hold both threads, and the bodies queue behind them.  Whichever question goes on, its thread takes
    the first body and is held there, so two bodies still wait when the answer is made."""
    trace = pathlib.Path(home.path, "trace")
    gate = home.fifo("hold", "readers")
    server = home.serve(BATON_POINTS="metrics.before_read=hold@1-2;body.before_parse=hold",
                        BATON_POINTS_GATE=str(gate.path), BATON_POINTS_TRACE=str(trace))

    def passed(point):
        return trace.read_text().splitlines().count(point)

    with contextlib.ExitStack() as stack:
        asking = [stack.enter_context(raw(server)) for _ in range(2)]
        clients = [stack.enter_context(raw(server)) for _ in range(3)]
        for question in asking:
            question.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        wait_until(lambda: passed("metrics.before_read") == 2)
        for client in clients:
            post(client, "/api/run", {"workflow": "x", "inputs": {"text": "x" * 70000}})
        wait_until(lambda: passed("body.queued") == 3)
        gate.send("1")
        [answered], _, _ = select.select(asking, [], [], PATIENCE_S)
        shown = b"".join(iter(lambda: answered.recv(65536), b"")).decode()
        assert int(re.search(r'^baton_queue_depth{lane="reader"} (\d+)$', shown, re.M)[1]) in (2, 3)
        assert float(re.search(r'^baton_queue_oldest_seconds{lane="reader"} (.*)$', shown, re.M)[1]) > 0
        gate.send("23")  # the other question and the first body
        assert {status(client) for client in clients} == {404}
    figures = server.figures()
    assert figures['baton_queue_depth{lane="reader"}'] == figures['baton_queue_oldest_seconds{lane="reader"}'] == 0


# ---- what was refused ------------------------------------------------------------------------------


def raw(server):
    host, port = server.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=PATIENCE_S)


def post(client, path, body):
    text = json.dumps(body).encode()
    client.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   b"Content-Length: %d\r\n\r\n%s" % (path.encode(), len(text), text))


def status(client):
    return int(client.recv(200).split(b" ")[1])


def test_what_a_limit_refuses_is_counted_as_that(home, server):
    with raw(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 17000)
        assert status(client) == 431
    with raw(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 70 + b"\r\n")
        assert status(client) == 431
    with raw(server) as client:
        client.sendall(b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n")
        assert status(client) == 413
    with raw(server) as client, contextlib.suppress(OSError):
        client.sendall(b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(1100):
            client.sendall(b"1;" + b"x" * 16000 + b"\r\nx\r\n")
    deep = server.request("POST", "/api/run", b"[" * 200, {"Content-Type": "application/json"})
    assert deep.status == 413
    bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n" for before, name in zip("abcdef", "bcdefg"))
    for yaml in ("name: " + "x" * 1100000, bomb):
        answer = home.local("POST", "/api/run", {"workflow": "x", "yaml_content": yaml, "inputs": {}})
        assert answer.status == 422, answer
    with Client(server, "/ws/events") as client:
        client.socket.sendall(bytes([0x81, 0xff]) + (70000).to_bytes(8, "big") + bytes(5))
        client.all()
        assert client.code == 1009
    with Client(server, "/ws/events") as client:
        for _ in range(257):
            client.say(json.dumps({"type": "subscribe", "workflow_id": new_id()}))
        client.all()
        assert client.code == 1008
    for limit in ("HTTP_HEADER_BYTES", "HTTP_HEADERS", "HTTP_BODY_BYTES", "HTTP_FRAMING_BYTES", "JSON_DEPTH",
                  "YAML_BYTES", "YAML_NODES", "WS_MESSAGE_BYTES", "WS_SUBSCRIPTIONS"):
        assert server.rejections(limit) == 1, limit


def test_more_children_than_there_may_be_wait_and_are_counted(home):
    server = home.serve(BATON_TOOLS_ISOLATION="off", BATON_SERVE_DRAIN_SECONDS="0")
    home.define(SLEEPS)
    for _ in range(65):
        server.run_of("sleeps")
    wait_until(lambda: server.figures()["baton_children"] == 64)
    wait_until(lambda: server.rejections("CHILDREN") > 0)
    assert server.figures()['baton_effects_open{class="once"}'] == 65


def test_local_connections_have_a_limit_of_their_own(home, server):
    with contextlib.ExitStack() as stack:
        for _ in range(256):
            stack.enter_context(contextlib.closing(home.local_socket()))
        extra = stack.enter_context(contextlib.closing(home.local_socket()))
        assert status(extra) == 503
        assert server.rejections("HTTP_LOCAL_CONNECTIONS") == 1
        assert server.get("/api/health").status == 200


def test_a_disk_without_room_is_counted(home):
    server = home.serve(BATON_POINTS="store.before_commit=full")
    assert server.start("two-steps").status == 507
    assert server.figures()["baton_commits_full_total"] == 1
