"""Runs by the beginning of their id."""
import pytest

from baton import EXIT, wait_until

IDS = ["aaaa0000-0000-4000-8000-000000000001", "aaaa0000-0000-4000-8000-000000000002", "aaab0000-0000-4000-8000-000000000003"]


@pytest.fixture
def runs(home, server):
    for run in reversed(IDS):
        assert server.start("two-steps", {"who": run[-1]}, run_id=run, wait=True).body["status"] == "success"
    return server


def found(server, prefix):
    answer = server.get(f"/api/runs?id_prefix={prefix}")
    assert answer.status == 200, answer
    return [run["run_id"] for run in answer.body]


def test_the_server_finds_runs_by_the_beginning_of_their_id(runs):
    assert found(runs, "aaaa") == IDS[:2]
    assert found(runs, "AAAB") == IDS[2:]
    assert found(runs, IDS[1]) == IDS[1:2] and found(runs, IDS[1].replace("-", "")) == IDS[1:2]
    assert found(runs, "aaac") == [] and found(runs, "aaaa0000-0000-4000-8000-00000000000") == IDS[:2]
    assert [run["run_id"] for run in runs.get("/api/runs?id_prefix=aaaa&limit=1").body] == IDS[:1]


@pytest.mark.parametrize("query", ["id_prefix=aaa", "id_prefix=aaax", "id_prefix=aaaa&status=failed",
                                   "id_prefix=aaaa&workflow=two-steps", f"id_prefix=aaaa&cursor={IDS[0]}"])
def test_a_prefix_that_is_refused(server, query):
    answer = server.get(f"/api/runs?{query}")
    assert answer.status == 400 and "id_prefix" in answer.body["detail"]


def test_lists_have_the_own_state_and_results_the_inputs(runs):
    assert {run["state"] for run in runs.get("/api/runs").body} == {"succeeded"}
    assert runs.result(IDS[0])["inputs"] == {"who": "1"}


# ---- the command line ----------------------------------------------------------------------------


def test_a_unique_prefix_names_a_run(home, runs):
    for words in (("show",), ("watch",), ("logs",), ("artifacts",), ("events", "--run")):
        status, output, errors = home.cli(*words, "aaab")
        assert status == 0, (words, errors)
    assert IDS[2] in home.cli("show", "AAAB0000-00")[1]


def test_an_ambiguous_prefix_lists_the_candidates(home, runs):
    status, output, errors = home.cli("show", "aaaa")
    assert (status, output) == (EXIT["usage"], "") and all(f"{run} (two-steps)" in errors for run in IDS[:2])
    status, _, errors = home.cli("watch", "bbbb")
    assert status == EXIT["not_found"] and "begins with bbbb" in errors
    for short in ("aaa", "xyzzy", "@first"):
        assert home.cli("show", short)[0] == EXIT["usage"]


def test_last_is_the_newest_run_and_never_a_sub_run(home, server):
    status, _, errors = home.cli("show", "@last")
    assert status == EXIT["not_found"] and "no runs yet" in errors
    home.define('name: outer\nsteps:\n  - {name: inner, workflow: two-steps}\n')
    outer = server.run_of("outer")
    server.finish(outer)
    assert server.get("/api/runs?limit=1").body[0]["run_id"] != outer
    assert f"  run        {outer}\n" in home.cli("show", "@last")[1]


def test_commands_to_a_run_take_its_first_digits(home, server):
    home.define('name: hold\nsteps:\n  - {name: a, wait: {signal: go}}\n')
    run = server.run_of("hold")
    for command in ("pause", "resume"):
        assert home.cli(command, run[:8])[0] == 0
    assert home.cli("signal", "@last", "go")[0] == 0
    assert server.finish(run)["status"] == "success"


def test_a_question_is_answered_by_the_first_digits_of_its_id_or_of_its_run(home, server):
    home.define('name: ask\nsteps:\n  - {name: q, human: {question: "Go?"}, inputs: {plan: "one\\ntwo", n: [1]}}\n')
    for name in ("request", "run", "@last"):
        run = server.run_of("ask")
        wait_until(lambda: len(server.inbox()) == 1)
        given = {"request": server.inbox()[0]["id"][:8], "run": run[:8], "@last": "@last"}[name]
        status, _, errors = home.cli("approve", given)
        # The person sees the question and what it is about.
        assert status == 0 and errors.startswith("| Go?\n  plan:\n    | one\n    | two\n  n: [1]\n"), errors
        server.finish(run)


def test_a_run_with_two_questions_names_them(home, server):
    home.define('name: two\nsteps:\n  - {name: p, human: {question: "P?"}}\n  - {name: q, human: {question: "Q?"}}\n')
    run = server.run_of("two")
    wait_until(lambda: len(server.inbox()) == 2)
    status, _, errors = home.cli("approve", run[:8])
    assert status == EXIT["usage"]
    assert all(f"{item['id']} ({item['step']})" in errors for item in server.inbox())
