"""Damaged database files: a torn end of the WAL, a lost WAL index, a flipped bit.  And a disk that is really
full, with a kill at that time.

After a power cut the end of the WAL may contain anything: the program starts with the last complete commit.
A flipped bit in the database itself is refused at the start, is reported by `baton db check`, or does not change
anything that can be read.
"""
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import struct
import types

import pytest
from baton import Home, descendants, new_id

STORAGE = 74            # by the table of contracts/errors.def
RUNS = 8
FLIPS = 40
FRAME_HEADER, WAL_HEADER = 24, 32
DISK, BALLAST = 2000000, 1000000

ECHO = """
name: echo-two
inputs:
  word: {type: string}
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


def commit_ends(path):
    """The end of each commit in the WAL, parsed without SQLite."""
    log = pathlib.Path(path).read_bytes()
    page, salts = struct.unpack(">I", log[8:12])[0], log[16:24]
    at, ends = WAL_HEADER, []
    while at + FRAME_HEADER + page <= len(log) and log[at + 8:at + 16] == salts:
        pages = struct.unpack(">I", log[at + 4:at + 8])[0]
        at += FRAME_HEADER + page
        if pages:
            ends.append(at)
    return ends


@pytest.fixture(scope="module")
def made():
    """Some runs, the size of the WAL after each, and the files as kill -9 left them."""
    with Home() as home:
        home.define(ECHO)
        server = home.serve()
        runs, boundaries, histories = [], [], []
        for number in range(RUNS):
            runs.append(new_id())
            word = "a word " * (80 if number % 2 else 1)
            assert server.start("echo-two", {"word": word}, runs[-1], wait=True).body["status"] == "success"
            boundaries.append(commit_ends(os.path.join(home.data, "baton.db-wal"))[-1])
            histories.append(server.events(runs[-1]))
        assert server.kill() == -signal.SIGKILL
        assert boundaries == sorted(set(boundaries))
        yield types.SimpleNamespace(path=home.data, runs=runs, boundaries=boundaries, histories=histories)


@pytest.fixture
def copy(made, home):
    """A copy of the folder without the WAL index, which each test adds or omits, and without the mark of what was
    acknowledged: a power failure may lose it, and a folder of an older version has none."""
    shutil.rmtree(home.data)
    shutil.copytree(made.path, home.data, ignore=shutil.ignore_patterns("*.sock", "*-shm", "*-mark"))
    return home


def refuse(copy, made):
    """With the mark that the killed process has left, the folder is refused and not touched, as often as it is
    tried; after the loss is accepted it is like one without a mark."""
    shutil.copy(os.path.join(made.path, "baton.db-mark"), copy.data)
    before = {file.name: file.read_bytes() for file in pathlib.Path(copy.data).glob("baton.db*") if file.name != "baton.db-reserve"}
    for command in [("db", "check"), ("db", "check"), ("runs",)]:
        status, _, errors = copy.cli(*command)
        assert status == STORAGE and "acknowledged" in errors and "baton db accept-loss" in errors, errors
    for name, content in before.items():
        assert pathlib.Path(copy.data, name).read_bytes() == content, name
    assert "acknowledged" in copy.cli("doctor")[1]
    status, _, errors = copy.cli("db", "accept-loss")
    assert "accepted" in errors
    return status


@pytest.fixture
def home():
    with Home() as home:
        yield home


def expect(copy, made, count, lost=False):
    """The folder has exactly the first `count` runs, complete, and accepts further ones.  `lost`: the program
    knows that acknowledged runs are missing."""
    evidence = pathlib.Path(copy.data, "baton.db-wal.damaged")
    server = copy.serve()
    assert ("acknowledged commit" in server.errors()) == evidence.exists() == lost, server.errors()
    if lost:
        problems = copy.local("POST", "/api/db/check").body["problems"]
        assert len(problems) == 1 and "WAL was damaged" in problems[0]
        evidence.unlink()
    assert {row["run_id"] for row in server.get("/api/runs").body} == set(made.runs[:count])
    for run, history in zip(made.runs[:count], made.histories):
        assert server.events(run) == history
    checked = copy.local("POST", "/api/db/check")
    assert checked.status == 200 and checked.body["sound"], checked
    more = new_id()
    assert server.start("echo-two", {"word": "more"}, more, wait=True).body["status"] == "success"
    server.kill()
    server = copy.serve()
    assert server.result(more)["status"] == "success"
    server.kill()
    return server


def next_commit(copy, end):
    return next(at for at in commit_ends(os.path.join(copy.data, "baton.db-wal")) if at > end)


def test_the_index_of_the_log_may_be_lost_or_garbage(copy, made):
    index = pathlib.Path(copy.data, "baton.db-shm")
    expect(copy, made, RUNS)
    index.unlink()
    index.write_bytes(random.Random(1).randbytes(32768))
    server = copy.serve()
    for run, history in zip(made.runs, made.histories):
        assert server.events(run) == history


@pytest.mark.parametrize("count, rest", [(0, 0), (0, 1), (1, 0), (3, 1), (4, FRAME_HEADER), (5, 2000),
                                         (RUNS - 1, -1), (RUNS, 0)])
def test_a_torn_end_of_the_log_costs_only_what_was_not_full(copy, made, count, rest):
    """Truncates the WAL `rest` bytes after the given run; -1: one byte before the next commit is complete."""
    log = os.path.join(copy.data, "baton.db-wal")
    end = made.boundaries[count - 1] if count else WAL_HEADER
    os.truncate(log, next_commit(copy, end) - 1 if rest < 0 else end + rest)
    expect(copy, made, count)


@pytest.mark.parametrize("count, offset", [(RUNS - 1, 0), (RUNS - 1, 9), (RUNS - 1, FRAME_HEADER + 77),
                                           (RUNS - 1, -1), (2, FRAME_HEADER)])
def test_a_flipped_bit_in_the_log_ends_it_there(copy, made, count, offset):
    log = pathlib.Path(copy.data, "baton.db-wal")
    end = made.boundaries[count - 1]
    at = next_commit(copy, end) - 1 if offset < 0 else end + offset
    spoilt = bytearray(log.read_bytes())
    spoilt[at] ^= 0x10
    log.write_bytes(spoilt)
    # A run has several commits: complete ones follow the flipped bit, and the program reports that.
    expect(copy, made, count, lost=True)


def test_a_flipped_bit_in_the_last_commit_is_like_a_power_cut(copy, made):
    """It is unknown whether the commit had been acknowledged, so there is no warning."""
    log = pathlib.Path(copy.data, "baton.db-wal")
    spoilt = bytearray(log.read_bytes())
    spoilt[commit_ends(log)[-1] - 1] ^= 0x10
    log.write_bytes(spoilt)
    server = copy.serve()
    assert not pathlib.Path(copy.data, "baton.db-wal.damaged").exists()
    assert "damaged" not in server.errors()
    assert server.finish(made.runs[-1])["status"] == "success"
    assert copy.local("POST", "/api/db/check").body["sound"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "last commit flipped", "removed"])
def test_a_killed_process_leaves_a_mark_that_shows_every_loss(copy, made, damage):
    log = pathlib.Path(copy.data, "baton.db-wal")
    count, whole = RUNS - 2, bytearray(log.read_bytes())
    if damage == "cut":
        log.write_bytes(whole[:made.boundaries[count - 1]])
    elif damage == "flipped":
        whole[made.boundaries[count - 1] + FRAME_HEADER] ^= 0x10
        log.write_bytes(whole)
    elif damage == "last commit flipped":
        count = RUNS
        whole[commit_ends(log)[-1] - 1] ^= 0x10
        log.write_bytes(whole)
    else:
        count = 0
        log.unlink()
    damaged = log.read_bytes() if log.exists() else None
    status = refuse(copy, made)
    evidence = pathlib.Path(copy.data, "baton.db-wal.damaged")
    assert evidence.exists() == (damage == "flipped") and status == (STORAGE if evidence.exists() else 0)
    if evidence.exists():
        assert evidence.read_bytes() == damaged
        evidence.unlink()
    server = copy.serve()
    assert {row["run_id"] for row in server.get("/api/runs").body} == set(made.runs[:count])
    for run, history in list(zip(made.runs[:count], made.histories))[:RUNS - 1]:
        assert server.events(run) == history
    # A position is not used twice: a cursor that was handed out once never skips a new event.
    more = new_id()
    assert server.start("echo-two", {"word": "more"}, more, wait=True).body["status"] == "success"
    acknowledged = max(int(event["position"]) for history in made.histories for event in history)
    assert min(int(event["position"]) for event in server.events(more)) > acknowledged
    server.kill()
    expect(copy, types.SimpleNamespace(runs=made.runs[:count] + [more], histories=[]), count + 1)


def test_a_mark_of_a_whole_folder_refuses_nothing(copy, made):
    shutil.copy(os.path.join(made.path, "baton.db-mark"), copy.data)
    expect(copy, made, RUNS)


def test_what_two_kills_leave_behind_is_no_loss(copy, made):
    """Frames of the same WAL, with a commit among them, that do not follow each other: a start was killed
    while it overwrote what an earlier kill had left."""
    log = pathlib.Path(copy.data, "baton.db-wal")
    whole, end, frame = log.read_bytes(), made.boundaries[-2], FRAME_HEADER + 4096
    commit = whole[end - frame:end]
    assert commit_ends(log)[-1] >= end + 3 * frame
    log.write_bytes(whole[:end] + commit + commit + whole[end + 2 * frame:end + 3 * frame])
    expect(copy, made, RUNS - 1)


def test_a_log_without_its_header_is_told_to_be_lost(copy, made):
    log = pathlib.Path(copy.data, "baton.db-wal")
    whole = log.read_bytes()
    spoilt = bytearray(whole)
    spoilt[20] ^= 0x10
    log.write_bytes(spoilt)
    server = copy.serve()
    commits = len(commit_ends(pathlib.Path(made.path, "baton.db-wal")))
    assert f"at least {commits - 1} acknowledged commits behind the damage are lost" in server.errors()
    assert pathlib.Path(copy.data, "baton.db-wal.damaged").read_bytes() == bytes(spoilt)
    server.kill()
    # The next start still reports it, although the WAL itself is valid again.
    status, output, _ = copy.cli("db", "check")
    assert status == STORAGE and "WAL was damaged" in output
    assert "baton.db-wal.damaged" in copy.cli("doctor")[1]


def test_garbage_behind_the_log_is_not_read(copy, made):
    with open(os.path.join(copy.data, "baton.db-wal"), "ab") as log:
        log.write(random.Random(2).randbytes(3 * (FRAME_HEADER + 4096) + 5))
    expect(copy, made, RUNS)


# ---- the database itself ---------------------------------------------------------------------------


def moved_into_the_database(copy):
    """Checkpoints the WAL, so that everything is in pages of the database; then sets its version."""
    path = os.path.join(copy.data, "baton.db")
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        version = database.execute("PRAGMA user_version").fetchone()[0]
    database.close()
    return path, version


def structure(pages):
    """The structural bytes of b-tree pages: header and cell pointers."""
    found = []
    for number in range(len(pages) // 4096):
        start = number * 4096 + (100 if number == 0 else 0)
        kind = pages[start]
        if kind in (2, 5, 10, 13):
            cells = struct.unpack(">H", pages[start + 3:start + 5])[0]
            # Byte 7 counts lost fragments; no row depends on it.
            size = (12 if kind in (2, 5) else 8) + 2 * cells
            found += [start + offset for offset in range(size) if offset != 7]
    return found


def outcome(copy, made):
    """refused, reported, or harmless; anything else fails the test."""
    status, output, errors = copy.cli("db", "check")
    if status != 0:
        assert status == STORAGE, (status, output, errors)
        return "told" if output else "refused"
    server = copy.serve()
    assert {row["run_id"] for row in server.get("/api/runs").body} == set(made.runs)
    for run, history in zip(made.runs, made.histories):
        assert server.events(run) == history
        assert server.result(run)["status"] == "success"
    server.kill()
    return "harmless"


def test_a_flipped_bit_in_the_database_is_never_taken_for_the_truth(copy, made):
    """Rows of the first layout have no checksums, so only damage to the b-trees is certain to be found; from
    the second layout on, damage to any byte is."""
    path, version = moved_into_the_database(copy)
    whole = pathlib.Path(path).read_bytes()
    dice = random.Random(3)
    places = structure(whole) if version == 1 else range(100, len(whole))
    outcomes = {}
    for place in dice.sample(places, FLIPS):
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << dice.randrange(8)
        pathlib.Path(path).write_bytes(spoilt)
        for name in ("baton.db-wal", "baton.db-shm"):
            pathlib.Path(copy.data, name).unlink(missing_ok=True)
        kind = outcome(copy, made)
        outcomes.setdefault(kind, []).append(place)
    counts = {kind: len(found) for kind, found in outcomes.items()}
    print(counts)
    assert counts.get("refused", 0) + counts.get("told", 0) > 0, counts


# ---- a full disk ---------------------------------------------------------------------------------------


def fill(server):
    """Starts runs until the disk is full; returns the acknowledged ones."""
    started = []
    while True:
        run = new_id()
        answer = server.start("echo-two", {"word": run * 100}, run)
        if answer.status == 507:
            assert answer.body["code"] == "storage_full", answer
            return started
        assert answer.status == 202, answer
        started.append(run)
        assert len(started) < DISK // 3000, "the disk never fills"


def test_a_disk_that_is_really_full_loses_nothing(home):
    """A small tmpfs under the data folder, visible only to the program."""
    home.define(ECHO)
    definitions = os.path.join(home.data, "definitions")
    server = home.begin_serve(under=("/usr/bin/bwrap", "--dev-bind", "/", "/", "--size", str(DISK), "--tmpfs",
                                     home.data, "--ro-bind", definitions, definitions, "--die-with-parent",
                                     "--"))
    assert server.listen(), server.errors()
    program = descendants(server.pid)[-1]
    # Kept open, so that it outlives the program.
    folder = os.open(f"/proc/{program}/root{home.data}", os.O_PATH | os.O_DIRECTORY)
    inside = pathlib.Path("/proc/self/fd", str(folder))
    (inside / "ballast").write_bytes(b"b" * BALLAST)

    started = fill(server)
    # Space again, without a restart: the pending runs are stored, and new ones too.
    (inside / "ballast").unlink()
    for run in started:
        assert server.finish(run)["status"] == "success"
    started += fill(server)
    assert "no room on the disk" in server.errors() and "room on the disk again" in server.errors()
    os.kill(program, signal.SIGKILL)
    assert server.wait() == 128 + signal.SIGKILL

    # Killed while the disk was full: every acknowledged run is in the files and can end on another disk.
    for name in ("baton.db", "baton.db-wal"):
        shutil.copy(inside / name, home.data)
    os.close(folder)
    server = home.serve()
    for run in started:
        assert server.finish(run)["outputs"] == {"word": run * 100}
    assert {row["run_id"] for row in server.get("/api/runs?limit=1000").body} == set(started)
    checked = home.local("POST", "/api/db/check")
    assert checked.status == 200 and checked.body["sound"], checked
