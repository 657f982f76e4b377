"""Kills the program with SIGKILL at its state-changing system calls, found by a tracer (tracer.c).

A kill is "before@17" or "after@17": the 17th such call is never made, or it has been made and the program does not know.
"before@17+after@4" kills a second time, at the fourth call after the restart.  After the last kill the program is started
undisturbed, the client continues, and the end is compared with that of an undisturbed run (rig.compare).

Several data folders are tested in parallel; a test looks only at processes of its own tree.
"""
import collections
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import random
import re
import subprocess
import traceback

import agents
import rig
import w20
from baton import PROGRAM, ROOT

TRACER = str(pathlib.Path(PROGRAM).parents[1] / "tests" / "crash" / "tracer")
# The tracer's exit statuses.
DONE, SURVIVED, REFUSED, UNHARMED = 0, 1, 3, 4
AT_ONCE = 3
TRIES = 4               # retries for a call that was not reached: the order of threads varies

ENOUGH = 5              # failed kills after which to stop, because each may wait long

CHOSEN, CHOSEN_TWICE = 60, 12   # in make test
TWICE = 240                     # with --all-points
CHECKPOINT_CHOSEN = 6

# How a run is made, followed, ended and compared; the default is the rig's own run.
Case = collections.namedtuple("Case", "home driver finish compare clean environment")
CASES = {"w20": Case(w20.Room, w20.Driver, w20.finish, w20.compare, w20.clean, w20.ENVIRONMENT),
         "agents": Case(agents.Room, agents.Driver, agents.finish, agents.compare, agents.clean, w20.ENVIRONMENT)}

Call = collections.namedtuple("Call", "name target")
Life = collections.namedtuple("Life", "killed calls")


def case_of(workflow):
    return CASES.get(workflow) or Case(rig.make_home, functools.partial(rig.Driver, workflow=workflow), rig.finish,
                                       rig.compare, functools.partial(rig.clean, workflow), {})


def parse(text):
    """"before@17+after@4" -> (("before", 17), ("after", 4))"""
    kills = tuple((mode, int(number)) for mode, _, number in
                  (part.partition("@") for part in text.split("+")))
    assert kills and all(mode in ("before", "after") and number > 0 for mode, number in kills), text
    return kills


def name_of(kills):
    return "+".join(f"{mode}@{number}" for mode, number in kills)


# ---- one life -------------------------------------------------------------------------------


def read_report(home, path):
    """The counted calls, and how the program ended."""
    calls, end = [], []
    for line in pathlib.Path(path).read_text().splitlines():
        number, _, rest = line.partition(" ")
        if not number.isdigit():
            end.append(line)
            continue
        name, _, target = rest.partition(" ")
        target = target.replace(home.data, "").lstrip("/")
        target = re.sub(r":\[\d+\]$", "", target)
        target = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "*", target)
        target = re.sub(r"^proc/\d+/fd/\d+/", "…/", target)
        target = re.sub(r"\b[0-9a-f]{64}\b", "*", target)
        target = re.sub(r"(content|…)/[0-9a-f]{2}(?=/|$)", r"\1/*", target)
        target = re.sub(r"flight-\d+|^tmp/.*(?=errors)", "*", target)
        calls.append(Call(name, target or "data folder" if name in ("fsync", "fdatasync") else target))
    return calls, end


def live(home, driver, *options):
    """One life of the program under the tracer, until it is killed, or until the run ends and the program stops in order."""
    assert os.access(TRACER, os.X_OK), f"{TRACER} is not built: run make build"
    report = os.path.join(home.path, f"report-{len(home.started)}")
    server = home.begin_serve(under=(TRACER, "--report", report, "--ignore", home.trace, *options),
                              BATON_POINTS_TRACE=home.trace, **case_of(driver.workflow).environment)
    if server.listen() and driver.go(server):
        server.popen.terminate()
    status = server.wait()
    assert status != REFUSED, server.errors()
    calls, end = read_report(home, report)
    assert status in (DONE, UNHARMED), f"the tracer says {status}, {end}: {server.errors()}"
    return Life(end[0].startswith("killed"), calls), status, end


def pull(home, driver, kill, *options):
    mode, number = kill
    life, status, end = live(home, driver, *options, "--kill-at", str(number),
                             *(["--after"] if mode == "after" else []))
    assert life.killed == (status == DONE)
    assert life.killed or end == ["ended 0"], f"it ended by itself, but not well: {end}"
    return life


@functools.lru_cache
def passes(workflow="reference", *options):
    """The calls of an undisturbed run, in order."""
    case = case_of(workflow)
    with case.home() as home:
        driver = case.driver(home)
        life, status, end = live(home, driver, *options, "--count")
        assert (status, end) == (DONE, ["ended 0"])
        case.compare(home, driver, case.finish(home, driver))
        return life.calls


# ---- a kill, and what follows ------------------------------------------------------------------


class Outcome:
    """The kills that were reached, their calls, and the failure, if any."""

    def __init__(self, kills, workflow):
        self.kills = kills
        self.workflow = workflow
        self.calls = []     # the call of each kill that was reached
        self.problem = self.short = None

    @property
    def complete(self):
        return len(self.calls) == len(self.kills)


def crash(kills, workflow="reference", options=()):
    outcome, case = Outcome(kills, workflow), case_of(workflow)
    try:
        with case.home() as home:
            driver = case.driver(home)
            for kill in kills:
                life = pull(home, driver, kill, *options)
                if not life.killed:
                    break
                outcome.calls.append(life.calls[kill[1] - 1])
            case.compare(home, driver, case.finish(home, driver))
    except Exception as wrong:  # reported with its kill, after the others were tried
        outcome.problem = traceback.format_exc()
        outcome.short = f"{type(wrong).__name__}: {wrong}".splitlines()[0][:300]
    return outcome


def crash_all(plans, workflow="reference", options=()):
    """The outcome of each plan; a plan whose kill was not reached is tried again."""

    wrong = []

    def insist(kills):
        outcome = Outcome(kills, workflow)
        for _ in range(TRIES if len(wrong) < ENOUGH else 0):
            outcome = crash(kills, workflow, options)
            if outcome.problem:
                wrong.append(outcome)
            if outcome.complete or outcome.problem:
                break
        return outcome

    case_of(workflow).clean()  # once, before several threads need it
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(insist, plans))


def walk_on(mode, number, workflow="reference"):
    """The calls after the last one of a clean run, until a run ends without a kill."""
    outcomes = []
    while True:
        outcome = crash(((mode, number),), workflow)
        if outcome.problem is None and not outcome.complete:
            return outcomes
        outcomes.append(outcome)
        number += 1


def told(outcomes):
    """The failures and the command that repeats them; empty when there are none."""
    wrong = [outcome for outcome in outcomes if outcome.problem]
    lines = [f"{len(wrong)} of {len(outcomes)} kills did not end well:"] if wrong else []
    for outcome in wrong:
        where = ", then ".join(" ".join(call) for call in outcome.calls) or "not reached"
        lines.append(f"  {name_of(outcome.kills)} ({where}): {outcome.short}")
    if wrong:
        test = f"test_{wrong[0].workflow}.py" if wrong[0].workflow in CASES else "test_syscalls.py"
        lines += [f"again: pytest tests/crash/{test} --kill " + name_of(wrong[0].kills), "",
                  wrong[0].problem]
    return "\n".join(lines)


# ---- choosing ---------------------------------------------------------------------------------


@functools.lru_cache
def seed():
    """The hash of the commit: the choice differs between commits and is the same on every machine."""
    given = os.environ.get("BATON_CRASH_SEED")
    if given:
        return given
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    return head.stdout.strip() or "no commit"


def dice(purpose):
    return random.Random(hashlib.sha256(f"{seed()} {purpose}".encode()).digest())


def spread(count, places, purpose):
    """Chooses `count` kills, one in each of `count` equal parts of the range, randomly before or after the call."""
    roll = dice(purpose)
    numbers = [1 + int((part + roll.random()) * places / count) for part in range(count)]
    return [((roll.choice(("before", "after")), number),) for number in numbers]


def twice(count, places):
    """A second kill in the start after the first: mostly early, while it recovers."""
    roll = dice("twice")
    plans = []
    for (first,) in spread(count, places, "first of two"):
        left = places - first[1] + 10
        plans.append((first, (roll.choice(("before", "after")), 1 + int(left * roll.random() ** 2))))
    return plans


# ---- the table ----------------------------------------------------------------------------------

OUTCOMES = collections.defaultdict(list)    # plan -> outcomes


def table():
    lines = ["| plan | call | on | killed before | killed after | result |", "|---|---|---|---|---|---|"]
    for plan, outcomes in OUTCOMES.items():
        rows = collections.defaultdict(collections.Counter)
        for outcome in outcomes:
            for (mode, _), call in zip(outcome.kills, outcome.calls):
                rows[call][mode] += 1
            if outcome.calls:
                rows[outcome.calls[-1]]["wrong"] += outcome.problem is not None
        for call, row in sorted(rows.items()):
            lines.append(f"| {plan} | {call.name} | {call.target} | {row['before']} | {row['after']} | "
                         f"{'RED' if row['wrong'] else 'green'} |")
        kills = sum(len(outcome.calls) for outcome in outcomes)
        wrong = sum(outcome.problem is not None for outcome in outcomes)
        lines.append(f"| {plan} | {len(outcomes)} runs, {kills} kills | | | | {'RED' if wrong else 'green'} |")
    return lines
