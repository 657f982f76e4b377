"""A run as a person sees it: show, logs, and watch as a tree on a terminal or as lines elsewhere."""
import contextlib
import json
import re

from baton import EXIT, new_id, wait_until
from terminal import ESCAPE, Terminal

TOOK = r"(\d+ms|\d+\.\ds)"  # on a crowded machine anything may take a second
NESTED = """
name: nested
steps:
  - {name: plan, tool: echo, inputs: {text: hi}}
  - name: each
    depends_on: [plan]
    map:
      over: [1, 2]
      steps:
        - {name: say, tool: echo, inputs: {text: "${item}"}}
  - name: rounds
    depends_on: [each]
    loop:
      until: "steps.ask.outputs.comment == 'enough'"
      max: 3
      steps:
        - {name: ask, human: {question: "Enough?"}}
outputs: {last: {from: "${steps.rounds.outputs.comment}"}}
"""


def nested(home, server):
    home.define(NESTED)
    run = server.run_of("nested")
    server.until(run, "human.requested")
    return run


def answer(server, comment):
    wait_until(lambda: len(server.inbox()) == 1)
    assert server.respond(server.inbox()[0]["id"], comment=comment).status == 200


# ---- watch ---------------------------------------------------------------------------------------


def test_a_tree_that_lives_on_a_terminal(home, server):
    run = nested(home, server)
    with Terminal(home, "watch", run) as terminal:
        terminal.until(r"^  \? ask .*waiting_human.*Enough\?")
        lines = terminal.screen.splitlines()
        assert lines[0].startswith("? nested  waiting_human") and run in lines[0]
        assert [re.sub(r"^( *)\S+ (\S+) +(\S+) .*$", r"\1\2 \3", line) for line in lines[1:7]] == [
            "plan succeeded", "each succeeded", "  [0]/say succeeded", "  [1]/say succeeded", "rounds running",
            "  ask waiting_human"]
        answer(server, "more")
        terminal.until(r"^\S rounds#2 +running")
        terminal.until(r"^\? nested")
        answer(server, "enough")
        assert terminal.wait() == 0
        assert re.search(r"^✓ nested  succeeded", terminal.screen, re.M)
        assert re.search(r"^  ✓ ask +succeeded +human", terminal.screen, re.M)
        assert terminal.screen.splitlines()[-1] == '{"last":"enough"}'
        assert "\x1b[32m" in terminal.text


def test_the_tree_turns_while_nothing_happens(home, server):
    home.define('name: still\nsteps:\n  - {name: hold, wait: {signal: go}}\n')
    run = server.run_of("still")
    with Terminal(home, "watch", run, NO_COLOR="1") as terminal:
        terminal.until(r"^⠙ hold")
        terminal.until(r"^⠹ hold")  # each picture is another one
        assert server.tell(run, "signal", name="go").status == 200
        assert terminal.wait() == 0
        assert "✓ hold" in terminal.screen
        # Lines are written over, but nothing has a colour.
        assert set(re.findall(r"\x1b\[[0-9;]*([A-Za-z])", terminal.text)) == {"A", "J"}


def test_a_terminal_that_is_too_small(home, server):
    run = nested(home, server)
    with Terminal(home, "watch", run, rows=6, columns=40) as terminal:
        terminal.until(r"… and \d more steps")
        lines = terminal.screen.splitlines()
        assert len(lines) <= 5 and max(map(len, lines)) <= 40
        assert any("ask" in line for line in lines)  # what is open stays
        answer(server, "enough")
        assert terminal.wait() == 0


def test_run_shows_the_tree_too(home, server):
    with Terminal(home, "run", "two-steps") as terminal:
        assert terminal.wait() == 0
        assert re.search(r"^✓ two-steps  succeeded", terminal.screen, re.M)
        assert terminal.screen.splitlines()[-1] == '{"greeting":"hello, world\\n"}'


def test_the_tree_goes_on_over_another_server(home):
    server = home.serve()
    run = nested(home, server)
    with Terminal(home, "watch", run) as terminal:
        terminal.until(r"^  \? ask")
        server.kill()
        # The watcher takes its place: answers go through its socket.
        wait_until(lambda: home_answers(home))
        item = home.local("GET", "/api/inbox").body["items"][0]
        assert home.local("POST", f"/api/inbox/{item['id']}/respond", {"decision": "approve", "comment": "enough"}).status == 200
        assert terminal.wait() == 0
        assert re.search(r"^✓ nested  succeeded", terminal.screen, re.M)


def home_answers(home):
    with contextlib.suppress(Exception):
        return len(home.local("GET", "/api/inbox").body["items"]) == 1


def test_lines_where_there_is_no_terminal(home, server):
    run = nested(home, server)
    watching = home.begin("watch", run, TERM="xterm")
    answer(server, "enough")
    assert watching.wait() == 0
    assert watching.output == '{"last":"enough"}\n'
    lines = watching.errors().splitlines()
    assert [line.split()[1] for line in lines if line.startswith("20")] == server.types(run)
    assert "\x1b" not in watching.errors() and "    | Enough?" in lines
    with Terminal(home, "watch", run, TERM="dumb") as terminal:
        assert terminal.wait() == 0
        assert terminal.text == '{"last":"enough"}\n'


def test_watching_as_json(home, server):
    run = nested(home, server)
    answer(server, "enough")
    with Terminal(home, "watch", run, "--json") as terminal:
        assert terminal.wait() == 0
        assert json.loads(terminal.text)["run_id"] == run


def test_watching_what_fails_and_what_is_cancelled(home, server):
    run = nested(home, server)
    assert server.tell(run, "cancel").status == 200
    server.finish(run)
    status, _, errors = home.cli("watch", run)
    assert status == 1 and "baton: the run was cancelled" in errors


# ---- show ----------------------------------------------------------------------------------------


def test_show_a_run(home, server):
    run = nested(home, server)
    status, output, errors = home.cli("show", run)
    assert (status, errors) == (0, "")
    assert output.startswith("nested\n") and f"  run        {run}\n" in output and "\n  state      waiting_human\n" in output
    assert re.search(rf"^✓ each +succeeded +map  {TOOK}$", output, re.M)
    assert re.search(r"^  \? ask +waiting_human +human  .*Enough\?", output, re.M)
    request = server.inbox()[0]["id"]
    assert f"\nrounds/ask asks (approval):\n  | Enough?\n  baton approve {request}\n" in output
    outline = json.loads(home.cli("show", run, "--json")[1])
    assert outline == server.get(f"/api/runs/{run}/steps").body
    assert [step["step"] for step in outline["steps"]] == [
        "plan", "each", "each[0]/say", "each[1]/say", "rounds", "rounds/ask"]
    assert [step.get("within") for step in outline["steps"]] == [None, None, "each", "each", None, "rounds"]


def test_show_says_why_it_failed(home, server):
    home.define('name: fails\nsteps:\n  - {name: a, tool: shell, inputs: {command: "exit 3"}}\n'
                '  - {name: b, tool: echo, depends_on: [a]}\n')
    run = server.run_of("fails")
    server.finish(run)
    output = home.cli("show", run)[1]
    assert "  state      failed\n" in output and "  error      tool_failed" in output
    assert re.search(rf"^✗ a +failed +shell  {TOOK}  tool_failed: exit status 3", output, re.M)
    assert re.search(r"^– b +skipped +echo  dependency failed: a$", output, re.M)
    assert re.search(r"^  took       \d", output, re.M)


def test_show_without_a_server_leaves_the_run_alone(home):
    server = home.serve()
    run = nested(home, server)
    before = server.types(run)
    server.kill()
    assert home.cli("show", run)[0] == 0
    assert "rounds/ask asks" in home.cli("show", run)[1]
    assert home.serve().types(run) == before


def test_show_nobody(home, server):
    assert home.cli("show", new_id())[0] == EXIT["not_found"]
    assert home.cli("show", "x")[0] == EXIT["usage"]
    assert server.get(f"/api/runs/{new_id()}/steps").status == 404


# ---- logs ----------------------------------------------------------------------------------------


def test_logs_tell_a_run(home, server):
    run = nested(home, server)
    status, output, errors = home.cli("logs", run)
    assert (status, errors) == (0, "")
    lines = output.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("20")] == server.types(run)
    assert lines[-1] == "    | Enough?"
    told = [json.loads(line) for line in home.cli("logs", run, "--json")[1].splitlines()]
    assert told == server.events(run)
    assert len(home.cli("logs", run, "--after", "2")[1].splitlines()) == len(lines) - 2
    shown = [json.loads(line) for line in home.cli("logs", run, "--view", "runtime")[1].splitlines()]
    assert shown[0]["event"] == "workflow_start"
    assert home.cli("logs", new_id())[0] == EXIT["not_found"]
    assert home.cli("logs")[0] == EXIT["usage"]


def test_logs_follow_a_run_to_its_end(home):
    server = home.serve()
    run = nested(home, server)
    following = home.begin("logs", run, "-f")
    assert following.line().split()[1] == "run.created"
    server.kill()
    wait_until(lambda: home_answers(home))  # whoever follows takes the server's place
    item = home.local("GET", "/api/inbox").body["items"][0]
    assert home.local("POST", f"/api/inbox/{item['id']}/respond", {"decision": "approve", "comment": "enough"}).status == 200
    assert following.wait() == 0
    assert following.output.splitlines()[-1].split()[1:] == ["run.finished", "ok"]
    assert following.output.count("human.requested") == 1


# ---- lists ---------------------------------------------------------------------------------------


def test_runs_of_a_definition_or_a_status(home, server):
    waiting = nested(home, server)
    assert home.cli("run", "two-steps")[0] == 0
    ended = next(row["run_id"] for row in server.get("/api/runs").body if row["run_id"] != waiting)
    def listed(*words):
        return [line.split()[0] for line in home.cli("runs", *words)[1].splitlines()[1:]]
    assert listed() == [ended, waiting]
    assert listed("--workflow", "nested") == [waiting]
    assert listed("--workflow", "no such") == []
    assert listed("--status", "waiting_human") == [waiting] and listed("--status", "running") == []
    assert listed("--status", "succeeded") == [ended]
    assert listed("--status", "succeeded", "--workflow", "nested") == []
    assert [row["run_id"] for row in json.loads(home.cli("runs", "--workflow", "two-steps", "--json")[1])] == [ended]


def test_runs_in_figures(home, server):
    nested(home, server)
    assert home.cli("run", "two-steps")[0] == 0
    home.define('name: fails\nsteps:\n  - {name: a, tool: shell, inputs: {command: "exit 3"}}\n')
    assert home.cli("run", "fails")[0] == 1
    summary = server.get("/api/runs/summary").body
    assert summary.pop("avg_duration_ms") >= 0 and sorted(summary.pop("workflows")) == ["fails", "nested", "two-steps"]
    assert summary == {"total_runs": 3, "successful_runs": 1, "failed_runs": 1, "success_rate": 1 / 2}
    assert server.get("/api/runs/summary?workflow=fails").body["failed_runs"] == 1
    # The list counts it as failed: the runtime vocabulary has no state for a cancelled run.
    waiting = [row["run_id"] for row in server.get("/api/runs").body if row["status"] not in ("success", "failed")]
    assert len(waiting) == 1 and server.request("POST", f"/api/runs/{waiting[0]}/cancel").status == 200
    server.until(waiting[0], "run.finished")
    listed = [row["status"] for row in server.get("/api/runs").body]
    assert server.get("/api/runs/summary").body["failed_runs"] == listed.count("failed") == 2
    assert server.get("/api/runs/summary?workflow=nobody").body["avg_duration_ms"] is None


def test_the_state_as_the_engine_has_it(home, server):
    run = nested(home, server)
    body = server.get(f"/api/runs/{run}/state").body
    assert (body["name"], body["state"], body["seq"]) == ("nested", "waiting_human", len(server.events(run)))
    rounds = next(step for step in body["steps"] if step["step"] == "rounds")
    assert [step["step"] for inner in rounds["bodies"] for step in inner["steps"]] == ["rounds/ask"]
    assert server.get(f"/api/runs/{new_id()}/state").status == 404
