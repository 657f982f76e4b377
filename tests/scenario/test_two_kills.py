"""Two kill -9, an approval, and an agent that is killed in the middle of a turn; see tests/support/two_kills.py."""
from two_kills import Demo


def test_runs_survive_and_nothing_happens_twice(home):
    Demo(home).play()
