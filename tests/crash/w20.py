"""W20 under the crash rig: its client, its world, and the comparison of its end.

The workflow calls a web server of the test (support/world.py), whose ledger is the truth about what has happened.  When a kill
interrupts a call of class `once`, the inbox asks about its outcome; this client then does what a person would do: it checks the
ledger and answers `happened` or `retry`.

Branches run in parallel, so the order of events is not compared.  The life of each step is compared: requested once, restarted
only while open, closed once, with the same result as undisturbed.
"""
import collections
import functools
import json
import os
import pathlib

import rig
from baton import Gone, Home, wait_until_none_with
from world import World

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {"BATON_TOOLS_PRIVATE_ADDRESSES": "127.0.0.1"}
ONCE = {"/order/bread", "/order/wine", "/pay", "/tell"}
READ = {"/facts": {"facts": "enough"}, "/prices": {"sum": 12}, "/state": {"state": "well"}}

End = collections.namedtuple("End", "result events child_events artifacts ledger files")


class Shop(World):
    """Answers and records requests; a request with an idempotency key is done once per key."""

    def __init__(self):
        super().__init__()
        self.closes = True
        self.answers.update(READ)
        self.answers.update({path: {"done": path} for path in [*ONCE, "/publish"]})

    def happened(self):
        """What was done, by order and by idempotency key."""
        counts, keys = collections.Counter(), set()
        for asked in list(self.ledger):
            key = (asked.path, asked.headers.get("Idempotency-Key"))
            if asked.path in ONCE or (asked.path == "/publish" and key not in keys):
                counts[asked.path] += 1
            keys.add(key)
        return dict(counts)


class Driver:
    """Completes its requests, however often the server dies, and remembers the acknowledgments."""

    workflow = "w20"

    def __init__(self, home):
        self.world = home.world
        self.seen = []
        self.start_known = self.ended = False
        self.answered = {}      # question -> acknowledged
        self.settled = []       # unknown outcomes that were settled: (step, decision)

    def go(self, server):
        try:
            self.start(server)
            self.ended = self.ended or self.follow(server)
        except Gone:
            pass
        return self.ended

    def start(self, server):
        if self.start_known:
            return
        body = {"workflow": self.workflow, "inputs": self.inputs(), "run_id": rig.RUN}
        answer = server.request("POST", "/api/run", body, {"Idempotency-Key": "start"})
        assert answer.status == 202 and answer.body["run_id"] == rig.RUN, answer
        self.start_known = True

    def inputs(self):
        return {"who": "rig", "world": self.world.base}

    def decide(self, question):
        """A person's answer; for an unknown outcome, after checking the world's ledger."""
        if question["kind"] != "outcome_unknown":
            return {"decision": "approve"}
        self.world.settle()
        path = self.path_of(question["step"])
        done = self.world.happened().get(path, 0)
        assert done <= 1, f"{path} was done {done} times"
        self.settled.append((question["step"], "happened" if done else "retry"))
        if not done:
            return {"decision": "retry"}
        answer = {"done": path}
        return {"decision": "happened",
                "value": {"status": 200, "url": self.world.base + path, "headers": {}, "body": json.dumps(answer),
                          "encoding": "text", "truncated": False, "json": answer}}

    @staticmethod
    def path_of(step):
        return {"order[0]/send": "/order/bread", "order[1]/send": "/order/wine", "pay": "/pay", "tell": "/tell"}[step]

    def answer(self, server):
        """Every known question without an acknowledged answer."""
        for event in self.seen:
            if event["type"] != "human.requested":
                continue
            data = event["data"]
            name = (data["effect"], event["seq"])
            if self.answered.get(name):
                continue
            if name not in self.answered:
                self.answered[name] = False
                self.words = getattr(self, "words", {})
                self.words[name] = {**self.decide(data), "revision": data["revision"], "by": "the rig"}
            answer = server.request("POST", f"/api/inbox/{data['effect']}/respond", self.words[name],
                                    {"Idempotency-Key": f"answer-{event['seq']}"})
            assert answer.status == 200, answer
            self.answered[name] = True

    def follow(self, server):
        self.answer(server)
        last = self.seen[-1]["seq"] if self.seen else None
        with server.stream(f"/api/runs/{rig.RUN}/stream", last) as stream:
            for told in stream:
                self.seen.append(told.event)
                self.answer(server)
                if told.event["type"] == "run.finished":
                    return True
        return False


class Room(Home):
    """A data folder with the two definitions, and the world around it."""

    def __init__(self):
        super().__init__()
        self.trace = os.path.join(self.path, "trace")
        self.mark = f"w20-{os.path.basename(self.path)}"
        self.define((HERE / "w20.yaml").read_text())
        self.define((HERE / "w20-build.yaml").read_text().replace("%(mark)s", self.mark))
        self.world = Shop()

    def __exit__(self, *what):
        self.world.__exit__(*what)
        super().__exit__(*what)


def dead(home):
    """No descendant process of the program is alive."""
    wait_until_none_with(home.data)
    wait_until_none_with(f": {home.mark};")


def pull(home, driver, plug):
    name, passing = plug
    server = home.begin_serve(BATON_POINTS=f"{name}=kill@{passing}", BATON_POINTS_TRACE=home.trace, **ENVIRONMENT)
    if server.listen() and driver.go(server):
        server.popen.terminate()
    came = rig.killed(server)
    dead(home)
    return came


def artifacts_of(server, runs):
    """(name, version, bytes) of every version, read through the API, which checks the hash."""
    found = []
    for run in runs:
        for row in server.get(f"/api/runs/{run}/artifacts").body["items"]:
            answer = server.get(f"/api/runs/{run}/artifacts/{row['name']}?version={row['version']}")
            assert answer.status == 200 and answer.headers["ETag"] == f'"{row["sha256"]}"', answer
            found.append((row["name"], row["version"], answer.body))
    return sorted(found)


def finish(home, driver, trace=None):
    server = home.serve(BATON_POINTS_TRACE=trace or home.trace, **ENVIRONMENT)
    assert driver.go(server), server.errors()
    events = server.events(rig.RUN)
    child = next(event["data"]["effect"] for event in events if event["type"] == "subrun.requested")
    result = server.result(rig.RUN)
    assert server.inbox() == []
    checked = home.local("POST", "/api/db/check")
    assert checked.status == 200 and checked.body["sound"], checked
    artifacts = artifacts_of(server, (rig.RUN, child))
    child_events = server.events(child)
    swept = home.local("POST", "/api/db/compact", {"days": 100})
    assert swept.status == 200, swept
    assert artifacts_of(server, (rig.RUN, child)) == artifacts
    server.popen.terminate()
    assert server.wait() == 0, server.errors()
    dead(home)
    stored = {path.name for path in pathlib.Path(home.data, "artifacts", "content").rglob("*") if path.is_file()}
    files = {str(path.relative_to(home.workspace(child))): path.read_text()
             for path in sorted(home.workspace(child).rglob("*")) if path.is_file()}
    return End(result, events, child_events, artifacts, stored, files)


def lives(events):
    """step -> its events in order, without ids, times and restarts."""
    found = collections.defaultdict(list)
    for event in events:
        data = event["data"]
        if "step" not in data or event["type"] == "tool.restarted":
            continue
        outcome = data.get("outcome")
        output = (data.get("output") or {}).get("is") if not event["type"].startswith("human") else None
        if event["type"] == "tool.finished" and isinstance(output, dict) and "url" in output:
            output = {key: output.get(key) for key in ("status", "json")}
        found[data["step"]].append((event["type"], outcome, json.dumps(output, sort_keys=True)))
    return found


def without_doubt(told, settled):
    """The steps with a settled outcome, rewritten as if they had never been unknown."""
    for step, doubts in collections.Counter(step for step, _ in settled).items():
        rows = [row[:2] for row in told[step]]
        assert sum(kind == "human.requested" for kind, _ in rows) == doubts, told[step]
        assert rows.count(("tool.finished", "unknown")) == doubts, told[step]
        told[step] = None
    return told


def check_effects(events):
    """Each effect is opened and closed once, and opened again only when a person requested a retry."""
    state = {}
    for event in events:
        effect, kind = event["data"].get("effect"), event["type"]
        if effect is None:
            continue
        if kind.endswith(".requested"):
            assert state.get(effect) in (None, "unknown") or kind == "human.requested", event
            state[effect] = "open"
        elif kind == "tool.restarted":
            assert state[effect] == "open", event
        elif kind.endswith(".finished"):
            assert state[effect] == "open", event
            state[effect] = "unknown" if event["data"].get("outcome") == "unknown" else "closed"
    assert set(state.values()) <= {"closed", "unknown"}, state


def compare(home, driver, end):
    wanted = clean()
    assert end.result["status"] == wanted.result["status"] == "success", end.result
    assert end.result["outputs"] == wanted.result["outputs"]
    assert end.artifacts == wanted.artifacts
    assert end.files == wanted.files
    # No at-most-once action was done twice, and every action was done.
    assert home.world.happened() == {path: 1 for path in [*ONCE, "/publish"]}
    told = without_doubt(lives(end.events), driver.settled)
    assert told == {step: told[step] and rows for step, rows in lives(wanted.events).items()}
    assert lives(end.child_events) == lives(wanted.child_events)
    for events in (end.events, end.child_events):
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    # The events that the client saw before, between and after the kills are exactly the stored ones.
    assert driver.seen == end.events
    # Bytes that no artifact refers to were deleted.
    assert len(end.ledger) == len({content for _, _, content in end.artifacts})
    assert os.listdir(os.path.join(home.data, "locks")) == []
    with home.database() as database:
        assert database.execute("SELECT count(*) FROM effects").fetchone() == (0,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@functools.lru_cache
def clean():
    with Room() as home:
        driver = Driver(home)
        end = finish(home, driver)
        assert driver.settled == []
        return end


@functools.lru_cache
def plugs():
    """The passings that every undisturbed run has; group commits differ a little between runs."""
    traces = []
    for _ in range(3):
        with Room() as home:
            finish(home, Driver(home))
            traces.append(rig.passed(home.trace))
    # finish() also runs maintenance after the run has ended, which does not belong to the run.
    return [plug for plug in traces[0] if not plug[0].startswith(rig.CARE_POINTS)
            and all(plug in trace for trace in traces[1:])]


CHOSEN = 15


def chosen(every, elsewhere):
    """In make test: the points that no other plan passes, and some others, chosen by the commit."""
    import syscalls  # which is made of this module
    own = [plug for plug in every if plug[1] == 1 and plug[0] not in elsewhere]
    others = [plug for plug in every if plug not in own]
    return own + sorted(syscalls.dice("w20 points").sample(others, CHOSEN - len(own)), key=every.index)
