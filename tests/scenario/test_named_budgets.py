"""Budgets of agents, days and the server: turns of many runs together never exceed them, whatever crashes."""
import datetime
import json
import pathlib

import pytest
from baton import EXIT, wait_until
from fake_provider import FakeProvider

# A turn without max_tokens reserves 8192 tokens of its reply; its input is free here.
TURN = 0.08192
ONE = """
name: one
agents:
  ada: {{driver: script, model: m, options: {{replies: {replies}}}}}
steps:
  - {{name: say, agent: ada, inputs: {{prompt: "hello"}}}}
"""
MANY = """
name: many
concurrency: 40
agents:
  ada: {{driver: script, model: m, options: {{replies: {replies}}}}}
inputs: {{items: {{type: array}}}}
steps:
  - name: each
    map: {{over: "${{inputs.items}}", steps: [{{name: say, agent: ada, inputs: {{prompt: "${{item}}"}}}}]}}
"""
ASKS = """
name: asks
agents:
  ada: {{driver: "api:custom", model: m, max_tokens: 8192, options: {{base_url: "{base}"}}}}
steps:
  - {{name: say, agent: ada, inputs: {{prompt: "hello"}}}}
"""
SAID = {"text": "x", "usage": {"output_tokens": 1000}}  # a cent
KINDS = ["agent:ada", "day", "server"]


@pytest.fixture
def priced(home):
    pathlib.Path(home.data, "prices.yaml").write_text("prices: [{model: m, input: 0, output: 10}]\n")
    return home


def define(home, *replies, text=ONE):
    return home.define(text.format(replies=json.dumps(replies or [SAID])))


def start(server, name, **body):
    answer = server.request("POST", "/api/run", {"workflow": name, "inputs": {}, **body})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def put(server, name, dollars):
    answer = server.request("PUT", f"/api/budgets/{name}", {"limit_usd": dollars})
    assert answer.status in (200, 201), answer


def budget(server, name):
    answer = server.get(f"/api/budgets/{name}")
    assert answer.status == 200, answer
    return answer.body


def state(server, run):
    return server.get(f"/api/runs/{run}/steps").body["state"]


def ledger(home, limit):
    """What all runs have spent of the budgets, by name, in the order of all events; at no event spent and reserved together were more
    than the limit."""
    spent, reserved, turns = {}, {}, 0
    with home.database() as database:
        events = database.execute("SELECT type, body FROM events WHERE type LIKE 'turn.%' ORDER BY position").fetchall()
    for type, body in events:
        data = json.loads(body)
        if type == "turn.requested":
            for name in data.get("budgets", []):
                assert data["effect"] not in reserved.setdefault(name, {})
                reserved[name][data["effect"]] = data["reserved"]
        if type == "turn.finished":
            cost = data.get("usage", {}).get("cost")
            turns += cost is not None
            for name, held in reserved.items():
                if data["effect"] in held:
                    amount = held.pop(data["effect"])
                    spent[name] = spent.get(name, 0) + (amount if cost is None else cost)
        for name, held in reserved.items():
            assert spent.get(name, 0) + sum(held.values()) <= round(limit * 10**12), data
    return {name: amount / 10**12 for name, amount in spent.items()}, turns


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_limits_the_turns_of_many_runs(priced, kind):
    server = priced.serve()
    put(server, kind, 0.1)
    name = define(priced)
    runs = [start(server, name) for _ in range(4)]
    wait_until(lambda: sorted(state(server, run) for run in runs) == ["paused", "paused", "succeeded", "succeeded"])
    spent, turns = ledger(priced, 0.1)
    assert turns == 2 and len(spent) == 1
    now = budget(server, kind)
    assert (now["spent_usd"], now["reserved_usd"], now["waiting"], now["paused"]) == (pytest.approx(0.02), 0, 0, 2)
    put(server, kind, 5)
    for run in runs:
        assert server.finish(run)["status"] == "success"
    assert budget(server, kind)["spent_usd"] == pytest.approx(0.04)
    assert budget(server, kind)["paused"] == 0


def test_a_turn_waits_while_others_hold_the_budget_and_a_settlement_wakes_those_that_fit(priced):
    """A provider holds four turns with their reservations until the test releases them; two more wait and get the money in their order."""
    with FakeProvider() as provider:
        provider.always(text="x", hang=True)
        server = priced.serve()
        put(server, "server", 4 * TURN + 0.01)
        name = priced.define(ASKS.format(base=provider.base))
        held = [start(server, name) for _ in range(4)]
        wait_until(lambda: len(provider.requests) == 4)
        assert budget(server, "server")["reserved_usd"] == pytest.approx(4 * TURN)
        late = []
        for count in (1, 2, 3):
            late.append(start(server, name))
            wait_until(lambda: budget(server, "server")["waiting"] == count)
        assert budget(server, "server")["paused"] == 0 and len(provider.requests) == 4
        provider.release()
        for run in held + late:
            assert server.finish(run)["status"] == "success"
        assert len(provider.requests) == 7
    spent, turns = ledger(priced, 4 * TURN + 0.01)
    assert turns == 7 and spent["server"] == pytest.approx(7 * 7 * 10 / 10**6)  # seven tokens each
    assert all("run.paused" not in server.types(run) for run in late)
    with priced.database() as database:
        created, asked = [database.execute("SELECT run FROM events WHERE type = ? ORDER BY position", (type,)).fetchall()
                          for type in ("run.created", "turn.requested")]
    assert len(asked) == 7 and asked[4:] == created[4:]


@pytest.mark.parametrize("kind", KINDS)
def test_the_guard_of_the_store_refuses_what_the_process_does_not_know(priced, kind):
    """The process forgets what is used: then only the guard limits the turns, in the commit that requests them."""
    server = priced.serve(BATON_POINTS="budget.hidden=limit@1")
    put(server, kind, 0.1)
    name = define(priced)
    runs = [start(server, name) for _ in range(5)]
    wait_until(lambda: sorted(state(server, run) for run in runs) == ["paused"] * 3 + ["succeeded"] * 2)
    spent, turns = ledger(priced, 0.1)
    assert turns == 2 and list(spent.values()) == [pytest.approx(0.02)]


def at_rest(server, runs):
    return all(state(server, run) in ("paused", "succeeded") for run in runs)


@pytest.mark.parametrize("kind", KINDS)
def test_many_agents_of_many_runs_race_for_one_dollar(priced, kind):
    """Eight runs with forty agents each, killed twice: together they spend at most one dollar, and after a top-up they all end."""
    name = define(priced, {**SAID, "after_ms": 5}, text=MANY)
    server = priced.serve()
    put(server, kind, 1)
    runs = [start(server, name, inputs={"items": list(range(40))}) for _ in range(8)]
    for turns in (10, 40):
        wait_until(lambda: sum(server.types(run).count("turn.requested") for run in runs) >= turns or at_rest(server, runs))
        server.kill()
        server = priced.serve()
    wait_until(lambda: at_rest(server, runs))
    spent, counted = ledger(priced, 1)
    assert 0.9 <= sum(spent.values()) <= 1 and counted < 320
    now = budget(server, kind)
    assert now["spent_usd"] == pytest.approx(sum(spent.values())) and now["reserved_usd"] == 0
    assert now["paused"] == [state(server, run) for run in runs].count("paused") > 0
    put(server, kind, 100)
    for run in runs:
        assert server.finish(run)["status"] == "success"
    assert priced.local("POST", "/api/db/check").body["problems"] == []


@pytest.mark.parametrize("kind", [*KINDS, "profile:night"])
def test_a_thousand_agents_race_for_one_dollar(priced, tmp_path, kind):
    name = define(priced, text=MANY.replace("concurrency: 40", "concurrency: 1000"))
    server = priced.serve()
    assert server.request("POST", "/api/profiles", {"name": "night", "repo_root": str(tmp_path)}).status == 201
    put(server, kind, 1)
    runs = [start(server, name, inputs={"items": list(range(100))}, profile="night") for _ in range(10)]
    wait_until(lambda: at_rest(server, runs))
    spent, counted = ledger(priced, 1)
    (total,) = spent.values()
    assert 0.9 <= total <= 1 and counted == round(total * 100)


def test_crashes_book_what_was_reserved(priced):
    """The server is killed while turns are under way, over and over."""
    server = priced.serve()
    put(server, "agent:ada", 2)
    put(server, "server", 2)
    put(server, "day", 2)
    run = start(server, define(priced, {**SAID, "after_ms": 20}, text=MANY), inputs={"items": list(range(12))})
    for requested in (2, 6, 10):
        wait_until(lambda: server.types(run).count("turn.requested") >= requested or state(server, run) in ("paused", "succeeded"))
        server.kill()
        server = priced.serve()
    wait_until(lambda: state(server, run) in ("paused", "succeeded"))
    spent, _ = ledger(priced, 2)
    assert len(spent) == 3 and len(set(spent.values())) == 1
    for name in ("agent:ada", "server", "day"):
        assert budget(server, name)["spent_usd"] == pytest.approx(spent["server"]), name
        put(server, name, 50)
    assert server.finish(run)["status"] == "success"


def test_a_pause_names_the_budget_and_survives_a_restart(priced):
    server = priced.serve()
    put(server, "agent:ada", 0.05)
    run = start(server, define(priced))
    paused = server.until(run, "run.paused")["data"]
    assert paused["by"] == "baton" and paused["budget"] == "agent:ada" and paused["amount"] == round(TURN * 10**12) and "until" not in paused
    assert paused["reason"] == ("the budget agent:ada of $0.050000 does not allow the next turn of step say: $0.000000 are spent, "
                                "and the turn can cost $0.081920")
    # A resume by hand pauses it again; another budget does not concern it.
    assert server.tell(run, "resume").status == 200
    wait_until(lambda: server.types(run).count("run.paused") == 2)
    put(server, "server", 50)
    assert priced.local("POST", "/api/db/compact", {"max_events": 1}).status == 200
    server.kill()
    server = priced.serve()
    assert budget(server, "agent:ada")["paused"] == 1 and budget(server, "server")["paused"] == 0
    put(server, "agent:ada", 1)
    wait_until(lambda: state(server, run) == "succeeded")
    with priced.database() as database:
        resumed = database.execute("SELECT body FROM events WHERE type = 'run.resumed' ORDER BY position DESC").fetchone()
    assert json.loads(resumed[0])["by"] == "baton"


def test_a_limit_that_is_raised_while_no_server_runs_continues_runs(priced):
    server = priced.serve()
    put(server, "server", 0)
    run = start(server, define(priced))
    server.until(run, "run.paused")
    server.end()
    assert priced.cli("budget", "set", "server", "1.50")[0] == 0
    server = priced.serve()
    assert server.finish(run)["status"] == "success"


def test_deleting_a_budget_continues_runs(priced):
    server = priced.serve()
    put(server, "server", 0)
    run = start(server, define(priced))
    server.until(run, "run.paused")
    assert server.request("DELETE", "/api/budgets/server").status == 204
    assert server.finish(run)["status"] == "success"
    assert server.get("/api/budgets").body["items"] == []


def test_a_cancelled_run_waits_for_nothing(priced):
    server = priced.serve()
    put(server, "server", 0)
    run = start(server, define(priced))
    server.until(run, "run.paused")
    assert server.tell(run, "cancel").status == 200
    wait_until(lambda: state(server, run) == "cancelled")
    assert budget(server, "server")["paused"] == 0
    put(server, "server", 9)
    assert state(server, run) == "cancelled"


def test_a_daily_budget_belongs_to_the_day_of_the_request_and_its_end_resumes(priced):
    """The day of the pause is moved into the past: then the timer is due."""
    server = priced.serve()
    put(server, "day", 0.05)
    run = start(server, define(priced))
    paused = server.until(run, "run.paused")["data"]
    today = datetime.datetime.fromtimestamp(paused_at(server, run), datetime.timezone.utc).date()
    assert paused["budget"] == f"day:{today}"
    midnight = datetime.datetime.fromisoformat(paused["until"].replace("Z", "+00:00"))
    assert midnight.date() == today + datetime.timedelta(days=1) and midnight.time() == datetime.time(0)
    assert budget(server, "day")["resets_at"] == paused["until"]
    server.end()
    with priced.meddled() as database:
        body = json.loads(database.execute("SELECT body FROM events WHERE type = 'run.paused'").fetchone()[0])
        body["budget"], body["until"] = "day:2020-01-01", "2020-01-02T00:00:00.000000Z"
        database.execute("UPDATE events SET body = ? WHERE type = 'run.paused'", (json.dumps(body),))
        database.execute("UPDATE effects SET due_at = 1 WHERE kind = 'budget'")
        database.execute("DELETE FROM snapshots")
    server = priced.serve()
    # The new day has the same limit, which is still too low: the run is paused for this day.
    wait_until(lambda: server.types(run).count("run.paused") == 2)
    resumed = [event["data"] for event in server.events(run) if event["type"] == "run.resumed"]
    assert [event["by"] for event in resumed] == ["baton"]


def paused_at(server, run):
    stamp = server.until(run, "run.paused")["at"]
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def test_a_rebuild_counts_budgets_again(priced):
    server = priced.serve()
    put(server, "agent:ada", 1)
    put(server, "server", 1)
    name = define(priced)
    for _ in range(3):
        assert server.finish(start(server, name))["status"] == "success"
    assert priced.local("POST", "/api/db/compact", {"max_events": 1}).status == 200
    server.end()
    with priced.meddled() as database:
        database.execute("UPDATE counters SET value = 7 WHERE name LIKE 'budget.used.%'")
        database.execute("UPDATE budgets SET spent = 1 WHERE name = 'server'")
    server = priced.serve()
    assert priced.local("POST", "/api/db/check").body["problems"] != []
    assert priced.local("POST", "/api/db/rebuild").status == 200
    assert priced.local("POST", "/api/db/check").body["problems"] == []
    for name in ("agent:ada", "server"):
        assert budget(server, name)["spent_usd"] == pytest.approx(0.03)


def test_the_run_s_own_budget_and_named_ones_hold_together(priced):
    server = priced.serve()
    put(server, "server", 5)
    run = start(server, define(priced), budget_usd=0.01)
    paused = server.until(run, "run.paused")["data"]
    assert "budget" not in paused and paused["reason"].startswith("the budget of $0.010000 does not allow the next turn")
    assert server.tell(run, "resume", budget_usd=1).status == 200
    assert server.finish(run)["status"] == "success"
    assert ledger(priced, 5)[0] == {"server": pytest.approx(0.01)}


def test_a_turn_with_a_named_budget_has_a_longest_reply(priced):
    server = priced.serve()
    name = define(priced)
    for expected in (None, 8192):
        run = start(server, name)
        server.finish(run)
        (requested,) = [event["data"] for event in server.events(run) if event["type"] == "turn.requested"]
        assert requested["request"]["is"].get("max_tokens") == expected
        assert requested.get("budgets") == (["agent:ada"] if expected else None)
        put(server, "agent:ada", 5)


def test_the_command_line_lists_and_sets_budgets(priced):
    server = priced.serve()
    assert "no budgets" in priced.cli("budget", "list")[2]
    assert priced.cli("budget", "set", "agent:ada", "5.00")[0] == 0
    assert server.finish(start(server, define(priced)))["status"] == "success"
    status, out, _ = priced.cli("budget", "list")
    assert status == 0 and out.splitlines()[1].split() == ["5.000000", "0.010000", "0.000000", "0", "0", "agent:ada"]
    status, out, _ = priced.cli("budget", "show", "agent:ada", "--json")
    assert status == 0 and json.loads(out)["limit_usd"] == 5
    for word in ("much", "-1", "1e400"):
        status, _, errors = priced.cli("budget", "set", "--", "server", word)
        assert status == EXIT["usage"] and "the limit must be an amount of dollars" in errors
    assert priced.cli("budget", "delete", "agent:ada")[0] == 0
    assert priced.cli("budget", "delete", "agent:ada")[0] == EXIT["not_found"]


def test_the_command_that_follows_a_paused_run_says_how_to_continue(priced):
    server = priced.serve()
    put(server, "day", 0)
    process = priced.begin("run", define(priced))
    wait_until(lambda: "to continue: baton budget set day DOLLARS" in process.errors())
    assert priced.cli("budget", "set", "day", "3")[0] == 0
    assert process.wait() == 0
    assert server.get("/api/budgets/day").body["spent_usd"] == pytest.approx(0.01)


def test_wrong_budgets_are_refused(priced):
    server = priced.serve()
    for name in ("week", "agent:", "day:2026-01-01", "agent"):
        refused = server.request("PUT", f"/api/budgets/{name}", {"limit_usd": 1})
        assert refused.status == 422 and "agent:NAME, profile:NAME, day or server" in refused.body["detail"], refused
    for body in ({}, {"limit_usd": -1}, {"limit_usd": 1e9}, {"limit_usd": "5"}, {"limit_usd": 1, "x": 1}):
        assert server.request("PUT", "/api/budgets/server", body).status == 422
    assert server.get("/api/budgets/server").status == 404
    put(server, "server", 1)
    stale = server.request("PUT", "/api/budgets/server", {"limit_usd": 2}, {"If-Match": '"9"'})
    assert stale.status == 412
    with priced.database() as database:
        (changed,) = database.execute("SELECT body FROM events WHERE type = 'document.changed'").fetchall()
    assert json.loads(changed[0])["name"] == "server" and json.loads(changed[0])["by"]


def test_the_turns_of_an_agent_with_tools_share_a_named_budget(priced):
    talk = """
name: talk
agents:
  dev:
    driver: script
    model: m
    tools: [echo]
    options:
      replies:
        - {turn: 1, calls: [{name: echo, arguments: {x: 1}}], usage: {output_tokens: 1000}}
        - {turn: 2, calls: [{name: echo, arguments: {x: 2}}], usage: {output_tokens: 1000}}
        - {turn: 3, text: "done", usage: {output_tokens: 1000}}
steps:
  - {name: dev, agent: dev, inputs: {prompt: go}}
"""
    server = priced.serve()
    put(server, "agent:dev", 0.1)
    run = start(server, priced.define(talk))
    assert "next turn of step dev[3]/turn" in server.until(run, "run.paused")["data"]["reason"]
    put(server, "agent:dev", 0.2)
    assert server.finish(run)["status"] == "success"
    assert ledger(priced, 0.2)[0] == {"agent:dev": pytest.approx(0.03)}


def test_a_profile_has_a_budget(priced, tmp_path):
    """Runs of the profile share it; runs of another profile do not."""
    server = priced.serve()
    for profile in ("night", "day-shift"):
        answer = server.request("POST", "/api/profiles", {"name": profile, "repo_root": str(tmp_path)})
        assert answer.status == 201, answer
    put(server, "profile:night", 0.1)
    name = define(priced)
    runs = [start(server, name, profile="night") for _ in range(3)]
    others = [start(server, name, profile="day-shift") for _ in range(3)]
    for run in others:
        assert server.finish(run)["status"] == "success"
    wait_until(lambda: sorted(state(server, run) for run in runs) == ["paused", "succeeded", "succeeded"])
    assert ledger(priced, 0.1)[0] == {"profile:night": pytest.approx(0.02)}
    put(server, "profile:night", 1)
    for run in runs:
        assert server.finish(run)["status"] == "success"
