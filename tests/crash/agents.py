"""Agents with tools under the crash rig: W20's client with another world, which is also the model of one agent.

A kill in the middle of a turn or a call must leave no trace but `tool.restarted`: the same outputs, every call with a side effect
once in the ledger, and every turn asked with the same bytes, however often it is asked.
"""
import collections
import functools
import json
import os
import pathlib
import re

import rig
import w20
from baton import Home

HERE = pathlib.Path(__file__).resolve().parent
EDITED = {"as": "edited"}
MODEL = "/v1/chat/completions"

# `told` and `conversation` are without what differs between undisturbed runs.
End = collections.namedtuple("End", "result events told conversation artifacts requests files")
MEASURED = {"run_id", "seq", "turn", "attempt", "started_at", "ended_at"}


def said(text, *calls):
    """The reply of a model that speaks the chat format."""
    made = [{"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for number, (name, arguments) in enumerate(calls, 1)]
    return {"choices": [{"index": 0, "finish_reason": "tool_calls" if made else "stop",
                         "message": {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 3}}


class Town(w20.Shop):
    """W20's shop, and a model whose reply depends on the transcript alone."""

    def __init__(self, mark):
        super().__init__()
        self.mark = mark
        self.replies = [
            said("I count.", ("shell", {"command": f": {mark}; echo three >> log.txt; wc -l < log.txt"}),
                 ("http_fetch", {"url": self.base + "/prices"})),
            said(None, ("shell", {"command": f": {mark}; echo four >> log.txt; cat log.txt; exit 3"}), ("none", {})),
            said("Five lines.")]
        self.answers = {"/pay": {"done": "/pay"}, "/publish": {"done": "/publish"}, "/facts": {"facts": "enough"},
                        "/prices": {"sum": 12}, "/never": {"done": "/never"}, MODEL: self.reply}

    def reply(self, asked):
        messages = json.loads(asked.body)["messages"]
        return self.replies[sum(message["role"] == "assistant" for message in messages)]

    def done(self):
        """(path, body) of everything that was done: what has a key counts once for each key."""
        found, keys = collections.Counter(), set()
        for asked in list(self.ledger):
            key = asked.headers.get("Idempotency-Key")
            if asked.method == "POST" and asked.path != MODEL and (key is None or key not in keys):
                found[asked.path, asked.body.decode()] += 1
            keys.add(key)
        return dict(found)

    def requests(self):
        """turn -> the different requests that the model got for it."""
        found = collections.defaultdict(set)
        for asked in list(self.ledger):
            if asked.path == MODEL:
                turn = asked.body.count(b'"role":"assistant"')
                found[turn].add(self.plain(asked.body.decode()))
        return dict(found)

    def plain(self, text):
        """Without its address, its mark and the dates of its answers, which differ between runs."""
        text = text.replace(self.base, "http://world").replace(self.mark, "mark")
        return re.sub(r'(\\*"date\\*":\s*\\*")[^"\\]*', r"\1", text)


class Driver(w20.Driver):
    workflow = "agents"

    def inputs(self):
        return {}

    @staticmethod
    def path_of(step):
        return {"work[5]/http_send_once": "/pay"}[step]

    def decide(self, question):
        """One call is edited, the other one rejected; what happened to the payment is in the ledger."""
        if question["kind"] == "outcome_unknown":
            return super().decide(question)
        if question["step"] == "work[3]/approve":
            return {"decision": "modify", "value": {"url": self.world.base + "/publish", "json": EDITED}}
        assert question["step"] == "work[3]/approve#2", question
        return {"decision": "reject", "comment": "never"}


class Room(Home):
    """A data folder with the definition, and the world around it."""

    def __init__(self):
        super().__init__()
        self.trace = os.path.join(self.path, "trace")
        self.mark = f"agents-{os.path.basename(self.path)}"
        self.world = Town(self.mark)
        text = (HERE / "agents.yaml").read_text()
        self.define(text.replace("%(world)s", self.world.base).replace("%(mark)s", self.mark))

    def __exit__(self, *what):
        self.world.__exit__(*what)
        super().__exit__(*what)


def finish(home, driver, trace=None):
    server = home.serve(BATON_POINTS_TRACE=trace or home.trace, **w20.ENVIRONMENT)
    assert driver.go(server), server.errors()
    events, result = server.events(rig.RUN), server.result(rig.RUN)
    assert server.inbox() == []
    checked = home.local("POST", "/api/db/check")
    assert checked.status == 200 and checked.body["sound"], checked
    conversation = server.get(f"/api/runs/{rig.RUN}/conversation").body
    plain = json.loads(home.world.plain(json.dumps([events, conversation])))
    artifacts = w20.artifacts_of(server, [rig.RUN])
    server.popen.terminate()
    assert server.wait() == 0, server.errors()
    w20.dead(home)
    folder = home.workspace(rig.RUN)
    files = {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}
    return End(result, events, w20.lives(plain[0]), transcripts(plain[1], driver.settled), artifacts, home.world.requests(),
               {name: home.world.plain(text) for name, text in files.items()})


def transcripts(value, settled):
    """What the agents said and did.  Of a call whose outcome a person has settled, the person has told the result."""
    if isinstance(value, list):
        return [transcripts(item, settled) for item in value]
    if not isinstance(value, dict):
        return value
    unsure = value.get("step") in {step for step, _ in settled}
    return {key: transcripts(item, settled) for key, item in value.items() if key not in MEASURED and not (unsure and key == "result")}


def compare(home, driver, end):
    wanted = clean()
    assert end.result["status"] == wanted.result["status"] == "success", end.result
    assert end.result["outputs"] == wanted.result["outputs"]
    assert end.artifacts == wanted.artifacts and end.files == wanted.files
    # Each action once, with the person's arguments, and never the one that was rejected.
    assert home.world.done() == {("/pay", '{"sum":12}'): 1, ("/publish", json.dumps(EDITED, separators=(",", ":"))): 1}
    # Each turn was asked with the same bytes, and with those of the undisturbed run.
    assert end.requests == wanted.requests
    assert all(len(bodies) == 1 for bodies in end.requests.values())
    told = w20.without_doubt(dict(end.told), driver.settled)
    assert told == {step: told[step] and rows for step, rows in wanted.told.items()}
    assert end.conversation == transcripts(wanted.conversation, driver.settled)
    assert [event["seq"] for event in end.events] == list(range(1, len(end.events) + 1))
    assert driver.seen == end.events
    w20.check_effects(end.events)
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
    """The passings that every undisturbed run has."""
    traces = []
    for _ in range(2):
        with Room() as home:
            finish(home, Driver(home))
            traces.append(rig.passed(home.trace))
    return [plug for plug in traces[0] if plug in traces[1]]


CHOSEN = 10


def chosen(every):
    """In make test: the turns and calls end to end, at places that the commit chooses."""
    import syscalls  # which is made of this module
    return sorted(syscalls.dice("agents points").sample(every, CHOSEN), key=every.index)
