"""A data folder that an older Baton left behind goes on with this one."""
import contextlib
import os
import pathlib
import sqlite3

from baton import Gone, killed, new_id

ROOT = pathlib.Path(__file__).resolve().parents[2]

VERSION = 7  # of the file that this program writes


def test_the_runs_of_version_1_go_on(home):
    """tests/upgrade/v1.sql was written by the program of version 1, which was killed."""
    path = os.path.join(home.data, "baton.db")
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript((ROOT / "tests/upgrade/v1.sql").read_text())
        before = database.execute("SELECT lower(hex(id)), name, state, stepping FROM runs ORDER BY key").fetchall()
        histories = {run: database.execute("SELECT events.seq, type FROM events JOIN runs ON key = run"
                                           " WHERE lower(hex(id)) = ? ORDER BY events.seq", (run,)).fetchall()
                     for run, _, state, _ in before if state in ("succeeded", "failed")}
    server = home.serve()
    rows = {row["run_id"].replace("-", ""): row for row in server.get("/api/runs?limit=100").body}
    assert set(rows) == {run for run, *_ in before}
    for run, events in histories.items():
        told = server.events(rows[run]["run_id"])
        assert [(event["seq"], event["type"]) for event in told] == events
    # What was computed when it was killed is computed, and who waits for a person still does.
    for run, name, _, stepping in before:
        if stepping:
            result = server.finish(rows[run]["run_id"])
            assert result["status"] == "success" and result["outputs"] == {"word": "hello"}
    # The one whose tool was cut off has lost its workspace: a person is asked, and the answer ends it.
    cut_off = next(rows[run]["run_id"] for run, name, *_ in before if name == "works")
    assert server.settle(cut_off, "not_happened")["step"] == "work"
    assert server.finish(cut_off)["status"] == "failed"
    questions = server.inbox()
    assert [question["question"] for question in questions] == ["Go on?"]
    assert server.respond(questions[0]["id"]).status == 200
    assert server.finish(questions[0]["run_id"])["status"] == "success"
    status, output, errors = home.cli("db", "check")
    assert status == 0, output + errors
    with home.database() as database:
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)


def to_version_3(database):
    """Runs were counted by their state alone, and lists looked through all of them."""
    database.executescript("DROP TABLE budgets; DROP TABLE usage; DROP TABLE labels; DROP INDEX runs_state; DROP INDEX runs_name; DROP TABLE tallies;"
                           "CREATE TABLE states (state TEXT PRIMARY KEY, runs INTEGER NOT NULL) WITHOUT ROWID;"
                           "INSERT INTO states SELECT state, count(*) FROM runs WHERE key > 0 GROUP BY state;"
                           "DROP TRIGGER effects_opened; DROP TRIGGER effects_closed; DROP TRIGGER effects_changed;"
                           "DROP TABLE waiting; DROP INDEX effects_waiting;"
                           "CREATE INDEX effects_waiting ON effects (kind) WHERE kind IN ('human', 'timer', 'retry');"
                           "PRAGMA user_version = 3")


def test_the_runs_of_version_3_are_listed_and_counted(home):
    home.define("name: good\nsteps:\n  - {name: only, tool: echo}\n")
    home.define("name: bad\nsteps:\n  - {name: only, tool: json_transform, inputs: {input: 1, operations: [{get: /a}]}}\n")
    home.define("name: asks\nsteps:\n  - name: q\n    human: {question: Well?}\n")
    server = home.serve()
    runs = {name: [server.run_of(name) for _ in range(2)] for name in ("good", "bad")}
    for run in runs["good"] + runs["bad"]:
        server.finish(run)
    asking = server.run_of("asks")
    server.until(asking, "human.requested")
    before = {path: server.get(path).body for path in
              ("/api/runs", "/api/runs/summary", "/api/runs?status=failed", "/api/runs?workflow=good&status=success", "/api/runs?status=waiting_human")}
    server.kill()
    with home.meddled() as database:
        to_version_3(database)
    server = home.serve()
    assert {path: server.get(path).body for path in before} == before
    assert [row["run_id"] for row in before["/api/runs?status=failed"]] == runs["bad"][::-1]
    assert [row["run_id"] for row in before["/api/runs?status=waiting_human"]] == [asking]
    assert home.cli("db", "check")[0] == 0
    with home.database() as database:
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert database.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'states'").fetchone() == (0,)


def test_the_calls_of_version_2_are_taken_up(home):
    """A file of version 2 is one of version 3 without an index and without a word about calls."""
    run = new_id()
    home.define("name: one\nsteps:\n  - {name: only, tool: sleep, inputs: {seconds: 0.01}}\n")
    server = home.serve(BATON_POINTS="tool.before_start=kill")
    with contextlib.suppress(Gone):
        server.start("one", run_id=run)
    assert killed(server), server.errors()
    with home.meddled() as database:
        assert database.execute("SELECT stepping FROM runs WHERE key > 0").fetchall() == [(1,)]
        to_version_3(database)
        database.execute("UPDATE runs SET stepping = 0")
        database.execute("DROP INDEX effects_waiting")
        database.execute("PRAGMA user_version = 2")
    server = home.serve()
    assert server.finish(run)["status"] == "success"
    with home.database() as database:
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_newer_file_is_refused_in_a_sentence(home):
    home.serve().kill()
    with home.meddled() as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    status, output, errors = home.cli("runs")
    assert status == 74 and output == ""
    assert f"has version {VERSION + 1}, this Baton reads up to version {VERSION}" in errors
    assert "[newer_store]" in errors
