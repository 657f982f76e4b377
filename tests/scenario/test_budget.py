"""The budget of a run: no turn is requested that could exceed it, whatever crashes."""
import json
import pathlib

import pytest
from baton import EXIT, wait_until

# A turn without max_tokens reserves 8192 tokens of its reply; its input is free here.
TURN = 0.08192
MANY = """
name: many
{more}
agents:
  ada: {{driver: script, model: m, options: {{replies: {replies}}}}}
steps:
  - name: each
    map: {{over: "${{inputs.items}}", steps: [{{name: say, agent: ada, inputs: {{prompt: "${{item}}"}}}}]}}
inputs: {{items: {{type: array}}}}
"""
SAID = {"text": "x", "usage": {"output_tokens": 1000}}  # a cent


@pytest.fixture
def priced(home):
    pathlib.Path(home.data, "prices.yaml").write_text("prices: [{model: m, input: 0, output: 10}]\n")
    return home


def define(home, *replies, more=""):
    return home.define(MANY.format(replies=json.dumps(replies or [SAID]), more=more))


def start(server, name, budget=None, items=30):
    body = {"workflow": name, "inputs": {"items": list(range(items))}}
    if budget is not None:
        body["budget_usd"] = budget
    answer = server.request("POST", "/api/run", body)
    assert answer.status == 202, answer
    return answer.body["run_id"]


def ledger(server, run, budget):
    """What is spent at the end; at no event spent and reserved together were more than the budget."""
    limit, spent, reserved, counted = round(budget * 10**12), 0, {}, 0
    for event in server.events(run):
        data = event["data"]
        if event["type"] == "run.resumed" and "budget_usd" in data:
            limit = round(data["budget_usd"] * 10**12)
        if event["type"] == "turn.requested":
            assert data["effect"] not in reserved
            reserved[data["effect"]] = data["reserved"]
        if event["type"] == "turn.finished":
            amount = reserved.pop(data["effect"])
            cost = data.get("usage", {}).get("cost")
            counted += cost is not None
            spent += amount if cost is None else cost
        assert spent + sum(reserved.values()) <= limit, event
    return spent / 10**12, counted


def state(server, run):
    return server.get(f"/api/runs/{run}/steps").body["state"]


def test_turns_share_a_budget_and_pause_the_run_when_it_is_used_up(priced):
    server = priced.serve()
    run = start(server, define(priced), 0.2)
    paused = server.until(run, "run.paused")["data"]
    assert paused["by"] == "baton" and paused["reason"].startswith("the budget of $0.200000 does not allow the next turn of step each")
    assert "$0.120000 are spent, and the turn can cost $0.081920" in paused["reason"]
    assert ledger(server, run, 0.2) == (pytest.approx(0.12), 12)
    assert state(server, run) == "paused"
    # More money, but not enough; then enough.
    assert server.tell(run, "resume", budget_usd=0.25).status == 200
    wait_until(lambda: server.types(run).count("run.paused") == 2)
    assert server.tell(run, "resume", budget_usd=1).status == 200
    assert server.finish(run)["status"] == "success"
    assert ledger(server, run, 0.2) == (pytest.approx(0.3), 30)


def test_a_resume_without_more_money_pauses_again(priced):
    server = priced.serve()
    run = start(server, define(priced), 0)
    server.until(run, "run.paused")
    assert server.tell(run, "resume").status == 200
    wait_until(lambda: server.types(run).count("run.paused") == 2)
    assert "turn.requested" not in server.types(run)


@pytest.mark.parametrize("after_commits", [2, 5, 9])
def test_crashes_spend_at_most_the_budget(priced, after_commits):
    """The server is killed while turns are under way: their reservations are booked, and they are asked again."""
    name = define(priced, {**SAID, "after_ms": 20})
    server = priced.serve()
    run = start(server, name, 1, items=12)
    for _ in range(3):
        # A run that few kills have disturbed ends before it has asked so often.
        wait_until(lambda: server.types(run).count("turn.requested") >= after_commits or state(server, run) in ("paused", "succeeded"))
        server.kill()
        server = priced.serve()
        after_commits += 4
    wait_until(lambda: state(server, run) in ("paused", "succeeded"))
    spent, _ = ledger(server, run, 1)
    assert spent <= 1
    assert server.tell(run, "resume", budget_usd=5).status in (200, 409)
    assert server.finish(run)["status"] == "success"
    _, counted = ledger(server, run, 1)
    assert counted == 12


def test_a_cut_turn_is_booked_in_full(priced):
    server = priced.serve()
    run = start(server, define(priced, {"fail": {"code": "unavailable"}}), 1, items=1)
    assert server.finish(run)["status"] != "success"
    assert ledger(server, run, 1) == (pytest.approx(TURN), 0)
    run = start(server, define(priced, {"fail": {"code": "unavailable"}, "usage": {"output_tokens": 10}}), 1, items=1)
    server.finish(run)
    assert ledger(server, run, 1) == (pytest.approx(0.0001), 1)


def test_a_budget_of_the_definition_and_of_the_start(priced):
    server = priced.serve()
    name = define(priced, more="budget_usd: 0.01")
    run = start(server, name, items=1)
    assert "the budget of $0.010000" in server.until(run, "run.paused")["data"]["reason"]
    assert server.finish(start(server, name, 1, items=1))["status"] == "success"


def test_the_budget_survives_a_compaction(priced):
    server = priced.serve()
    run = start(server, define(priced), 0.2)
    server.until(run, "run.paused")
    assert priced.local("POST", "/api/db/compact", {"max_events": 1}).status == 200
    server.kill()
    server = priced.serve()
    assert server.tell(run, "resume", budget_usd=0.21).status == 200
    wait_until(lambda: server.get(f"/api/runs/{run}/steps").body["usage"]["turns"] == 13 and state(server, run) == "paused")
    assert server.get(f"/api/runs/{run}/steps").body["usage"]["cost_usd"] == pytest.approx(0.13)


def test_without_a_price_nothing_is_reserved(home, server):
    run = start(server, define(home), 0, items=2)
    assert server.finish(run)["status"] == "success"
    assert all("reserved" not in event["data"] for event in server.events(run))


def test_the_reply_of_a_turn_with_a_budget_is_bounded(priced):
    server = priced.serve()
    for budget, expected in ((1, 8192), (None, None)):
        run = start(server, define(priced), budget, items=1)
        server.finish(run)
        (requested,) = [event["data"] for event in server.events(run) if event["type"] == "turn.requested"]
        assert requested["request"]["is"].get("max_tokens") == expected


def test_the_command_line_sets_budgets(priced):
    server = priced.serve()
    name = define(priced)
    process = priced.begin("run", name, "--input", "items=[1, 2]", "--budget", "0.05", "--id", "0b0d6e70-0000-4000-8000-000000000001")
    run = "0b0d6e70-0000-4000-8000-000000000001"
    wait_until(lambda: server.get(f"/api/runs/{run}").status == 200)
    server.until(run, "run.paused")
    wait_until(lambda: f"to continue: baton resume {run} --budget DOLLARS" in process.errors())
    assert priced.cli("resume", run, "--budget", "0.5")[0] == 0
    assert process.wait() == 0
    status, _, errors = priced.cli("resume", run, "--budget", "much")
    assert status == EXIT["usage"] and '--budget must be an amount of dollars, not "much"' in errors


def test_wrong_budgets_are_refused(priced):
    server = priced.serve()
    name = define(priced)
    assert server.request("POST", "/api/run", {"workflow": name, "inputs": {"items": []}, "budget_usd": -1}).status == 422
    run = start(server, name, 0)
    server.until(run, "run.paused")
    refused = server.tell(run, "cancel", budget_usd=1)
    assert refused.status == 400 and "budget_usd can be set by resume only, not by cancel" in refused.body["detail"]
    assert server.tell(run, "resume", budget_usd=-1).status == 422
    assert state(server, run) == "paused"


def test_many_agents_race_for_one_dollar(priced):
    """A hundred at once, killed over and over: they spend at most one dollar."""
    name = define(priced, {**SAID, "after_ms": 5}, more="concurrency: 100")
    server = priced.serve()
    run = start(server, name, 1, items=300)
    for turns in (10, 40):
        wait_until(lambda: server.types(run).count("turn.requested") >= turns or state(server, run) == "paused")
        server.kill()
        server = priced.serve()
    wait_until(lambda: state(server, run) == "paused")
    spent, counted = ledger(server, run, 1)
    assert 0.9 <= spent <= 1 and counted < 300


SESSION = """
name: talk
agents:
  dev:
    driver: script
    model: m
    tools: [echo]
    options:
      replies:
        - {turn: 1, calls: [{name: echo, arguments: {x: 1}}], usage: {output_tokens: 1000}}
        - {turn: 2, calls: [{name: echo, arguments: {x: 2}}], usage: {output_tokens: 1000}, after_ms: 200}
        - {turn: 3, text: "done", usage: {output_tokens: 1000}}
steps:
  - {name: dev, agent: dev, inputs: {prompt: go}}
"""


def started(server, name, budget):
    answer = server.request("POST", "/api/run", {"workflow": name, "inputs": {}, "budget_usd": budget})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def test_the_turns_of_an_agent_with_tools_share_the_budget(priced):
    server = priced.serve()
    run = started(server, priced.define(SESSION), 0.1)
    paused = server.until(run, "run.paused")["data"]["reason"]
    assert "next turn of step dev[3]/turn: $0.020000 are spent" in paused
    assert server.tell(run, "resume", budget_usd=0.2).status == 200
    assert server.finish(run)["status"] == "success"
    assert ledger(server, run, 0.1) == (pytest.approx(0.03), 3)


def test_an_agent_with_tools_that_a_crash_interrupts_spends_at_most_its_budget(priced):
    server = priced.serve()
    run = started(server, priced.define(SESSION), 0.25)
    wait_until(lambda: server.types(run).count("turn.requested") == 2)
    server.kill()
    server = priced.serve()
    assert server.finish(run)["status"] == "success"
    spent, counted = ledger(server, run, 0.25)
    assert counted == 3 and spent in (pytest.approx(0.03), pytest.approx(0.03 + TURN))
