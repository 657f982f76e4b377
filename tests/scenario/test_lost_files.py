"""Files of the data folder that are removed, cut or replaced by hand: nothing is lost silently, nothing is overwritten.

The server is killed, so that what it acknowledged is in the WAL alone; then the files are changed.
"""
import os
import pathlib
import shutil
import uuid

import pytest
from baton import Home, new_id

LOST = 74       # `lost_data` in contracts/errors.def
RUNS = 3

ECHO = """
name: echo
inputs:
  word: {type: string}
steps:
  - name: say
    tool: echo
    inputs: {text: "${inputs.word}"}
"""


@pytest.fixture
def home():
    with Home() as home:
        home.define(ECHO)
        yield home


def file_of(home, ending):
    return pathlib.Path(home.data, "baton.db" + ending)


def runs_of(home):
    """The runs of a folder that the program opens and finds sound."""
    status, output, errors = home.cli("db", "check")
    assert status == 0, (output, errors)
    with home.database() as database:
        return {str(uuid.UUID(bytes=row[0])) for row in database.execute("SELECT id FROM runs WHERE key > 0")}


def start_some(server, count=RUNS):
    runs = [new_id() for _ in range(count)]
    for run in runs:
        assert server.start("echo", {"word": "hello"}, run, wait=True).body["status"] == "success"
    return set(runs)


def empty_log(home, server):
    """Moves everything into the database, then kills the server."""
    assert home.cli("db", "vacuum")[0] == 0
    server.kill()
    assert file_of(home, "-wal").stat().st_size == 0


def contents(home):
    return {file.name: file.read_bytes() for file in pathlib.Path(home.data).glob("baton.db*")
            if not file.name.endswith(("-reserve", "-shm"))}


def expect_refusal(home, *texts):
    """Every command refuses the folder with the same sentence, and no file changes or appears."""
    before = contents(home)
    for words in [("db", "check"), ("runs",), ("db", "check", "--json"), ("db", "backup", os.path.join(home.data, "copy"))]:
        status, _, errors = home.cli(*words)
        assert status == LOST and all(text in errors for text in texts), errors
    assert '"lost_data"' in home.cli("db", "check", "--json")[2]
    assert all(before.get(name, b"") == content for name, content in contents(home).items())
    assert all(name in contents(home) for name in before)
    status, output, _ = home.cli("doctor")
    assert status == 1 and texts[0] in output, output


@pytest.mark.parametrize("change", ["removed", "emptied"])
def test_a_missing_database_is_refused_and_its_log_is_kept(home, change):
    server = home.serve()
    start_some(server)
    server.kill()
    database, log = file_of(home, ""), file_of(home, "-wal")
    whole, kept = database.read_bytes(), log.read_bytes()
    database.unlink() if change == "removed" else os.truncate(database, 0)
    expect_refusal(home, "is missing or empty", "still there", "acknowledged", "baton db accept-loss")
    # Putting the file back is enough.
    database.write_bytes(whole)
    assert len(runs_of(home)) == RUNS
    # Accepting it moves the log away and starts anew.
    file_of(home, "-wal").write_bytes(kept)
    database.unlink()
    status, output, errors = home.cli("db", "accept-loss")
    assert status == 0 and "accepted" in errors and "ok:" in output
    assert file_of(home, "-wal.lost").read_bytes() == kept
    assert runs_of(home) == set()


@pytest.mark.parametrize("change", ["removed", "cut", "replaced"])
def test_a_log_that_is_missing_or_too_short_is_refused(home, change):
    server = home.serve()
    log = file_of(home, "-wal")
    first = start_some(server)
    shorter = log.read_bytes()
    start_some(server)
    server.kill()
    whole = log.read_bytes()
    if change == "removed":
        log.unlink()
    elif change == "cut":
        os.truncate(log, 32 + 24 + 4096)
    else:
        log.write_bytes(shorter)
    expect_refusal(home, "acknowledged events", "was acknowledged", "baton db accept-loss")
    log.write_bytes(whole)
    assert len(runs_of(home)) == 2 * RUNS
    # The same again, and the loss is accepted: it goes on with what is left, and is watched again.
    server = home.serve()
    start_some(server)
    server.kill()
    log.unlink()
    expect_refusal(home, "its WAL is missing or empty")
    status, output, errors = home.cli("db", "accept-loss")
    assert status == 0 and "accepted" in errors and "ok:" in output, (output, errors)
    assert first <= runs_of(home)
    assert home.cli("db", "accept-loss")[0] == 0 and "nothing is lost" in home.cli("db", "accept-loss")[2]
    server = home.serve()
    start_some(server)
    server.kill()
    log.unlink()
    expect_refusal(home, "acknowledged events")


def test_an_older_copy_of_the_database_is_refused_and_a_backup_is_not(home):
    server = home.serve()
    first = start_some(server)
    backup = os.path.join(home.data, "..", "copy.db")
    assert home.cli("db", "backup", backup)[0] == 0
    empty_log(home, server)
    older = file_of(home, "").read_bytes()
    server = home.serve()
    start_some(server)
    empty_log(home, server)
    file_of(home, "").write_bytes(older)
    expect_refusal(home, "acknowledged events", "older copy")
    shutil.copy(backup, file_of(home, ""))
    status, output, errors = home.cli("db", "check")
    assert status == 0 and "not the database that was here before" in errors, (output, errors)
    assert runs_of(home) == first
    server = home.serve()
    start_some(server)
    server.kill()
    # Restored again, but the log of the database before it was left in place.
    shutil.copy(backup, file_of(home, ""))
    expect_refusal(home, "belongs to the database that was here before")
    assert home.cli("db", "accept-loss")[0] == 0
    assert runs_of(home) == first


def test_a_check_finds_files_that_were_removed_while_the_server_runs(home):
    server = home.serve()
    runs = start_some(server)
    assert home.cli("db", "check")[0] == 0
    file_of(home, "").unlink()
    file_of(home, "-wal").unlink()
    status, output, _ = home.cli("db", "check")
    assert status == LOST and output.count("was removed or replaced while Baton was running") == 2, output
    # As it says: a backup has everything.
    backup = os.path.join(home.data, "..", "rescue.db")
    assert home.cli("db", "backup", backup)[0] == 0
    server.kill()
    shutil.copy(backup, file_of(home, ""))
    assert home.cli("db", "check")[0] == 0
    assert runs_of(home) == runs
