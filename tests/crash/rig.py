"""The crash rig: kills the program at a failpoint, starts it again, and compares the end with that of an undisturbed run.

A plug is (point, passing): BATON_POINTS makes the program kill itself with SIGKILL at the given passing of the failpoint.  A
traced clean run lists all plugs; the rig must test each of them.

A plan is a scenario in which the program reaches the plug:
    clean            the reference run from its beginning
    chain            a long run of computed steps, for the points around a checkpoint
    branches         a map whose items work in trees of their own, which are merged
    recovery-<x>     the start after a first kill at x, a row of FIRST_KILLS
    drain            the reference run, stopped in order while a step runs
    w20              W20 (w20.py), for the points that the reference run does not pass, and many others
    agents           agents with tools (agents.py)
    care             maintenance of an ended run: compaction, then a rebuild
"""
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import stat
import signal

from baton import ROOT, Gone, Home, killed, wait_until_none_with

MEASURED = {"due_at", "commits", "request_id", "figures"}  # times and what was measured, which differ between runs
RUN = "3f0a9c52-5d7e-4c1b-9a64-0c1d2e3f4a5b"
LONG = "a long text that is stored by its hash " * 20

# Every shell step appends to a file, so that a repeated effect is visible.  The second one waits for a word
# from the client: a process that survived its server would wait forever.
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

# The items follow each other, so that every run passes each point equally often.  The tree of an item is taken while
# the next item begins: which of the two is recorded first may differ.
BRANCHES = """
name: branches
inputs: {who: {}, long: {}}
steps:
  - {name: first, tool: shell, inputs: {command: ": %(run)s; echo base >> log.txt"}}
  - name: each
    depends_on: [first]
    map:
      over: "${['one', 'two']}"
      at_once: 1
      steps:
        - {name: write, tool: shell, inputs: {command: ": %(run)s; cat log.txt >> ${item}.txt; echo ${item} >> ${item}.txt"}}
  - {name: last, tool: shell, depends_on: [each], inputs: {command: ": %(run)s; cat one.txt two.txt >> log.txt; cat log.txt"}}
outputs:
  log: {from: "${steps.last.outputs.stdout}"}
""" % {"run": RUN}
TOOLS = {"reference": 3, "chain": 0, "branches": 4}  # calls of shell

CHAIN_STEPS = 500
CHAIN = "name: chain\ninputs: {who: {}, long: {}}\nsteps:\n" + "".join(
    f"  - {{name: s{n}, tool: echo, inputs: {{n: {n}}}, depends_on: [{f's{n - 1}' if n else ''}]}}\n"
    for n in range(CHAIN_STEPS)) + f"outputs: {{n: {{from: '${{steps.s{CHAIN_STEPS - 1}.outputs.n}}'}}}}\n"

# A tool whose child has ended, a tool that was just requested, and a start that had barely begun.
FIRST_KILLS = {"ended": ("tool.shell_ended", 2), "requested": ("tool.before_start", 1),
               "timer": ("timer.fired", 1)}

CARE_POINTS = ("retention.", "rebuild.")

PLANNED = {}            # plan -> plugs
KILLED = collections.defaultdict(list)  # plan -> plugs that were tested
FAILED = set()          # test ids

# Points that a server does not pass, and the test that kills at them.
ELSEWHERE = {
    "retention.before_removal": "tests/scenario/test_retention.py",
    "retention.removal_recorded": "tests/scenario/test_retention.py",
    "retention.workspace_removed": "tests/scenario/test_retention.py",
    "workspace.before_remove": "tests/scenario/test_retention.py",
    "workspace.emptied": "tests/scenario/test_retention.py",
             "attachments.before_read": "tests/scenario/test_attachments.py",
             "append.written": "tests/scenario/test_tools.py",
             "queue.before_start": "tests/scenario/test_queue.py",
             "file.before_rename": "tests/scenario/test_config.py",
             "file.after_rename": "tests/scenario/test_config.py",
             "schedule.before_start": "tests/scenario/test_schedules.py",
             "schedule.started": "tests/scenario/test_schedules.py",
             "schedule.stepped": "tests/scenario/test_schedules.py",
             "webhook.before_start": "tests/scenario/test_webhooks.py",
             "webhook.delivery_started": "tests/scenario/test_webhooks.py",
             "webhook.page_done": "tests/scenario/test_webhooks.py",
             "webhook.position_stored": "tests/scenario/test_webhooks.py",
             "tracker.change_answered": "tests/scenario/test_trackers.py",
             "subrun.before_stop": "tests/scenario/test_engine_kinds.py",
             "tool.git_ended": "tests/scenario/test_coding_tools.py",
             "tool.git_claimed": "tests/scenario/test_git_worktree.py",
             "tool.git_packed": "tests/scenario/test_git_worktree.py"}
PROFILE = {"name": "rig", "repo_root": "/"}

End = collections.namedtuple("End", "result events files profile")


class Driver:
    """A client that completes its requests, however often the server dies.

    It remembers every acknowledgment; acknowledged data must exist at the end.  It repeats unacknowledged
    requests with the same Idempotency-Key, and the server must accept the repetition."""

    def __init__(self, home, workflow="reference"):
        self.gate = home.gate
        self.workflow = workflow
        self.seen = []
        self.profile_sent = self.profile_known = False
        self.start_known = self.answer_known = False
        self.ended = False

    def go(self, server):
        """True when the run has ended, False when the server died first."""
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
        # 200: the request whose response was lost had created it.
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
        """Sends one word per attempt of the waiting step; a word left over by a dead attempt is harmless."""
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
    """Stops the server as soon as the second step runs, and then lets that step finish."""

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
    home.define(BRANCHES)
    home.trace = os.path.join(home.path, "trace")
    home.gate = home.fifo(RUN, "gate")
    return home


def pull(home, driver, plug):
    """Runs until the plug; the program must have been killed there."""
    name, passing = plug
    server = home.begin_serve(BATON_POINTS=f"{name}=kill@{passing}", BATON_POINTS_TRACE=home.trace)
    if server.listen() and driver.go(server):
        server.popen.terminate()
    assert killed(server), f"{name}@{passing} did not kill the program: {server.errors()}"
    wait_until_none_with(home.data)
    wait_until_none_with(f": {RUN};")


def finish(home, driver, trace=None):
    """Starts the program without a plug, lets the run end if it has not ended already, and stops in order."""
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
    """The plugs of a trace, in order."""
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
    """The events without times; equal for all undisturbed runs."""
    return [(event["type"], {key: value for key, value in event["data"].items() if key not in MEASURED})
            for event in events]


def compare(home, driver, end):
    """Compares the end of a disturbed run with that of an undisturbed one."""
    wanted, _ = clean(driver.workflow)
    assert end.result["status"] == wanted.result["status"] == "success", end.result
    assert end.result["outputs"] == wanted.result["outputs"]
    assert end.files == wanted.files
    assert end.profile == wanted.profile and end.profile[0] == 200
    restarted = [event for event in end.events if event["type"] == "tool.restarted"]
    others = [event for event in end.events if event["type"] != "tool.restarted"]
    if driver.workflow == "branches":
        assert sorted(map(repr, told(others))) == sorted(map(repr, told(wanted.events)))
    else:
        assert told(others) == told(wanted.events)
    assert [event["seq"] for event in end.events] == list(range(1, len(end.events) + 1))
    # The events that the client saw before, between and after the kills are exactly the stored ones:
    # none is lost, none was sent twice.
    assert driver.seen == end.events
    check_effects(end.events)
    # More spawns than recorded attempts would be an unrecorded repetition.
    spawned = [name for name, _ in passed(home.trace)].count("tool.after_spawn")
    assert spawned <= TOOLS[driver.workflow] + len(restarted)
    assert os.listdir(os.path.join(home.data, "locks")) == []
    with home.database() as database:
        assert database.execute("SELECT count(*) FROM effects").fetchone() == (0,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute("SELECT seq, type, body FROM events WHERE type NOT LIKE 'document.%'"
                                " ORDER BY position").fetchall()
    assert rows == [(e["seq"], e["type"], json.dumps(e["data"], separators=(",", ":"), ensure_ascii=False))
                    for e in end.events]


def check_effects(events):
    """Each effect is requested once, restarted only while open, with an attempt number, and closed once."""
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


KEPT = {}               # kind -> (data folder after the first kill, the client's state)


def not_copied(folder, names):
    """Sockets and FIFOs, such as the locks of effects, belong to the processes that made them."""
    kinds = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name, mode in kinds.items() if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)]


def first_killed(kind):
    """Does the first kill once; each second kill gets a copy of the data folder."""
    if kind not in KEPT:
        with make_home() as home:
            driver = Driver(home)
            pull(home, driver, FIRST_KILLS[kind])
            kept = home.path + "-kept"
            shutil.copytree(home.data, kept + "/home", ignore=not_copied)
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


# ---- maintenance ----------------------------------------------------------------------------------------


def ended():
    """A data folder whose reference run has ended undisturbed."""
    if "care" not in KEPT:
        with make_home() as home:
            finish(home, Driver(home))
            kept = home.path + "-kept"
            shutil.copytree(home.data, kept + "/home", ignore=not_copied)
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
    """The run in four vocabularies; the fifth also shows the inputs of steps, which compaction removes."""
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
    """The plugs of a plan: all with --all-points, otherwise the first and last passing of each point."""
    if name == "clean":
        plugs = clean()[1]
    elif name == "chain":
        plugs = [plug for plug in clean("chain")[1] if "checkpoint" in plug[0]]
    elif name == "branches":
        plugs = [plug for plug in clean("branches")[1] if everything or plug[0].startswith("workspace.")]
    elif name == "drain":
        plugs = [("server.draining", 1), ("server.drained", 1)]
    elif name == "care":
        plugs = care_points()
    elif name == "w20":
        import w20  # which is made of this module
        plugs = w20.plugs()
        return plugs if everything else w20.chosen(plugs, {point for point, _ in clean()[1]})
    elif name == "agents":
        import agents  # which is made of this module
        plugs = agents.plugs()
        return plugs if everything else agents.chosen(plugs)
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
