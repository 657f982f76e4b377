"""`baton doctor sandbox`: probes that really try to get out, and what is found when a wall is missing."""
import json
import os

import pytest
from baton import PROGRAM, Process, environment

USER = 64124
LEAST = 70


def probe(home, **env):
    """{probe: (result, text)}, the report, and the exit status."""
    status, output, errors = home.cli("doctor", "sandbox", "--json", **env)
    report = json.loads(output) if output else None
    assert report is not None, errors
    return {one["probe"]: (one["result"], one["text"]) for one in report["probes"]}, report, status


@pytest.mark.parametrize("limits", ["auto", "uid", "rlimit"])
def test_nothing_gets_out(home, limits):
    found, report, status = probe(home, BATON_SANDBOX_LIMITS=limits)
    assert [name for name, (result, _) in found.items() if result == "escaped"] == [], found
    assert (status, report["sound"]) == (0, True)
    absent = {name for name, (result, _) in found.items() if result == "absent"}
    assert absent <= ({"fork_bomb"} if limits == "rlimit" else set()), found
    assert len(found) - len(absent) >= LEAST
    left = [name for name in os.listdir("/tmp") if name.startswith("baton-escape-")]
    assert [name for name in left if not os.path.exists("/proc/" + name.split("-")[2])] == []  # others may be at it


def test_nothing_gets_out_as_an_ordinary_user(home):
    for path in (home.path, home.data):
        os.chown(path, USER, USER)
    process = Process(["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", PROGRAM, "--home", home.data,
                       "doctor", "sandbox", "--json"], environment(), home.path, os.path.join(home.path, "errors"))
    home.started.append(process)
    status = process.wait()
    found = {one["probe"]: one["result"] for one in json.loads(process.output)["probes"]}
    assert [name for name, result in found.items() if result == "escaped"] == []
    assert status == 0 and found["fork_bomb"] == "held"


def test_the_kit_finds_what_a_missing_wall_lets_through(home):
    """The control: a kit that cannot find anything proves nothing."""
    found, report, status = probe(home, BATON_SANDBOX_SECCOMP="off", BATON_SANDBOX_LANDLOCK="off")
    assert (status, report["sound"]) == (1, False)
    escaped = {name for name, (result, _) in found.items() if result == "escaped"}
    assert escaped & {"io_uring", "userfaultfd", "key_rings", "personality", "other_architecture"}, found
    # the other walls do not depend on these two
    assert not escaped & {"host_file", "host_folder", "data_folder", "capabilities", "host_loopback", "abstract_socket", "fork_bomb"}


def test_lines_for_people(home):
    status, output, _ = home.cli("doctor", "sandbox")
    lines = output.splitlines()
    assert status == 0
    assert any(line.startswith("held") and "/etc/shadow" in line for line in lines)
    assert " held, 0 escaped, " in lines[-1]
    assert lines[-3].startswith("walls: bubblewrap, seccomp, Landlock version ")


def test_without_a_sandbox_there_is_nothing_to_probe(home):
    status, _, errors = home.cli("doctor", "sandbox", BATON_TOOLS_ISOLATION="off")
    assert status == 71 and "tools.isolation is off" in errors


def test_another_word_is_refused(home):
    assert home.cli("doctor", "kitchen")[0] == 2
