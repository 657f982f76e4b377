"""Agents with tools are killed everywhere; they must end as if undisturbed.

test_crash.py kills them at failpoints.  Here, without options, they are killed at a few state-changing system calls, chosen by
the commit hash; --all-points: at every call; --kill before@17: only that kill.
"""
import collections

import agents
import syscalls
from test_syscalls import good

CHOSEN = 4


def test_what_the_agents_do():
    """3 agents, 12 turns, calls of every class, one refused, one edited, one rejected, one that fails, and two notes."""
    end = agents.clean()
    of = collections.defaultdict(list)
    for event in end.events:
        of[event["type"]].append(event["data"])
    assert len(of["turn.requested"]) == 12 and len(of["human.requested"]) == 2
    assert collections.Counter(data["class"] for data in of["tool.requested"]) == {
        "contained": 5, "idempotent": 3, "keyed": 1, "once": 1, "probe": 1}
    assert [data["step"] for data in of["step.computed"]] == ["plan[1]/echo", "work[1]/echo"]
    assert [data["outcome"] for data in of["tool.finished"]].count("failed") == 1
    assert sum("fault" in call for data in of["turn.finished"] for call in data.get("calls", [])) == 2
    assert sum("note" in data for data in of["step.entered"]) == 2
    assert sorted(end.requests) == [0, 1, 2]


def test_agents_killed_at_their_calls(which, request):
    """`which` is chosen, before, after or asked: see conftest.py."""
    # A slow machine makes the program write its flight recorder, which others do not.
    places = sum(not call.target.endswith("*.txt") for call in syscalls.passes("agents"))
    if which == "asked":
        plans = [syscalls.parse(text) for text in request.config.getoption("kill")]
    elif which == "chosen":
        plans = syscalls.spread(CHOSEN, places, "agents")
    else:
        plans = [((which, number),) for number in range(1, places + 1)]
    outcomes = syscalls.crash_all(plans, "agents")
    if which in ("before", "after"):
        outcomes += syscalls.walk_on(which, places + 1, "agents")
    good(f"agents-{which}", outcomes, len(plans) * 9 // 10)
