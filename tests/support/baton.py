"""Shared by the scenarios and the crash rig: a data folder, the program on it, HTTP, SSE, SQLite.

Every wait is for an event (a line, an SSE event, an exit, a byte in a FIFO), never for a time.  PATIENCE_S is a guard against
a test that hangs, not a measure of speed: it is far above what anything takes on a busy machine.  When a Home closes, it ends
every process it started, by pid, whatever the test did.
"""
import collections
import contextlib
import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str((ROOT / os.environ.get("BATON", "build/baton")).resolve())
PATIENCE_S = int(os.environ.get("BATON_TEST_PATIENCE_S", 120))
WAIT_S = PATIENCE_S - 10  # for Prefer: wait, so that the response has the final result
# A server refuses commands when its disk is 250 ms behind, which happens on a busy machine.  Only tests of
# that behavior want it; a test overrides this rule with one of the same name.
POINTS = "writer.queue_ms=limit@600000"
KEEPALIVE_S = 15  # between two comments of a silent stream
BREATH_S = 0.003
EXIT = {"usage": 2, "invalid": 2, "syntax": 2, "not_found": 4, "conflict": 5, "locked": 8}

Answer = collections.namedtuple("Answer", "status headers body")
Told = collections.namedtuple("Told", "id event")


class Gone(Exception):
    """The server closed the connection in the middle of a response."""


def new_id():
    return str(uuid.uuid4())


def environment(**more):
    """A minimal environment: what the program needs, the sanitizers' options, the mutation of tools/mutate, and the
    test's additions."""
    kept = ("PATH", "HOME", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "BATON_MUTATION")
    clean = {name: os.environ[name] for name in kept if name in os.environ}
    # A test does not change the cgroups of the machine unless it is about them.
    clean["BATON_SANDBOX_LIMITS"] = "rlimit"
    clean.update(more)
    return clean


# ---- HTTP ------------------------------------------------------------------------------------


class LocalConnection(http.client.HTTPConnection):
    """HTTP through a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(connection, method, target, body=None, headers=None):
    """One request; a body that is not bytes is sent as JSON.  The response's body is JSON or bytes."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        data = response.read()
    except TimeoutError:
        raise
    except (OSError, http.client.HTTPException) as lost:
        raise Gone(str(lost)) from lost
    finally:
        connection.close()
    if data and "json" in (response.getheader("Content-Type") or ""):
        data = json.loads(data)
    return Answer(response.status, response.headers, data)


def events_of(response):
    """Splits an SSE body into Told(id, event); ends with the stream, however the stream ends.

    The server's comments keep a silent stream open.  So many comments in a row that PATIENCE_S has passed
    fail the test."""
    number, data, comments = None, [], 0
    while True:
        try:
            line = response.readline()
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as lost:
            raise Gone(str(lost)) from lost
        if not line:
            return
        line = line.decode().rstrip("\n")
        comments = comments + 1 if line.startswith(":") else comments if line == "" else 0
        if comments > PATIENCE_S / KEEPALIVE_S:
            raise TimeoutError("the stream has no more events")
        if line.startswith("id: "):
            number = line[4:]
        elif line.startswith("data: "):
            data.append(line[6:])
        elif line == "" and data:
            yield Told(number, json.loads("\n".join(data)))
            data = []


# ---- processes -------------------------------------------------------------------------------


def processes_with(marker):
    """Pids of living processes with the marker in their command line, except this process."""
    found, own, marker = [], str(os.getpid()), marker.encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or entry == own:
            continue
        # Every test calls this at its end, so it must be fast.
        with contextlib.suppress(OSError), open(f"/proc/{entry}/cmdline", "rb", buffering=0) as words:
            if marker in words.read():
                found.append(int(entry))
    return found


def wait_until(condition):
    """Polls until the condition holds, for conditions without an event.  Between two polls it yields the
    processor."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(BREATH_S)


def wait_until_dead(descriptor, what):
    """Waits for the end of the process behind a pidfd, and closes it."""
    with contextlib.closing(os.fdopen(descriptor, "rb", buffering=0)):
        ready, _, _ = select.select([descriptor], [], [], PATIENCE_S)
    assert ready, f"{what} is still alive"


def wait_until_none_with(marker):
    """Waits for the end of each; a process that stays alive fails the test."""
    while True:
        found = processes_with(marker)
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                wait_until_dead(os.pidfd_open(pid), f"process {pid} with {marker}")


def descendants(pid):
    """Pids of the children, grandchildren and so on of a process."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = pathlib.Path("/proc", entry, "stat").read_text(errors="replace")
                parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


class Process:
    """A started program; its standard output is read line by line."""

    def __init__(self, arguments, env, cwd, errors):
        self.errors_path = errors
        # Unbuffered, because select does not see data in a Python buffer.
        with open(errors, "ab") as file:
            self.popen = subprocess.Popen(arguments, env=env, cwd=cwd, stdin=subprocess.DEVNULL, bufsize=0,
                                          stdout=subprocess.PIPE, stderr=file)
        self.pid = self.popen.pid

    def line(self):
        ready, _, _ = select.select([self.popen.stdout], [], [], PATIENCE_S)
        assert ready, "nothing was printed"
        return self.popen.stdout.readline().decode()

    def errors(self):
        return pathlib.Path(self.errors_path).read_text(errors="replace")

    def wait(self):
        """Waits for the exit status, negative for a signal; the rest of the output is in .output."""
        self.output = self.popen.communicate(timeout=PATIENCE_S)[0].decode(errors="replace")
        return self.popen.returncode

    def kill(self):
        """kill -9; the program and everything it started have ended when this returns."""
        tree = []
        for pid in descendants(self.pid):
            with contextlib.suppress(ProcessLookupError):
                tree.append((os.pidfd_open(pid), pid))
        self.popen.kill()
        status = self.wait()
        for descriptor, pid in tree:
            wait_until_dead(descriptor, f"process {pid}, started by {self.pid},")
        return status

    def end(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait(timeout=PATIENCE_S)
        self.popen.stdout.close()


class Server(Process):
    """`baton serve`; .address once it listens."""

    def listen(self):
        """False when the server ended before it listened."""
        line = self.line()
        if not line:
            return False
        assert line.startswith("listening on http://"), line
        self.address = line.split("http://")[1].strip()
        return True

    def request(self, method, target, body=None, headers=None):
        return ask(http.client.HTTPConnection(self.address, timeout=PATIENCE_S), method, target, body,
                   headers)

    def get(self, target, headers=None):
        return self.request("GET", target, None, headers)

    def start(self, workflow, inputs=None, run_id=None, wait=None):
        """`wait` is the value of Prefer: wait in seconds, or True to wait for the end of the run."""
        body = {"workflow": workflow, "inputs": inputs or {}}
        if run_id is not None:
            body["run_id"] = run_id
        return self.request("POST", "/api/run", body, {"Prefer": f"wait={WAIT_S if wait is True else wait}"} if wait else None)

    def run_of(self, workflow, inputs=None):
        """Starts a run and returns its id."""
        answer = self.start(workflow, inputs)
        assert answer.status == 202, answer
        return answer.body["run_id"]

    def result(self, run):
        answer = self.get(f"/api/runs/{run}")
        assert answer.status == 200, answer
        return answer.body

    def events(self, run):
        """Every stored event of the run, page by page."""
        items, after = [], "0"
        while after is not None:
            page = self.get(f"/api/runs/{run}/events?after={after}").body
            items += page["items"]
            after = page["cursor"]
        return items

    def types(self, run):
        return [event["type"] for event in self.events(run)]

    @contextlib.contextmanager
    def stream(self, target, last=None):
        """An open SSE stream: a generator of Told."""
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        try:
            headers = {} if last is None else {"Last-Event-ID": str(last)}
            try:
                connection.request("GET", target, None, headers)
                response = connection.getresponse()
            except TimeoutError:
                raise
            except (OSError, http.client.HTTPException) as lost:
                raise Gone(str(lost)) from lost
            assert response.status == 200, (response.status, response.read())
            yield events_of(response)
        finally:
            connection.close()

    def follow(self, run, until="run.finished", last=None):
        """The run's events up to and including the first of the type `until`."""
        seen = []
        with self.stream(f"/api/runs/{run}/stream", last) as stream:
            for told in stream:
                seen.append(told.event)
                if told.event["type"] == until:
                    return seen
        raise AssertionError(f"the stream ended without {until}: {[e['type'] for e in seen]}")

    def until(self, run, type):
        """Waits for the first event of that type."""
        return self.follow(run, type)[-1]

    def finish(self, run):
        self.follow(run)
        return self.result(run)

    def figures(self):
        """GET /metrics as {series with its labels: figure}."""
        answer = self.get("/metrics")
        assert answer.status == 200, answer
        lines = answer.body.decode().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines
                if not line.startswith("#")}

    def rejections(self, limit):
        return self.figures()[f'baton_rejections_total{{limit="{limit}"}}']

    def inbox(self):
        return self.get("/api/inbox").body["items"]

    def settle(self, run, decision="not_happened", **more):
        """Waits until a person is asked to settle a call of the run, and answers; returns the question."""
        with self.stream(f"/api/runs/{run}/stream") as stream:
            asked = next(told.event["data"] for told in stream if told.event["type"] == "human.requested"
                         and told.event["data"]["kind"] == "outcome_unknown")
        answer = self.respond(asked["effect"], decision, revision=asked["revision"], **more)
        assert answer.status == 200, answer
        return asked

    def tell(self, run, command, headers=None, **body):
        """POST /api/runs/{run}/{command}."""
        return self.request("POST", f"/api/runs/{run}/{command}", body, headers)

    def steps(self, run):
        """The run's activations by path."""
        answer = self.get(f"/api/runs/{run}/steps")
        assert answer.status == 200, answer
        return {step["step"]: step for step in answer.body["steps"]}

    def respond(self, request, decision="approve", **more):
        return self.request("POST", f"/api/inbox/{request}/respond", {"decision": decision, **more})


# ---- a data folder -----------------------------------------------------------------------------


class Home:
    """The data folder of one test and every process started on it."""
    open = []  # the homes that are not closed yet

    def __init__(self):
        Home.open.append(self)
        self.path = tempfile.mkdtemp(prefix="baton-")
        self.data = os.path.join(self.path, "home")
        self.started = []
        self.fifos = []
        self.ports = []
        os.makedirs(os.path.join(self.data, "definitions"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        Home.open.remove(self)
        for process in self.started:
            process.end()
        try:
            wait_until_none_with(self.data)
        finally:
            for fifo in self.fifos:
                fifo.close()
            for reserved in self.ports:
                reserved.close()
            shutil.rmtree(self.path)

    def branch_files(self, run, name):
        """The files of this name in the folders of the run's branches."""
        return list(pathlib.Path(f"{self.workspace(run)}.branches").glob(f"*/{name}"))

    def define(self, yaml, name=None):
        """Stores a definition under the name in its text."""
        if name is None:
            name = next(line.split(":")[1].strip() for line in yaml.splitlines()
                        if line.startswith("name:"))
        pathlib.Path(self.data, "definitions", name + ".yaml").write_text(yaml)
        return name

    def _start(self, kind, words, env, under=()):
        errors = os.path.join(self.path, f"errors-{len(self.started)}")
        env = {**env, "BATON_POINTS": ";".join(filter(None, [env.get("BATON_POINTS"), POINTS]))}
        process = kind([*under, PROGRAM, "--home", self.data, *words], environment(**env), self.path,
                       errors)
        self.started.append(process)
        return process

    def serve(self, *words, under=(), **env):
        """A server that listens; `under` is a wrapper command with its arguments, such as prlimit."""
        server = self.begin_serve(*words, under=under, **env)
        assert server.listen(), server.errors()
        return server

    def begin_serve(self, *words, port=0, under=(), **env):
        """A server that may fail before it listens; `under` is a wrapper command with its arguments."""
        return self._start(Server, ["serve", "--port", str(port), *words], env, under)

    def port(self):
        """A port that stays reserved while no server listens on it: it is below the kernel's ephemeral ports,
        and a name in the abstract namespace of Unix sockets keeps other tests from using it."""
        lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        for number in range(lowest - 1, 1024, -1):
            reserved = socket.socket(socket.AF_UNIX)
            try:
                reserved.bind(f"\0baton-test-port-{number}")
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", number))
            except OSError:
                reserved.close()
                continue
            self.ports.append(reserved)
            return number
        raise AssertionError("every port is taken")

    def begin(self, *words, under=(), **env):
        """Starts the command-line program without waiting for it; `under` is a wrapper command with its arguments."""
        return self._start(Process, words, env, under)

    def cli(self, *words, **env):
        """Runs the command-line program: (exit status, stdout, stderr)."""
        process = self.begin(*words, **env)
        status = process.wait()
        return status, process.output, process.errors()

    def local(self, method, target, body=None, headers=None):
        """A request through baton.sock."""
        return ask(LocalConnection(os.path.join(self.data, "baton.sock")), method, target, body, headers)

    def local_socket(self):
        """A connection to baton.sock."""
        connection = LocalConnection(os.path.join(self.data, "baton.sock"))
        connection.connect()
        return connection.sock

    def workspace(self, run, *parts):
        return pathlib.Path(self.data, "work", run, *parts)

    def fifo(self, run, name):
        """A FIFO in the workspace of a run that may not exist yet, through which a step talks to the test."""
        path = self.workspace(run, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        self.fifos.append(Fifo(path))
        return self.fifos[-1]

    def database(self):
        """A connection to a copy of the database, so that the test never touches the original."""
        copy = tempfile.mkdtemp(dir=self.path)
        for name in ("baton.db", "baton.db-wal"):
            source = os.path.join(self.data, name)
            if os.path.exists(source):
                shutil.copy(source, copy)
        return contextlib.closing(sqlite3.connect(os.path.join(copy, "baton.db")))

    @contextlib.contextmanager
    def meddled(self):
        """The database itself, to write what only damage or an older program would write.  No other process may
        have it open.  Afterwards every page has the right checksum again (src/store/page_vfs.h)."""
        path = os.path.join(self.data, "baton.db")
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            yield database
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with open(path, "r+b") as file:
            for number, page in enumerate(iter(lambda: file.read(4096), b""), 1):
                one, two = number, ~number & 0xffffffff
                words = struct.unpack("<1022I", page[:4088])
                for i in range(0, 1022, 2):
                    one = (one + words[i] + two) & 0xffffffff
                    two = (two + words[i + 1] + one) & 0xffffffff
                file.seek(number * 4096 - 8)
                file.write(struct.pack("<2I", one, two))

    def commits(self):
        """Transactions in the WAL since its last reset."""
        with open(os.path.join(self.data, "baton.db-wal"), "rb") as file:
            header = file.read(32)
            page = struct.unpack(">I", header[8:12])[0]
            count = 0
            while True:
                frame = file.read(24)
                if len(frame) < 24 or frame[8:16] != header[16:24]:
                    return count
                count += struct.unpack(">I", frame[4:8])[0] != 0
                file.seek(page, os.SEEK_CUR)


class Fifo:
    """The test's end of a FIFO that a step reads or writes."""

    def __init__(self, path):
        self.path = path
        # Opened for reading and writing, so that neither side blocks in open().
        self.file = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def await_line(self):
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.file], [], [], PATIENCE_S)
            assert ready, f"nothing was written to {self.path}"
            line += os.read(self.file, 1)
        return line.decode().strip()

    def send(self, text="go\n"):
        os.write(self.file, text.encode())

    def take_back(self):
        """Data that was sent and not read yet."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.file, 65536)

    def close(self):
        os.close(self.file)


def killed(process):
    """Waits for the end of the process; True when it was killed with SIGKILL."""
    return process.wait() == -signal.SIGKILL
