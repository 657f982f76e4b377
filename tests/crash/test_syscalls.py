"""Kills the program with SIGKILL at its state-changing system calls; the run must end as if undisturbed.

Without options: as many kills as the budget allows, chosen by the commit hash; BATON_CRASH_SEED=<hash or any text> overrides it.
--all-points: every call.  --kill before@17 (or before@17+after@4): only that kill.
"""
import subprocess

import syscalls


def good(plan, outcomes, at_least):
    syscalls.OUTCOMES[plan] += outcomes
    problems = syscalls.told(outcomes)
    assert not problems, problems
    complete = sum(outcome.complete for outcome in outcomes)
    assert complete >= at_least, f"{complete} of {len(outcomes)} plans came to their kill"


def test_the_tracer_counts_and_kills_where_it_says(tmp_path):
    """Before: the call has no effect.  After: it has, and nothing follows."""
    script = "echo one; echo two; sleep 0 & echo three"

    def trace(*options):
        report = tmp_path / "report"
        ended = subprocess.run([syscalls.TRACER, "--report", report, *options, "/bin/sh", "-c", script],
                               stdout=subprocess.PIPE, text=True, check=False)
        return ended.returncode, ended.stdout, report.read_text().splitlines()

    status, output, lines = trace("--count")
    assert (status, output, lines[-1]) == (syscalls.DONE, "one\ntwo\nthree\n", "ended 0")
    assert [line.split()[1] for line in lines[:-1]] == ["write", "write", "clone", "write"]
    for number, before in ((1, ""), (2, "one\n"), (3, "one\ntwo\n")):
        assert trace("--kill-at", str(number))[:2] == (syscalls.DONE, before)
    for number, after in ((1, "one\n"), (2, "one\ntwo\n"), (4, "one\ntwo\nthree\n")):
        assert trace("--kill-at", str(number), "--after")[:2] == (syscalls.DONE, after)
    status, output, lines = trace("--kill-at", "5")
    assert (status, lines[-1]) == (syscalls.UNHARMED, "ended 0")


def test_the_tracer_notices_a_process_that_survives(tmp_path):
    report = tmp_path / "report"
    ended = subprocess.run([syscalls.TRACER, "--report", report, "--patience", "3", "--kill-at", "2",
                            "/bin/sh", "-c", "sleep 1000 & echo two"], stdout=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == syscalls.SURVIVED
    assert [line.split()[2] for line in report.read_text().splitlines() if "survived" in line] == ["sleep"]


def test_killed_at_its_calls(which, request):
    """`which` is chosen, before, after or asked: see conftest.py."""
    places = len(syscalls.passes())
    if which == "asked":
        plans = [syscalls.parse(text) for text in request.config.getoption("kill")]
    elif which == "chosen":
        plans = syscalls.spread(syscalls.CHOSEN, places, which)
    else:
        plans = [((which, number),) for number in range(1, places + 1)]
    outcomes = syscalls.crash_all(plans)
    if which in ("before", "after"):
        outcomes += syscalls.walk_on(which, places + 1)
    # Fewer kills than the calls of a clean run would mean that some were never tried.
    good(which, outcomes, len(plans))


def test_killed_again_while_it_recovers(request):
    count = syscalls.TWICE if request.config.getoption("all_points") else syscalls.CHOSEN_TWICE
    plans = syscalls.twice(count, len(syscalls.passes()))
    outcomes = syscalls.crash_all(plans)
    good("twice", outcomes, count * 9 // 10)


def test_killed_in_a_checkpoint(request):
    """The writes of a checkpoint into the database itself, in a run long enough to need one."""
    only = ("--only", "/baton.db")
    made = len(syscalls.passes("reference", *only))
    places = len(syscalls.passes("chain", *only))
    assert places > made + 10, "the long run made no checkpoint"
    count = (places - made) if request.config.getoption("all_points") else syscalls.CHECKPOINT_CHOSEN
    plans = [((mode, number + made),) for ((mode, number),) in
             syscalls.spread(count, places - made, "checkpoint")]
    good("checkpoint", syscalls.crash_all(plans, "chain", only), count)


def test_the_choice_is_spread_and_repeatable():
    chosen = syscalls.spread(60, 215, "chosen")
    assert chosen == syscalls.spread(60, 215, "chosen")
    numbers = [number for ((_, number),) in chosen]
    assert numbers == sorted(numbers) and 1 <= numbers[0] <= 4 and 212 <= numbers[-1] <= 215
    assert {mode for ((mode, _),) in chosen} == {"before", "after"}
    assert [syscalls.parse(syscalls.name_of(kills)) for kills in chosen] == chosen
