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
