"""The crash rig: pull the plug at a point, start again, and compare with the undisturbed end.

A plug is (point, passing): BATON_POINTS makes the program kill itself (SIGKILL) when it passes the
point for that time.  A clean run, traced, says which plugs there are; the rig must pull them all.

A plan is a way to come to the plug:
    clean            the reference run from its beginning
    chain            a long run of computed steps, for the points around a checkpoint
    recovery-<x>     the start after a first kill at x, a row of FIRST_KILLS
    drain            the reference run, told to stop while a step runs
    w20              W20 (w20.py), for the points that the reference run does not pass and many others
    care             housekeeping on a run that has ended: compaction, then a rebuild
"""
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import signal

from baton import ROOT, Gone, Home, killed, wait_until_none_with

MEASURED = {"due_at", "commits"}  # times: no two runs have the same
RUN = "3f0a9c52-5d7e-4c1b-9a64-0c1d2e3f4a5b"
LONG = "a long text that is stored by its hash " * 20

# Every shell step appends to a file, so that an effect that happened twice shows.  The second one
# waits for a word of the client: one that survived its server would wait for ever.
REFERENCE = """
name: reference
inputs:
  who: {type: string}
  long: {type: string}
agents:
  ada: {driver: script, options: {replies: [{contains: rig, json: {word: indeed}, usage: {input_tokens: 4}}]}}
steps:
  - name: greet
    tool: echo
    inputs: {text: "hello, ${inputs.who}", long: "${inputs.long}"}
  - name: first
    tool: shell
    depends_on: [greet]
    inputs: {command: ": %(run)s; mkdir -p made/empty; echo '${steps.greet.outputs.text}' >> log.txt"}
  - name: settle
    wait: {seconds: 0.03}
    depends_on: [first]
  - name: think
    agent: ada
    depends_on: [settle]
    inputs: {prompt: "What of ${inputs.who}, ${steps.greet.outputs.long}?"}
  - name: second
    tool: shell
    depends_on: [think]
    inputs:
      command: |
        : %(run)s; echo second ${steps.think.outputs.json.word} >> log.txt; rmdir made/empty; read -r word < gate
        printf '%%s' '${steps.greet.outputs.long}' | wc -c
  - name: approve
    depends_on: [second]
    human: {question: "Go on, ${inputs.who}?"}
    inputs: {size: "${steps.second.outputs.stdout}"}
  - name: publish
    tool: shell
    depends_on: [approve]
    inputs: {command: ": %(run)s; echo published by ${steps.approve.outputs.by} >> log.txt; cat log.txt"}
  - name: note
    tool: echo
    depends_on: [publish]
    inputs: {log: "${steps.publish.outputs.stdout}", size: "${steps.second.outputs.stdout}"}
outputs:
  log: {from: "${steps.note.outputs.log}"}
  size: {from: "${steps.note.outputs.size}"}
""" % {"run": RUN}
TOOLS = 3

CHAIN_STEPS = 500
CHAIN = "name: chain\ninputs: {who: {}, long: {}}\nsteps:\n" + "".join(
    f"  - {{name: s{n}, tool: echo, inputs: {{n: {n}}}, depends_on: [{f's{n - 1}' if n else ''}]}}\n"
    for n in range(CHAIN_STEPS)) + f"outputs: {{n: {{from: '${{steps.s{CHAIN_STEPS - 1}.outputs.n}}'}}}}\n"

# A tool whose child has ended, one that was just requested, and a start that had barely begun.
FIRST_KILLS = {"ended": ("tool.shell_ended", 2), "requested": ("tool.before_start", 1),
               "timer": ("timer.fired", 1)}

CARE_POINTS = ("retention.", "rebuild.")

PLANNED = {}            # plan -> plugs
KILLED = collections.defaultdict(list)  # plan -> plugs that were pulled
FAILED = set()          # test ids

# Points that a server does not pass, and who kills at them.
ELSEWHERE = {"append.written": "tests/scenario/test_tools.py",
             "queue.before_start": "tests/scenario/test_queue.py",
             "file.before_rename": "tests/scenario/test_config.py",
             "file.after_rename": "tests/scenario/test_config.py",
             "schedule.before_start": "tests/scenario/test_schedules.py",
             "schedule.started": "tests/scenario/test_schedules.py",
             "schedule.stepped": "tests/scenario/test_schedules.py",
             "subrun.before_stop": "tests/scenario/test_engine_kinds.py"}
PROFILE = {"name": "rig", "repo_root": "/srv/rig"}

End = collections.namedtuple("End", "result events files profile")


class Driver:
    """A client that does what is to be done, however often the server goes away under it.

    What was acknowledged is remembered, and must be there at the end.  What was not is sent again with
    the same Idempotency-Key, and must be taken then, whether or not it was the first time."""

    def __init__(self, home, workflow="reference"):
        self.gate = home.gate
        self.workflow = workflow
        self.seen = []
        self.profile_sent = self.profile_known = False
        self.start_known = self.answer_known = False
        self.ended = False

    def go(self, server):
        """True when the run has ended, False when the server has gone before."""
        try:
            self.store_profile(server)
            self.start(server)
            self.ended = self.ended or self.follow(server)
        except Gone:
            pass
        return self.ended

    def store_profile(self, server):
        if self.profile_known:
            return
        before, self.profile_sent = self.profile_sent, True
        answer = server.request("POST", "/api/profiles", PROFILE, {"Idempotency-Key": "profile"})
        # 200: it had been made by the one whose answer was lost.
        assert answer.status == 201 or (before and answer.status == 200), answer
        self.profile_known = True

    def start(self, server):
        if self.start_known:
            return
        body = {"workflow": self.workflow, "inputs": {"who": "rig", "long": LONG}, "run_id": RUN}
        answer = server.request("POST", "/api/run", body, {"Idempotency-Key": "start"})
        assert answer.status == 202 and answer.body["run_id"] == RUN, answer
        self.start_known = True

    def answer(self, server):
        asked = [event["data"] for event in self.seen if event["type"] == "human.requested"]
        if not asked or self.answer_known:
            return
        answer = server.request("POST", f"/api/inbox/{asked[0]['effect']}/respond",
                                {"decision": "approve", "revision": asked[0]["revision"], "by": "the rig"},
                                {"Idempotency-Key": "answer"})
        assert answer.status == 200, answer
        self.answer_known = True

    def open_gate(self, event):
        """A word for each attempt of the step that waits; one left over by a dead one does no harm."""
        if event["type"] in ("tool.requested", "tool.restarted") and event["data"]["step"] == "second":
            self.gate.send()

    def follow(self, server):
        self.answer(server)
        last = self.seen[-1]["seq"] if self.seen else None
        with server.stream(f"/api/runs/{RUN}/stream", last) as stream:
            for told in stream:
                self.seen.append(told.event)
                self.answer(server)
                self.open_gate(told.event)
                if told.event["type"] == "run.finished":
                    return True
        return False


class Stopper(Driver):
    """Tells the server to stop as soon as the second step runs, and then lets that one finish."""

    stopped = False

    def follow(self, server):
        self.server = server
        return super().follow(server)

    def open_gate(self, event):
        if event["type"] == "tool.requested" and event["data"]["step"] == "second" and not self.stopped:
            self.stopped = True
            self.server.popen.send_signal(signal.SIGTERM)
        super().open_gate(event)


def make_home():
    home = Home()
    home.define(REFERENCE)
    home.define(CHAIN)
    home.trace = os.path.join(home.path, "trace")
    home.gate = home.fifo(RUN, "gate")
    return home


def pull(home, driver, plug):
    """Runs into the plug; the program must really have died by it."""
    name, passing = plug
    server = home.begin_serve(BATON_POINTS=f"{name}=kill@{passing}", BATON_POINTS_TRACE=home.trace)
    if server.listen() and driver.go(server):
        server.popen.terminate()
    assert killed(server), f"{name}@{passing} did not kill the program: {server.errors()}"
    wait_until_none_with(home.data)
    wait_until_none_with(f": {RUN};")


def finish(home, driver, trace=None):
    """Starts it without a plug, lets the run end, if it has not ended already, and stops politely."""
    server = home.serve(BATON_POINTS_TRACE=trace or home.trace)
    assert driver.go(server), server.errors()
    result, events = server.result(RUN), server.events(RUN)
    assert server.inbox() == []
    checked = home.local("POST", "/api/db/check")
    assert checked.status == 200 and checked.body["sound"], checked
    profile = server.get("/api/profiles/rig")
    server.popen.terminate()
    assert server.wait() == 0, server.errors()
    folder = home.workspace(RUN)
    files = {str(path.relative_to(folder)): path.read_text() if path.is_file() else None
             for path in sorted(folder.rglob("*"))}
    return End(result, events, files, (profile.status, profile.headers["ETag"], profile.body))


def passed(trace):
    """The plugs of a trace, in the order of their passing."""
    counts, plugs = collections.Counter(), []
    for name in pathlib.Path(trace).read_text().split():
        counts[name] += 1
        plugs.append((name, counts[name]))
    return plugs


# ---- the undisturbed end ---------------------------------------------------------------------------


def clean_run(workflow):
    with make_home() as home:
        end = finish(home, Driver(home, workflow))
        return end, passed(home.trace)


@functools.lru_cache
def clean(workflow="reference"):
    return clean_run(workflow)


def told(events):
    """What events say, without times; the same for every undisturbed run."""
    return [(event["type"], {key: value for key, value in event["data"].items() if key not in MEASURED})
            for event in events]


def compare(home, driver, end):
    """The disturbed end against the undisturbed one."""
    wanted, _ = clean(driver.workflow)
    assert end.result["status"] == wanted.result["status"] == "success", end.result
    assert end.result["outputs"] == wanted.result["outputs"]
    assert end.files == wanted.files
    assert end.profile == wanted.profile and end.profile[0] == 200
    restarted = [event for event in end.events if event["type"] == "tool.restarted"]
    others = [event for event in end.events if event["type"] != "tool.restarted"]
    assert told(others) == told(wanted.events)
    assert [event["seq"] for event in end.events] == list(range(1, len(end.events) + 1))
    # What the client saw before, between and after the kills is what there is: nothing it was told
    # is lost, nothing was told twice.
    assert driver.seen == end.events
    check_effects(end.events)
    # Spawned more often than recorded would be a repetition in silence.
    spawned = [name for name, _ in passed(home.trace)].count("tool.after_spawn")
    assert spawned <= (TOOLS if driver.workflow == "reference" else 0) + len(restarted)
    assert os.listdir(os.path.join(home.data, "locks")) == []
    with home.database() as database:
        assert database.execute("SELECT count(*) FROM effects").fetchone() == (0,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute("SELECT seq, type, body FROM events WHERE type NOT LIKE 'document.%'"
                                " ORDER BY position").fetchall()
    assert rows == [(e["seq"], e["type"], json.dumps(e["data"], separators=(",", ":"), ensure_ascii=False))
                    for e in end.events]


def check_effects(events):
    """Each effect: requested once, restarted only while open and counted, closed once."""
    attempts, closed = {}, set()
    for event in events:
        effect = event["data"].get("effect")
        if event["type"].endswith(".requested"):
            assert effect not in attempts
            attempts[effect] = 1
        elif event["type"] == "tool.restarted":
            assert effect in attempts and effect not in closed
            attempts[effect] += 1
            assert event["data"]["attempt"] == attempts[effect]
        elif effect is not None:
            assert effect in attempts and effect not in closed
            closed.add(effect)
    assert closed == set(attempts)


# ---- plans --------------------------------------------------------------------------------------------


KEPT = {}               # kind -> (data folder as the first kill left it, the client's memory)


def first_killed(kind):
    """Kills for the first time, once; each second kill gets a copy of what is left."""
    if kind not in KEPT:
        with make_home() as home:
            driver = Driver(home)
            pull(home, driver, FIRST_KILLS[kind])
            kept = home.path + "-kept"
            shutil.copytree(home.data, kept + "/home", ignore=shutil.ignore_patterns("*.sock", "gate"))
            shutil.copy(home.trace, kept + "/trace")
        KEPT[kind] = kept, driver
    return KEPT[kind]


def forget_first_killed():
    for kept, _ in KEPT.values():
        shutil.rmtree(kept)
    KEPT.clear()


def after_first_kill(kind):
    kept, driver = first_killed(kind)
    home = make_home()
    copy = Driver(home)
    shutil.copytree(kept + "/home", home.data, dirs_exist_ok=True)
    shutil.copy(kept + "/trace", home.trace)
    vars(copy).update(vars(driver), gate=home.gate, seen=list(driver.seen))
    return home, copy


@functools.lru_cache
def recovery_points(kind):
    home, driver = after_first_kill(kind)
    with home:
        trace = os.path.join(home.path, "recovery-trace")
        finish(home, driver, trace=trace)
        return passed(trace)


# ---- housekeeping ---------------------------------------------------------------------------------------


def ended():
    """A home whose reference run has ended undisturbed."""
    if "care" not in KEPT:
        with make_home() as home:
            finish(home, Driver(home))
            kept = home.path + "-kept"
            shutil.copytree(home.data, kept + "/home", ignore=shutil.ignore_patterns("*.sock", "gate"))
        KEPT["care"] = kept, None
    home = make_home()
    shutil.copytree(KEPT["care"][0] + "/home", home.data, dirs_exist_ok=True)
    return home


def care(home):
    for target, body in (("compact", {"days": 0}), ("rebuild", None)):
        answer = home.local("POST", f"/api/db/{target}", body)
        assert answer.status == 200, answer


def care_points():
    with ended() as home:
        server = home.serve(BATON_POINTS_TRACE=home.trace)
        care(home)
        server.kill()
        return [plug for plug in passed(home.trace) if plug[0].startswith(CARE_POINTS)]


def shown(server):
    """The run as four vocabularies show it; the fifth shows what steps were given, too."""
    return [server.get(f"/api/runs/{RUN}?view={view}").body for view in ("runtime", "graph", "pipeline")] + [
        server.get("/api/runs").body, server.inbox()]


def check_cared_for(home, server):
    assert server.get(f"/api/runs/{RUN}/events").status == 410
    assert home.local("POST", "/api/db/check").body["sound"]
    server.kill()
    with home.database() as database:
        left = [row[0] for row in database.execute("SELECT type FROM events ORDER BY position")]
        assert [type for type in left if type.startswith("run.")] == ["run.created", "run.finished", "run.compacted"]
        assert {type for type in left if not type.startswith("run.")} == {"document.changed"}
        assert database.execute("SELECT count(*) FROM effects").fetchone() == (0,)


def plan(name, everything):
    """The plugs of a plan; unless everything is asked for, each point's first and last passing."""
    if name == "clean":
        plugs = clean()[1]
    elif name == "chain":
        plugs = [plug for plug in clean("chain")[1] if "checkpoint" in plug[0]]
    elif name == "drain":
        plugs = [("server.draining", 1), ("server.drained", 1)]
    elif name == "care":
        plugs = care_points()
    elif name == "w20":
        import w20  # which is made of this module
        plugs = w20.plugs()
        return plugs if everything else w20.chosen(plugs, {point for point, _ in clean()[1]})
    else:
        plugs = recovery_points(name.removeprefix("recovery-"))
    if everything:
        return plugs
    last = dict(plugs)
    if name.startswith("recovery"):
        return [plug for plug in plugs if plug[1] == 1]
    return [plug for plug in plugs if plug[1] in (1, last[plug[0]])]


def names_in_source():
    found = set()
    for path in (ROOT / "src").rglob("*.c"):
        found |= set(re.findall(r'\bFAILPOINT\("([^"]+)"\)', path.read_text()))
    return found


# ---- the table -------------------------------------------------------------------------------------------


def table():
    lines = ["| plan | point | passed | killed | result |", "|---|---|---|---|---|"]
    for name, plugs in PLANNED.items():
        planned = collections.Counter(point for point, _ in plugs)
        pulled = collections.Counter(point for point, _ in KILLED[name])
        for point, count in sorted(planned.items()):
            bad = [test for test in FAILED if f"_{name.replace('-', '_')}[{point}@" in test]
            result = "green" if pulled[point] == count and not bad else "RED"
            lines.append(f"| {name} | {point} | {count} | {pulled[point]} | {result} |")
    total = sum(len(plugs) for plugs in KILLED.values())
    lines.append(f"| all | | {sum(map(len, PLANNED.values()))} | {total} | "
                 f"{'green' if not FAILED else 'RED'} |")
    return lines
