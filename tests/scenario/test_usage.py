"""What turns use and cost: recorded with the turn, summed up by day, model, agent and run."""
import json
import pathlib

import pytest
from baton import EXIT


def definition(*replies, model="claude-sonnet-4", name="priced", agent="ada"):
    """One step that asks an agent with these replies."""
    return f"""
name: {name}
agents:
  {agent}:
    driver: script
    model: {model}
    options: {{replies: {json.dumps(replies)}}}
steps:
  - name: say
    agent: {agent}
    inputs: {{prompt: "Speak."}}
"""


def used(input=0, output=0, read=0, written=0, **more):
    return {"input_tokens": input, "output_tokens": output, "cache_read_tokens": read,
            "cache_creation_tokens": written, **more}


def reply(**usage):
    return {"text": "Yes.", "usage": used(**usage)}


def finished(home, server, yaml):
    """The usage that the run's turn has recorded."""
    run = server.run_of(home.define(yaml))
    server.finish(run)
    (turn,) = [event["data"] for event in server.events(run) if event["type"] == "turn.finished"]
    return turn["usage"]


# ---- a turn ----------------------------------------------------------------------------------


def test_a_turn_records_its_cost(home, server):
    usage = finished(home, server, definition(reply(input=1500, output=200, read=500, written=100, provider="anthropic")))
    assert usage["cost"] == 1000 * 3_000_000 + 500 * 300_000 + 100 * 3_750_000 + 200 * 15_000_000
    assert usage["saved"] == 500 * 2_700_000 - 100 * 750_000
    assert (usage["provider"], usage["model"]) == ("anthropic", "claude-sonnet-4")


def test_a_reported_cost_precedes_the_computed_one(home, server):
    assert finished(home, server, definition(reply(input=1500, provider="anthropic", cost_usd=0.25)))["cost"] == 250 * 10**9


def test_an_unknown_price_is_absent(home, server):
    usage = finished(home, server, definition(reply(input=1500)))
    assert "cost" not in usage and (usage["provider"], usage["input_tokens"]) == ("script", 1500)


def test_a_failed_turn_costs_what_it_used(home, server):
    failing = {"fail": {"code": "overloaded"}, "usage": used(input=10, provider="anthropic")}
    assert finished(home, server, definition(failing))["cost"] == 30_000_000


def test_the_owner_overrides_prices(home):
    pathlib.Path(home.data, "prices.yaml").write_text("prices: [{model: claude-*, input: 0.000001, output: 2}]\n")
    usage = finished(home, home.serve(), definition(reply(input=7, output=1, provider="anthropic")))
    assert usage["cost"] == 7 + 2_000_000


@pytest.mark.parametrize("text, says", [
    ("prices:\n  - {model: a, input: 1}\n", "prices.yaml in the data folder: 2:5: /prices/0/output: is required"),
    ("prices:\n  - {model: a, input: 1, output: -1}\n", "prices.yaml in the data folder: 2:"),
    ("prices: {\n", "prices.yaml in the data folder: 2:1: "),
])
def test_wrong_prices_prevent_the_start(home, text, says):
    pathlib.Path(home.data, "prices.yaml").write_text(text)
    status, _, errors = home.cli("run", home.define(definition(reply())))
    assert status == EXIT["invalid"] and says in errors, errors


# ---- sums in the database --------------------------------------------------------------------


def sums(home):
    """(agent, provider, model, turns, unpriced, input, cost) of every row."""
    with home.database() as database:
        return database.execute("SELECT agent, provider, model, turns, unpriced, input, cost FROM usage ORDER BY agent").fetchall()


TWO = """
name: two
agents:
  ada: {driver: script, model: claude-sonnet-4, options: {replies: [{text: "x", usage: {input_tokens: 10, provider: anthropic}}]}}
  bob: {driver: script, model: b, options: {replies: [{text: "y", usage: {input_tokens: 3}}]}}
steps:
  - {name: a, agent: ada, inputs: {prompt: p}}
  - {name: b, agent: bob, inputs: {prompt: p}, depends_on: [a]}
  - {name: c, agent: ada, inputs: {prompt: p}, depends_on: [b]}
"""
ROWS = [("ada", "anthropic", "claude-sonnet-4", 2, 0, 20, 60_000_000), ("bob", "script", "b", 1, 1, 3, 0)]


def test_usage_is_counted_with_the_commit_and_made_again(home, server):
    server.finish(server.run_of(home.define(TWO)))
    assert sums(home) == ROWS
    server.kill()
    with home.meddled() as database:
        database.execute("UPDATE usage SET cost = 5, turns = 99")
        database.execute("INSERT INTO usage SELECT day, run, 'eve', provider, model, 1, 0, 0, 0, 0, 0, 0, 0 FROM usage LIMIT 1")
    home.serve()
    rebuilt = home.local("POST", "/api/db/rebuild", {})
    assert rebuilt.status == 200 and "usage" in [row["name"] for row in rebuilt.body["projections"]]
    assert sums(home) == ROWS


def test_usage_outlives_the_events_it_comes_from(home, server):
    server.finish(server.run_of(home.define(TWO)))
    assert home.local("POST", "/api/db/compact", {"days": 0}).body["compacted"] == 1
    assert sums(home) == ROWS
    server.kill()
    with home.meddled() as database:
        database.execute("DELETE FROM usage")
    home.serve()
    assert home.local("POST", "/api/db/rebuild", {}).status == 200
    assert sums(home) == ROWS


def test_a_turn_that_a_crash_repeats_is_counted_once(home):
    yaml = definition({"attempt": 1, "hang": True}, reply(input=10, provider="anthropic"))
    server = home.serve()
    run = server.run_of(home.define(yaml))
    server.until(run, "turn.requested")
    server.kill()
    server = home.serve()
    server.finish(run)
    assert [row[3] for row in sums(home)] == [1]
