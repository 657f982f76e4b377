"""W20 is killed everywhere; it must end as if undisturbed, or with an unknown outcome that is marked and settled.

test_crash.py kills it at failpoints.  Here, without options, it is killed at as many state-changing system calls as the budget
allows, chosen by the commit hash; --all-points: at every call; --kill before@17 (or before@17+after@4): only that kill.
"""
import collections

import syscalls
import w20
from test_syscalls import good

CHOSEN, CHOSEN_TWICE, TWICE = 39, 6, 120   # with the points: 60 in make test


def test_what_w20_is():
    """20 steps, 3 agents, 12 tool calls of three kinds, 6 turns, 2 questions, 5 artifacts, a workflow within."""
    end = w20.clean()
    requested = [event["data"] for event in end.events if event["type"] == "tool.requested"]
    kinds = collections.Counter(event["type"] for event in end.events)
    assert kinds["tool.requested"] == 12 and kinds["turn.requested"] == 6 and kinds["human.requested"] == 2
    assert collections.Counter(data["class"] for data in requested) == {"idempotent": 4, "probe": 4, "once": 4}
    assert kinds["subrun.requested"] == 1 and len(end.artifacts) == 5
    inside = collections.Counter(event["data"]["class"] for event in end.child_events if event["type"] == "tool.requested")
    assert inside == {"contained": 1, "probe": 1, "keyed": 1}


def test_w20_killed_at_its_calls(which, request):
    """`which` is chosen, before, after or asked: see conftest.py."""
    places = len(syscalls.passes("w20"))
    if which == "asked":
        plans = [syscalls.parse(text) for text in request.config.getoption("kill")]
    elif which == "chosen":
        plans = syscalls.spread(CHOSEN, places, "w20")
    else:
        plans = [((which, number),) for number in range(1, places + 1)]
    outcomes = syscalls.crash_all(plans, "w20")
    if which in ("before", "after"):
        outcomes += syscalls.walk_on(which, places + 1, "w20")
    good(f"w20-{which}", outcomes, len(plans) * 9 // 10)


def test_w20_killed_again_while_it_recovers(request):
    count = TWICE if request.config.getoption("all_points") else CHOSEN_TWICE
    outcomes = syscalls.crash_all(syscalls.twice(count, len(syscalls.passes("w20"))), "w20")
    good("w20-twice", outcomes, count * 8 // 10)
