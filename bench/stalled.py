"""Clients that connect and never read, by the thousand: what they cost the server and everybody else.

Each kind of client follows the events of all runs from the first one.  When the server has nothing more to give them, their
sockets are full.  Then runs go on, and /health/live is measured.  Afterwards the clients leave.
"""
import pathlib
import re
import resource
import socket
import subprocess
import time

from workloads import ask, figures, folder, judge, serve, until

CLIENTS, PROBES = 2000, 400
RUNS, ITEMS = 60, 400

WORK = """
name: talk
inputs: {items: {type: array}}
steps:
  - name: each
    map: {over: "${inputs.items}", as: item, steps: [{name: say, tool: echo, inputs: {text: "an event that is about as long as most"}}]}
"""
WORKED = {"workflow": "talk", "inputs": {"items": list(range(ITEMS))}}

SSE, SSE_VIEW = "/api/stream?after=0", "/api/stream?after=0&view=runtime"
SOCKET = "/ws/events?since=0"


def rss_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+)", text, re.M).group(1)) / 1024


def connect(address, target):
    host, port = address.rsplit(":", 1)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what it does not read stays with the server
    client.connect((host, int(port)))
    upgrade = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" if target.startswith("/ws") else "")
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: {address}\r\n{upgrade}\r\n".encode())
    return client


def send_buffers(port):
    """The largest send buffer and the largest send queue of the server's sockets, by the kernel."""
    text = subprocess.run(["ss", "-tmnH", "sport", "=", f":{port}"], capture_output=True, text=True, check=True).stdout
    queues = [int(line.split()[2]) for line in text.splitlines() if line.startswith("ESTAB")]
    return max([int(size) for size in re.findall(r"tb(\d+)", text)], default=0), max(queues, default=0)


def live_ms(address, count):
    """The 99th percentile of /health/live on a connection that stays open."""
    host, port = address.rsplit(":", 1)
    took = []
    with socket.create_connection((host, int(port))) as client:
        for _ in range(count):
            began = time.perf_counter()
            client.sendall(f"GET /health/live HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
            got = b""
            while b"\r\n\r\n" not in got or not got.endswith(b"}"):
                got += client.recv(65536)
            took.append((time.perf_counter() - began) * 1000)
            time.sleep(0.002)
    return sorted(took)[int(len(took) * 0.99)]


def settled(server):
    """Waits until the server sends nothing more."""
    seen = [None]

    def same():
        now = figures(server)
        state = [now[name] for name in now if name.startswith(("baton_stream_pages_total", "baton_streams"))]
        time.sleep(0.3)
        before, seen[0] = seen[0], state
        return before == state

    until(same)


def measure(server, target, clients, broken):
    pid, port = server.pid, server.address.rsplit(":", 1)[1]
    idle, before = rss_mb(pid), figures(server)
    opened = [connect(server.address, target) for _ in range(clients)]
    during = live_ms(server.address, PROBES)
    until(lambda: figures(server)["baton_http_connections"] >= clients)
    settled(server)
    stalled, (buffer, queue) = rss_mb(pid), send_buffers(port)
    for _ in range(20):
        ask(server, "/api/run", WORKED)
    live = live_ms(server.address, PROBES)
    most, after = rss_mb(pid), figures(server)
    encoded, shared = (after[f'baton_stream_pages_total{{source="{name}"}}'] - before[f'baton_stream_pages_total{{source="{name}"}}']
                       for name in ("encoded", "memory"))
    for client in opened:
        client.close()
    until(lambda: figures(server)["baton_http_connections"] < 10)
    time.sleep(2)
    left = rss_mb(pid)
    print(f"{target}: {clients} clients that do not read: {stalled:.0f} MB RSS, {most:.0f} MB while runs go on, {left:.0f} MB when they left (idle {idle:.0f}); "
          f"send buffer {buffer} bytes, queued {queue}; {encoded:.0f} pages encoded, {shared:.0f} taken from memory; "
          f"/health/live p99 {during:.1f} ms while they connect, {live:.1f} ms afterwards")
    judge(broken, most <= 64, f"{most:.0f} of 64 MB RSS in total")
    judge(broken, buffer <= 65536, f"{buffer} of 65536 bytes of send buffer for each socket")
    judge(broken, max(during, live) <= 20, f"/health/live p99 {max(during, live):.1f} of 20 ms")
    judge(broken, left <= idle + 8, f"memory is returned: {left:.0f} MB, {idle:.0f} before")


def stalled(broken, clients=CLIENTS):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, clients + 500)), hard))
    for target in (SSE, SSE_VIEW, SOCKET):
        with folder() as home:
            (home / "definitions/talk.yaml").write_text(WORK)
            with serve(home) as server:
                for _ in range(RUNS):
                    ask(server, "/api/run", WORKED, wait=300)
                measure(server, target, clients, broken)
