"""Kills the program with SIGKILL at every failpoint; the run must end as if undisturbed."""
import random
import threading

import agents
import pytest
import rig
import syscalls
import w20


def planned(plan):
    """Marks a test that runs once for each plug of the plan."""
    def mark(function):
        function.plan = plan
        return function
    return mark


def crash(plan, plug, home, driver=None, workflow="reference"):
    with home:
        driver = driver or rig.Driver(home, workflow)
        rig.pull(home, driver, plug)
        rig.KILLED[plan].append(plug)
        rig.compare(home, driver, rig.finish(home, driver))


def test_a_clean_run_passes_the_same_points_every_time():
    _, first = rig.clean()
    _, second = rig.clean_run("reference")
    assert first == second
    assert len(first) > 40


@planned("clean")
def test_clean(plug):
    crash("clean", plug, rig.make_home())


@planned("chain")
def test_chain(plug):
    crash("chain", plug, rig.make_home(), workflow="chain")


@planned("branches")
def test_branches(plug):
    crash("branches", plug, rig.make_home(), workflow="branches")


@planned("drain")
def test_drain(plug):
    home = rig.make_home()
    crash("drain", plug, home, rig.Stopper(home))


@planned("recovery-ended")
def test_recovery_ended(plug):
    crash("recovery-ended", plug, *rig.after_first_kill("ended"))


@planned("recovery-requested")
def test_recovery_requested(plug):
    crash("recovery-requested", plug, *rig.after_first_kill("requested"))


@planned("recovery-timer")
def test_recovery_timer(plug):
    crash("recovery-timer", plug, *rig.after_first_kill("timer"))


def insist(case, plan, plug):
    """Group commits differ a little between runs, so a passing may not be reached."""
    for _ in range(syscalls.TRIES):
        with case.Room() as home:
            driver = case.Driver(home)
            came = w20.pull(home, driver, plug)
            case.compare(home, driver, case.finish(home, driver))
        if came:
            rig.KILLED[plan].append(plug)
            return
    raise AssertionError(f"{plug} was never come to")


@planned("w20")
def test_w20(plug):
    insist(w20, "w20", plug)


@planned("agents")
def test_agents(plug):
    insist(agents, "agents", plug)


@planned("care")
def test_care(plug):
    with rig.ended() as home:
        server = home.serve()
        before = rig.shown(server)
        server.kill()
        name, passing = plug
        server = home.serve(BATON_POINTS=f"{name}=kill@{passing}")
        with pytest.raises(rig.Gone):
            rig.care(home)
        assert rig.killed(server), f"{name}@{passing} did not kill the program: {server.errors()}"
        rig.KILLED["care"].append(plug)
        server = home.serve()
        assert rig.shown(server) == before
        rig.care(home)
        assert rig.shown(server) == before
        rig.check_cared_for(home, server)


@pytest.mark.parametrize("seed", range(4))
def test_any_moment(seed, request):
    """Kills at random times, because failpoints cover only the places that somebody thought of.  The seed determines the times."""
    dice = random.Random(seed)
    with rig.make_home() as home:
        driver = rig.Driver(home)
        for _ in range(40 if request.config.getoption("all_points") else 10):
            server = home.begin_serve(BATON_POINTS_TRACE=home.trace)
            plug = threading.Timer(dice.random() * 0.08, server.popen.kill)
            plug.start()
            if server.listen():
                driver.go(server)
            plug.join()
            assert rig.killed(server)
            rig.wait_until_none_with(home.data)
            rig.wait_until_none_with(f": {rig.RUN};")
        rig.compare(home, driver, rig.finish(home, driver))


def test_a_plug_that_is_never_reached_does_not_count_as_pulled():
    """The rig must notice when the program does not die."""
    with rig.make_home() as home:
        driver = rig.Driver(home)
        server = home.serve(BATON_POINTS="tool.ended=kill@99")
        assert driver.go(server)
        assert server.popen.poll() is None


def test_a_wrong_rule_ends_the_program_at_once():
    with rig.make_home() as home:
        server = home.begin_serve(BATON_POINTS="tool.ended=explode")
        assert not server.listen()
        assert server.wait() == 2
        assert "tool.ended=explode" in server.errors()


def test_every_plug_of_every_plan_was_pulled(request):
    everything = request.config.getoption("all_points")
    for plan, plugs in rig.PLANNED.items():
        assert rig.KILLED[plan] == plugs, f"{plan}: {len(rig.KILLED[plan])} of {len(plugs)} pulled"
    passed = rig.clean()[1]
    assert {name for name, _ in rig.KILLED["clean"]} == {name for name, _ in passed}
    if everything:
        assert len(rig.KILLED["clean"]) == len(passed)


def test_every_point_of_the_program_was_killed_at():
    killed = {name for plugs in rig.KILLED.values() for name, _ in plugs}
    assert killed | set(rig.ELSEWHERE) == rig.names_in_source()
    for name, test in rig.ELSEWHERE.items():
        assert name in (rig.ROOT / test).read_text()
