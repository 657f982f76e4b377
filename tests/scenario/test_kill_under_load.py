"""kill -9 while 64 clients write: what was acknowledged is there, in order, once.

The moment of each kill is a number of acknowledgements, from a seed, not a time.  An acknowledgement
is an answer 202 or an event that somebody was told; each is in a ledger before the next is asked for.
Each request has an Idempotency-Key, and one without an answer is sent again after the restart.
"""
import collections
import contextlib
import http.client
import json
import os
import random
import threading

from baton import PATIENCE_S, Gone, Home, new_id

WRITERS = 64
WATCHING = 4            # every so manieth writer also follows what it started
ACKNOWLEDGED = 700      # at most so many before a kill
ROUNDS_OF_A_HOME = 20
HOMES = 10 if os.environ.get("BATON_TEST_FULL") else 1

LOAD = """
name: load
inputs:
  text: {type: string}
steps:
  - name: first
    tool: echo
    inputs: {text: "${inputs.text}"}
  - name: settle
    wait: {seconds: 0.002}
    depends_on: [first]
  - name: last
    tool: echo
    depends_on: [settle]
    inputs: {text: "${steps.first.outputs.text}"}
outputs:
  text: {from: "${steps.last.outputs.text}"}
"""


class Round:
    """One life of the server under load; the ledgers outlive it."""

    def __init__(self, server, kill_at):
        self.server = server
        self.kill_at = kill_at
        self.lock = threading.Lock()
        self.count = 0
        self.asked = {}                             # key -> body of a request without an answer
        self.started = set()                        # runs that were acknowledged
        self.seen = collections.defaultdict(list)   # run -> its events as its own stream told them
        self.told = []                              # (position, event) as the stream of all told them
        self.wrong = []

    def acknowledged(self):
        with self.lock:
            self.count += 1
            if self.count == self.kill_at:
                self.server.popen.kill()

    def write(self, number):
        connection = http.client.HTTPConnection(self.server.address, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            while True:
                key = new_id()
                body = self.asked[key] = {"workflow": "load", "inputs": {"text": key * (number % 10)}}
                run = self.start(connection, key, body)
                self.started.add(run)
                del self.asked[key]
                self.acknowledged()
                if number % WATCHING == 0:
                    self.watch(run)

    def start(self, connection, key, body):
        """Asks until it is taken: a server whose disk is behind says so, and has done nothing."""
        while True:
            try:
                connection.request("POST", "/api/run", json.dumps(body),
                                   {"Content-Type": "application/json", "Idempotency-Key": key})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as lost:
                raise Gone from lost
            assert answer.status in (202, 503), text
            if answer.status == 202:
                return json.loads(text)["run_id"]

    def watch(self, run):
        with self.server.stream(f"/api/runs/{run}/stream") as stream:
            for told in stream:
                self.seen[run].append(told.event)
                self.acknowledged()

    def watch_all(self, after):
        with self.server.stream("/api/stream", after) as stream:
            for told in stream:
                self.told.append((int(told.id), told.event))
                self.acknowledged()

    def thread(self, function, argument):
        def work():
            try:
                function(argument)
            except Gone:
                pass
            except Exception as wrong:  # told in the main thread
                self.wrong.append(repr(wrong))
        return threading.Thread(target=work)

    def play(self, after):
        threads = [self.thread(self.write, number) for number in range(WRITERS)]
        threads.append(self.thread(self.watch_all, after))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert self.wrong == []
        assert self.count >= self.kill_at
        self.server.kill()


def take_up(server, load, after):
    """The clients send again what was not answered; everything ends.  The stream of all since `after`."""
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    with contextlib.closing(connection):
        again = {load.start(connection, key, body) for key, body in load.asked.items()}
    assert len(again) == len(load.asked) and not again & load.started
    load.started |= again
    open_runs = set(load.started)
    told = []
    with server.stream("/api/stream", after) as stream:
        while open_runs:
            position, event = next(stream)
            told.append((int(position), event))
            if event["type"] == "run.finished":
                open_runs.remove(event["run_id"])
    return told


def check(load, told, after, wanted_types):
    positions = [position for position, _ in told]
    assert positions == sorted(set(positions)) and positions[0] > after
    runs = collections.defaultdict(list)
    for _, event in told:
        runs[event["run_id"]].append(event)
    # Nothing but what was asked for, each from its beginning to its end, nothing twice.
    assert set(runs) == load.started
    for events in runs.values():
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert [event["type"] for event in events] == wanted_types
        assert events[-1]["data"]["outcome"] == "ok", events[-1]
    # Whatever was told before the kill is told now, word for word and in the same order.
    assert load.told == told[:len(load.told)]
    for run, seen in load.seen.items():
        assert seen == runs[run][:len(seen)]


def play_rounds(seed):
    dice = random.Random(seed)
    counts = collections.Counter()
    with Home() as home:
        home.define(LOAD)
        server = home.serve()
        run = server.run_of("load", {"text": "calm"})
        wanted_types = [event["type"] for event in server.follow(run)]
        with server.stream("/api/stream", 0) as stream:
            after = [int(next(stream).id) for _ in wanted_types][-1]
        for _ in range(ROUNDS_OF_A_HOME):
            load = Round(server, dice.randint(1, ACKNOWLEDGED))
            load.play(after)
            server = home.serve()
            told = take_up(server, load, after)
            check(load, told, after, wanted_types)
            after = told[-1][0]
            counts.update(rounds=1, started=len(load.started), again=len(load.asked),
                          seen=len(load.told) + sum(map(len, load.seen.values())))
        # And the folder as a whole: every round's runs and no others, sound to the last reference.
        stats = home.local("GET", "/api/db/stats").body
        assert stats["runs"] == counts["started"] + 1
        assert stats["events"] == stats["runs"] * len(wanted_types)
        assert stats["effects"] == 0
        checked = home.local("POST", "/api/db/check")
        assert checked.status == 200 and checked.body["sound"], checked
    return counts


def test_what_was_acknowledged_survives_every_kill():
    for seed in range(HOMES):
        counts = play_rounds(seed)
        print(f"seed {seed}: {dict(counts)}")
        assert counts["rounds"] == ROUNDS_OF_A_HOME
        assert counts["started"] > counts["again"] > 0 and counts["seen"] > 0
