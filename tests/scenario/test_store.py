"""Care of the database through its owner, a copy under load, a full disk, a damaged file."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import sqlite3

from baton import Home, new_id

# By the table of contracts/errors.def.
STORAGE, CONFLICT, USAGE = 74, 5, 2

ECHO = """
name: echo-two
inputs:
  word: {type: string, default: hello}
steps:
  - name: first
    tool: echo
    inputs: {text: "${inputs.word}"}
  - name: second
    tool: echo
    depends_on: [first]
    inputs: {text: "${steps.first.outputs.text}"}
outputs:
  word: {from: "${steps.second.outputs.text}"}
"""

WAITS = """
name: waits
steps:
  - name: ask
    human: {question: "Go on?"}
  - name: work
    tool: shell
    depends_on: [ask]
    inputs: {command: "echo up > told; read -r word < gate; echo $word"}
outputs:
  word: {from: "${steps.work.outputs.stdout}"}
"""


def stats(home):
    answer = home.local("GET", "/api/db/stats")
    assert answer.status == 200, answer
    return answer.body


# ---- care --------------------------------------------------------------------------------------


def test_stats_count_what_there_is(home):
    server = home.serve()
    home.define(ECHO)
    before = stats(home)
    assert before["runs"] == before["events"] == 0
    for _ in range(3):
        assert server.start("echo-two", wait=True).body["status"] == "success"
    after = stats(home)
    assert after["runs"] == 3
    assert after["events"] == sum(len(server.events(row["run_id"])) for row in server.get("/api/runs").body)
    assert after["effects"] == 0
    assert after["values"] >= 1
    assert after["commits"] >= 3
    assert after["refusals"] == 0
    assert after["bytes"] == after["pages"] * 4096
    assert after["wal_bytes"] > 0
    status, output, _ = home.cli("db", "stats")
    assert status == 0
    told = dict(line.split() for line in output.splitlines())
    assert told["runs"] == "3" and told["events"] == str(after["events"])


def test_check_follows_every_reference(home):
    server = home.serve()
    home.define(ECHO)
    long = "x" * 1000
    assert server.start("echo-two", {"word": long}, wait=True).body["outputs"] == {"word": long}
    status, output, errors = home.cli("db", "check", "--json")
    assert status == 0, errors
    found = json.loads(output)
    assert found["sound"] and found["problems"] == []
    # The graph, the inputs, the two outputs and the run's.
    assert found["values"] >= 4
    server.kill()

    with home.meddled() as database:
        database.execute("DELETE FROM blobs WHERE length(bytes) > 1000")
        database.execute("UPDATE runs SET seq = seq + 1")
    status, output, errors = home.cli("db", "check")
    assert status == STORAGE
    assert "is not stored" in output
    assert "has row seq" in output


def test_check_finds_a_damaged_value(home):
    server = home.serve()
    home.define(ECHO)
    assert server.start("echo-two", {"word": "y" * 1000}, wait=True).body["status"] == "success"
    server.kill()
    with home.meddled() as database:
        database.execute("UPDATE blobs SET bytes = CAST(replace(CAST(bytes AS TEXT), 'yyyy', 'zyyy') AS BLOB)"
                         " WHERE CAST(bytes AS TEXT) LIKE '%yyyy%'")
        assert database.total_changes > 0
    status, output, _ = home.cli("db", "check")
    assert status == STORAGE
    assert "a row is damaged" in output


def test_a_damaged_file_is_refused_by_name(home):
    server = home.serve()
    home.define(ECHO)
    assert server.start("echo-two", wait=True).body["status"] == "success"
    assert home.cli("db", "backup", "good.db")[0] == 0
    server.kill()
    path = pathlib.Path(home.data, "baton.db")
    # One bit, somewhere in the text of an event.
    with home.meddled():
        pass
    place = path.read_bytes().index(b'"outcome":"ok"')
    with open(path, "r+b") as file:
        file.seek(place + 12)
        file.write(bytes([ord("k") ^ 1]))
    status, _, errors = home.cli("runs")
    assert status == STORAGE
    assert "baton.db" in errors and "restore the data folder from a backup" in errors
    assert f"page {place // 4096 + 1} is damaged" in errors

    # And the copy is what it says.
    for name in ("baton.db", "baton.db-wal", "baton.db-shm"):
        pathlib.Path(home.data, name).unlink(missing_ok=True)
    shutil.copy(os.path.join(home.path, "good.db"), path)
    server = home.serve()
    assert [row["status"] for row in server.get("/api/runs").body] == ["success"]


def test_vacuum_changes_nothing_but_the_size(home):
    server = home.serve()
    home.define(ECHO)
    run = server.run_of("echo-two", {"word": "z" * 2000})
    server.finish(run)
    before = server.events(run)
    status, output, errors = home.cli("db", "vacuum")
    assert status == 0, errors
    assert output.strip() == f"{stats(home)['bytes']} bytes"
    assert server.events(run) == before
    assert server.start("echo-two", wait=True).body["status"] == "success"
    assert home.cli("db", "check")[0] == 0


def test_care_is_taken_through_the_socket_only(home):
    server = home.serve()
    for method, target, body in (("GET", "/api/db/stats", None), ("POST", "/api/db/check", None),
                                 ("POST", "/api/db/vacuum", None),
                                 ("POST", "/api/db/backup", {"file": os.path.join(home.path, "no.db")})):
        answer = server.request(method, target, body)
        assert answer.status == 403, (target, answer)
    assert not os.path.exists(os.path.join(home.path, "no.db"))


def test_the_command_line_says_what_it_takes(home):
    for words in (("db",), ("db", "burn"), ("db", "stats", "now"), ("db", "backup")):
        status, output, errors = home.cli(*words)
        assert status == USAGE and output == "", words
        assert any(words in errors for words in ("db needs", "unknown subcommand", "unexpected argument", "missing")), errors
    shown = home.cli("help", "db")[1]
    for usage in ("db check\n", "db stats\n", "db backup FILE\n", "db vacuum\n"):
        assert f"  baton {usage}" in shown


# ---- backup ------------------------------------------------------------------------------------


def test_a_copy_is_never_written_over_anything(home):
    home.serve()
    there = pathlib.Path(home.path, "there.db")
    there.write_text("mine")
    status, _, errors = home.cli("db", "backup", str(there))
    assert status == CONFLICT and "already exists" in errors
    assert there.read_text() == "mine"
    status, _, errors = home.cli("db", "backup", os.path.join(home.path, "no", "folder.db"))
    assert status == STORAGE and "No such file" in errors
    assert home.local("POST", "/api/db/backup", {"file": "relative.db"}).status == 422
    assert os.listdir(home.path).count("there.db.part") == 0


def history(path):
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = database.execute("SELECT position, hex(id), events.seq, type, body FROM events"
                                " JOIN runs ON key = run ORDER BY position").fetchall()
    database.close()
    return rows


def test_copies_made_under_load_are_moments_of_one_history(home):
    server = home.serve()
    home.define(ECHO)
    copies = [os.path.join(home.path, f"copy-{i}.db") for i in range(6)]
    done = []
    with concurrent.futures.ThreadPoolExecutor(5) as pool:

        def load(number):
            while len(done) < len(copies):
                assert server.start("echo-two", {"word": str(number) * 500}, wait=True).body["status"] == "success"

        loads = [pool.submit(load, number) for number in range(4)]
        for copy in copies:
            server.start("echo-two", wait=True)
            answer = home.local("POST", "/api/db/backup", {"file": copy})
            assert answer.status == 200, answer
            assert answer.body == {"file": copy, "bytes": os.path.getsize(copy)}
            done.append(copy)
        for future in loads:
            future.result()
    server.popen.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    with home.database() as database:
        whole = database.execute("SELECT position, hex(id), events.seq, type, body FROM events"
                                 " JOIN runs ON key = run ORDER BY position").fetchall()
    lengths = []
    for copy in copies:
        part = history(copy)
        assert part == whole[:len(part)]
        lengths.append(len(part))
    assert lengths == sorted(lengths) and lengths[0] > 0
    assert len(set(lengths)) == len(lengths)

    # Restored elsewhere it is a data folder like any other, and what was open goes on.
    with Home() as other:
        shutil.copy(copies[2], os.path.join(other.data, "baton.db"))
        restored = other.serve()
        status, output, errors = other.cli("db", "check")
        assert status == 0, output + errors
        for row in restored.get("/api/runs?limit=1000").body:
            assert restored.finish(row["run_id"])["status"] == "success"


# ---- a full disk ---------------------------------------------------------------------------------


def test_no_room_is_told_and_passes(home):
    """The second to the fourth commit find no room."""
    server = home.serve(BATON_POINTS="store.before_commit=full@2-4")
    home.define(WAITS)
    first = new_id()
    assert server.start("waits", run_id=first).status == 202
    server.until(first, "human.requested")
    second = new_id()
    for _ in range(2):
        refused = server.start("waits", run_id=second)
        assert refused.status == 507
        assert refused.body["code"] == "storage_full"
        assert "make room" in refused.body["detail"]
        # Reads go on, and nothing of it is there.
        assert server.get(f"/api/runs/{second}").status == 404
        assert server.types(first)[0] == "run.created"
    question = server.inbox()[0]["id"]
    assert server.respond(question).status == 507
    assert [item["id"] for item in server.inbox()] == [question]
    assert server.types(first)[-1] == "human.requested"
    assert stats(home)["refusals"] == 3

    # There is room again: the same commands, without a restart.
    told, gate = home.fifo(first, "told"), home.fifo(first, "gate")
    assert server.respond(question).status == 200
    assert told.await_line() == "up"
    gate.send("through\n")
    assert server.finish(first)["outputs"] == {"word": "through\n"}
    assert server.start("waits", run_id=second).status == 202
    assert server.popen.poll() is None
    assert "no room on the disk" in server.errors() and "room on the disk again" in server.errors()
    assert home.cli("db", "check")[0] == 0


def test_the_result_of_a_step_waits_for_room(home):
    """Commits: the run with its question, the answer with the call, then the result, refused twice."""
    server = home.serve(BATON_POINTS="store.before_commit=full@3-4")
    home.define(WAITS)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("waits", run_id=run).status == 202
    server.until(run, "human.requested")
    assert server.respond(server.inbox()[0]["id"]).status == 200
    assert told.await_line() == "up"
    gate.send("kept\n")
    result = server.finish(run)
    assert result["status"] == "success" and result["outputs"] == {"word": "kept\n"}
    types = server.types(run)
    assert types.count("tool.requested") == types.count("tool.finished") == 1
    assert "tool.restarted" not in types
    assert stats(home)["refusals"] == 2


def test_a_crash_while_there_is_no_room_loses_nothing(home):
    server = home.serve(BATON_POINTS="store.before_commit=full@4-1000")
    home.define(WAITS)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("waits", run_id=run).status == 202
    server.until(run, "human.requested")
    assert server.respond(server.inbox()[0]["id"]).status == 200
    assert told.await_line() == "up"
    gate.send("lost\n")
    refused = server.start("waits")
    assert refused.status == 507
    server.kill()
    gate.take_back()  # the step may not have come to read it
    server = home.serve()
    assert told.await_line() == "up"
    gate.send("again\n")
    assert server.finish(run)["outputs"] == {"word": "again\n"}


def test_the_command_line_says_that_there_is_no_room(home):
    home.define(ECHO)
    status, output, errors = home.cli("run", "echo-two", BATON_POINTS="store.before_commit=full")
    assert status == STORAGE and output == ""
    assert "[storage_full]" in errors
    assert home.cli("run", "echo-two")[0] == 0
