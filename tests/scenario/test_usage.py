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


# ---- reading it ------------------------------------------------------------------------------


def today(server):
    return server.get("/api/usage").body["until"]


def brief(rows, *names):
    return [tuple(row.get(name) for name in (*names, "turns", "unpriced_turns", "cost_usd")) for row in rows]


def test_usage_is_told_by_day_model_agent_workflow_and_run(home, server):
    run = server.run_of(home.define(TWO))
    server.finish(run)
    other = server.run_of(home.define(definition(reply(input=1000, output=10, read=500, provider="anthropic"))))
    server.finish(other)
    told = server.get("/api/usage").body
    assert told["total"] == {"turns": 4, "unpriced_turns": 1, "input_tokens": 1023, "output_tokens": 10, "cache_read_tokens": 500,
                             "cache_creation_tokens": 0, "cost_usd": 0.00186, "saved_usd": 0.00135}
    assert brief(told["days"], "day") == [(told["until"], 4, 1, 0.00186)]
    assert brief(told["models"], "provider", "model") == [("anthropic", "claude-sonnet-4", 3, 0, 0.00186), ("script", "b", 1, 1, None)]
    assert brief(told["agents"], "agent") == [("ada", 3, 0, 0.00186), ("bob", 1, 1, None)]
    assert brief(told["workflows"], "workflow") == [("priced", 1, 0, 0.0018), ("two", 3, 1, 6e-05)]
    assert brief(told["runs"], "run_id", "workflow") == [(other, "priced", 1, 0, 0.0018), (run, "two", 3, 1, 6e-05)]
    assert set(server.get("/api/usage?by=model&limit=1").body) == {"since", "until", "total", "models"}
    assert len(server.get("/api/usage?by=model&limit=1").body["models"]) == 1


def test_usage_of_days_without_turns_is_nothing(home, server):
    server.finish(server.run_of(home.define(TWO)))
    told = server.get("/api/usage?since=2020-01-01&until=2020-02-29").body
    assert (told["since"], told["until"], told["total"]["turns"], told["total"]["cost_usd"]) == ("2020-01-01", "2020-02-29", 0, 0)
    assert told["days"] == told["models"] == told["agents"] == told["workflows"] == told["runs"] == []
    assert server.get(f"/api/usage?since={today(server)}").body["total"]["turns"] == 3


@pytest.mark.parametrize("query, says", [
    ("since=yesterday", "since must be a date such as 2026-01-31, not yesterday"),
    ("until=2026-02-30", "until must be a date"),
    ("since=2026-13-01", "since must be a date"),
    ("since=2026-02-02&until=2026-02-01", "since must not be after until"),
    ("since=1970-01-01", "nor more than 3659 days before it"),
    ("by=moon", "by must be day, model, agent, workflow or run, not moon"),
    ("limit=0", "limit"),
    ("month=5", "month"),
])
def test_a_wrong_question_about_usage_is_refused(server, query, says):
    refused = server.get(f"/api/usage?{query}")
    assert refused.status == 400 and says in refused.body["detail"], refused.body


def test_a_run_tells_its_usage(home, server):
    run = server.run_of(home.define(TWO))
    server.finish(run)
    outline = server.get(f"/api/runs/{run}/steps").body
    assert (outline["usage"]["turns"], outline["usage"]["unpriced_turns"], outline["usage"]["cost_usd"]) == (3, 1, 6e-05)
    rows = server.get(f"/api/runs/{run}/usage").body
    assert [(row["agent"], row["model"], row["input_tokens"], row["cost_usd"]) for row in rows] == [
        ("ada", "claude-sonnet-4", 20, 6e-05), ("bob", "b", 3, None)]
    assert all(row["workflow_id"] == run and row["timestamp"].startswith(today(server)) for row in rows)
    assert server.get(f"/api/runs/{run}/usage").body == rows
    assert home.local("POST", "/api/db/compact", {"days": 0}).body["compacted"] == 1
    assert server.get(f"/api/runs/{run}/usage").body == rows
    assert server.get(f"/api/runs/{run}/steps").body["usage"] == outline["usage"]


def test_the_usage_of_a_run_that_is_not_there(server):
    assert server.get("/api/runs/00000000-0000-4000-8000-000000000000/usage").status == 404


def test_a_run_without_turns_has_no_usage(home, server):
    run = server.run_of(home.define("name: plain\nsteps: [{name: a, tool: echo, inputs: {x: 1}}]\n"))
    server.finish(run)
    assert "usage" not in server.get(f"/api/runs/{run}/steps").body and server.get(f"/api/runs/{run}/usage").body == []


def test_the_command_line_tells_usage(home):
    server = home.serve()
    run = server.run_of(home.define(TWO))
    server.finish(run)
    status, output, errors = home.cli("usage")
    assert status == 0, errors
    assert "$0.000060" in output and "anthropic/claude-sonnet-4" in output and f"{run}  two" in output
    assert output.splitlines()[-1].endswith("$0.000060+?, 3 turns, 23 input and 0 output tokens; the cost of 1 turn is not known")
    status, output, _ = home.cli("usage", "--by", "agent", "--json")
    assert status == 0 and [row["agent"] for row in json.loads(output)["agents"]] == ["ada", "bob"]
    status, _, errors = home.cli("usage", "--since", "soon")
    assert status == EXIT["usage"] and "since must be a date" in errors
    status, output, _ = home.cli("show", run)
    assert status == 0 and "  usage      $0.000060+?, 3 turns" in output


def test_models_with_prices_and_keys(home):
    pathlib.Path(home.data, "prices.yaml").write_text("prices: [{provider: openai, model: gpt-4o, input: 1, output: 2}]\n")
    server = home.serve(OPENAI_API_KEY="not-a-real-key-0000", GROQ_API_KEY="")
    told = server.get("/api/models")
    assert "not-a-real-key-0000" not in json.dumps(told.body) and told.body["as_of"] >= "2025"
    first = told.body["models"][0]
    assert first == {"provider": "openai", "model": "gpt-4o", "input": 1, "output": 2, "cache_read": 1, "cache_write": 1,
                     "context_window": None, "source": "prices.yaml", "key_name": "OPENAI_API_KEY", "key_present": True}
    present = {model["provider"]: (model["key_name"], model["key_present"]) for model in told.body["models"]}
    assert present["groq"] == ("GROQ_API_KEY", False) and present["ollama"] == (None, None)
    (sonnet,) = [model for model in told.body["models"] if (model["provider"], model["model"]) == ("anthropic", "claude-sonnet-4*")]
    assert (sonnet["input"], sonnet["output"], sonnet["cache_read"], sonnet["source"]) == (3, 15, 0.3, "built-in")
