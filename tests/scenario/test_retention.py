"""Snapshots, compaction, retention and rebuild, from outside."""
import json
import os
import pathlib
import re

import pytest
from baton import Gone, killed, new_id, wait_until
from test_people import unknown
from test_websocket import Client

VIEWS = ("pipeline", "pipeline_v1", "runtime", "task", "graph")
STORAGE, USAGE = 74, 2

# Everything a step can be; what the tools are given is put together from pieces, so that the whole is
# nowhere else, and one of the wholes is long enough to be stored by its hash.
MIXED = """
name: mixed
inputs:
  word: {type: string, default: hello}
steps:
  - {name: first, tool: echo, inputs: {text: "${inputs.word}"}}
  - {name: short, tool: shell, depends_on: [first], inputs: {command: "echo 0; : short-${steps.first.outputs.text}-given"}}
  - {name: long, tool: shell, depends_on: [short], inputs: {command: "printf %s ${steps.first.outputs.text}; : long-${steps.first.outputs.text}-given FILL"}}
  - {name: rest, wait: {seconds: 0.01}, depends_on: [long]}
  - {name: ask, human: {question: "go on with ${inputs.word}?"}, depends_on: [rest], inputs: {shown: "shown-${inputs.word}-given"}}
  - {name: bad, tool: shell, depends_on: [ask], inputs: {command: "echo out; exit 3"}}
  - {name: never, tool: echo, depends_on: [bad]}
outputs:
  text: {from: "${steps.first.outputs.text}"}
  said: {from: "${steps.long.outputs.stdout}", optional: true}
""".replace("FILL", "f" * 400)
GIVEN = [f"{what}-hello-given".encode() for what in ("short", "long", "shown")]

GATED = """
name: gated
inputs:
  n: {type: number, default: 1}
steps:
  - {name: one, tool: echo, inputs: {n: "${inputs.n}"}}
  - {name: two, tool: echo, depends_on: [one], inputs: {n: "${steps.one.outputs.n}"}}
  - {name: ask, human: {question: "well?"}, depends_on: [two]}
  - {name: last, tool: echo, depends_on: [ask], inputs: {n: "${steps.two.outputs.n}"}}
outputs:
  n: {from: "${steps.last.outputs.n}"}
"""


def mixed_run(home, server, **more):
    home.define(MIXED)
    body = {"workflow": "mixed", "inputs": {}, **more}
    run = server.request("POST", "/api/run", body).body["run_id"]
    request = server.until(run, "human.requested")["data"]["effect"]
    assert server.respond(request, comment="looks good", by="ada").status == 200
    assert server.finish(run)["status"] == "failed"
    return run


def views(server, run):
    return {view: server.get(f"/api/runs/{run}?view={view}").body for view in VIEWS}


def without_given(tree):
    """What steps were given goes with the events; every vocabulary says {} then."""
    if isinstance(tree, dict):
        return {key: {} if key in ("args", "tool_input") else without_given(value)
                for key, value in tree.items()}
    return [without_given(item) for item in tree] if isinstance(tree, list) else tree


def compact(home, *words):
    status, output, errors = home.cli("db", "compact", *words, "--json")
    assert status == 0, errors
    return json.loads(output)


def execution(server, run):
    with Client(server, f"/ws/execution/{run}") as client:
        return [without_inputs(message) for message in client.all()]


def without_inputs(message):
    if message["event"] == "step_start":
        message["data"]["inputs"] = {}
    return message


# ---- compaction --------------------------------------------------------------------------------


def test_a_compacted_run_is_the_same_run(home, server):
    run = mixed_run(home, server)
    events, before, told = server.events(run), views(server, run), execution(server, run)
    row = server.get("/api/runs").body[0]
    done = compact(home, "--now")
    assert done["runs"] == done["compacted"] == 1
    # All but run.created and run.finished; run.compacted came.
    assert done["events"] == len(events) - 2
    assert done["values"] >= 1
    after = views(server, run)
    # The runtime and graph vocabularies have no place for what a step was given.
    assert after["runtime"] == before["runtime"]
    assert after["graph"] == before["graph"]
    for view in VIEWS:
        assert without_given(after[view]) == without_given(before[view]), view
    assert after["task"] != before["task"]
    assert server.get("/api/runs").body[0] == row
    assert execution(server, run) == told
    # A second pass finds nothing, and a restart tells the same.
    assert compact(home, "--now")["compacted"] == 0
    server.kill()
    server = home.serve()
    assert views(server, run) == after
    assert home.cli("db", "check")[0] == 0


def test_events_below_the_floor_are_gone(home, server):
    run = mixed_run(home, server)
    events = server.events(run)
    last, first_id = events[-1], server.get(f"/api/runs/{run}/events?view=pipeline").body["items"]
    compact(home, "--now")
    floor = last["seq"] + 1
    for target in ("events", "events?after=1", "events?view=pipeline", "stream", f"events?after={floor - 2}"):
        answer = server.get(f"/api/runs/{run}/{target}")
        assert answer.status == 410, target
        assert answer.body["code"] == "gone"
        assert f"seq {floor}" in answer.body["detail"] and f"after={floor - 1}" in answer.body["detail"]
    page = server.get(f"/api/runs/{run}/events?after={floor - 1}").body
    assert [event["type"] for event in page["items"]] == ["run.compacted"]
    assert page["items"][0]["data"]["floor"] == floor
    # A client that had seen everything goes on where it stood, and is told of the end.
    with server.stream(f"/api/runs/{run}/stream", last=last["seq"]) as stream:
        assert [told.event["type"] for told in stream] == ["run.compacted"]
    # What is kept of it is still in the stream of all runs.
    with server.stream("/api/stream?after=0") as stream:
        kept = [next(stream).event for _ in range(3)]
    assert [event["type"] for event in kept] == ["run.created", "run.finished", "run.compacted"]
    assert kept[0] == events[0] and kept[1] == last
    gone = events[3]["position"]
    assert server.get(f"/api/stream?after={gone}").status == 410
    for since, message in ((first_id[3]["id"], "backfill_expired"), (gone, "backfill_expired"),
                           (first_id[0]["id"], "event"), ("0", "event")):
        with Client(server, f"/ws/events?since={since}") as client:
            assert client.hear()["type"] == message, since


def test_what_a_run_was_given_leaves_the_file(home, server):
    mixed_run(home, server)
    other = mixed_run(home, server, inputs={"word": "other"})

    def left(*names):
        content = b"".join(pathlib.Path(home.data, name).read_bytes() for name in names)
        return [given for given in GIVEN if given in content]
    assert left("baton.db", "baton.db-wal") == GIVEN
    done = compact(home, "--days", "1")
    assert done["compacted"] == done["events"] == done["values"] == 0
    done = compact(home, "--now")
    # The long command of each run was a value; what steps gave and the graph they share stay.
    assert done["compacted"] == done["values"] == 2 and done["free_bytes"] >= 0
    assert home.cli("db", "vacuum")[0] == 0
    assert left("baton.db", "baton.db-wal") == []
    assert pathlib.Path(home.data, "baton.db-wal").stat().st_size == 0
    assert server.result(other)["outputs"] == {"text": "other", "said": "other"}


def test_only_a_number_of_events_is_kept(home, server):
    run = mixed_run(home, server)
    events, before = server.events(run), views(server, run)
    assert compact(home, "--days", "1", "--max-events", "1000")["compacted"] == 0
    done = compact(home, "--days", "1", "--max-events", "5")
    assert done["compacted"] == 1
    floor = len(events) - 3
    left = server.get(f"/api/runs/{run}/events?after={floor - 1}").body["items"]
    assert left[:-1] == events[floor - 1:] and len(left) == 5
    assert server.get(f"/api/runs/{run}/events?after={floor - 2}").status == 410
    assert without_given(views(server, run)) == without_given(before)


FLAKY = """
name: flaky
steps:
  - name: work
    tool: shell
    inputs: {command: "echo up > told; read -r code < gate; echo said $code; exit $code"}
    timeout: 600
    retry: {max_retries: 5, base_delay: 0}
outputs: {said: {from: "${steps.work.outputs.stdout}"}}
"""

ESCALATES = """
name: escalates
steps:
  - name: ask
    human: {question: "Go on?", timeout: 0.01, four_eyes: true, escalate: [{to: lead, timeout: 0.01}, {to: boss, timeout: 3600}]}
"""


def without_inputs_of_steps(tree):
    if isinstance(tree, dict):
        return {key: {} if key == "inputs" else without_inputs_of_steps(value) for key, value in tree.items()}
    return [without_inputs_of_steps(item) for item in tree] if isinstance(tree, list) else tree


def shown(server, run):
    """Everything that tells how far the run has come, but for what its steps were given, and when it was paused."""
    told = without_inputs_of_steps(without_given(views(server, run)))
    told["task"]["parts"] = [part for part in told["task"]["parts"]
                             if part.get("text") not in ("http paused the run", "http resumed the run")]
    return told, server.steps(run)


def compacted(home, server, run, before):
    """Nothing but what steps were given is told otherwise, now and after kill -9; the server that runs then."""
    assert compact(home, "--now", "--max-events", "1")["compacted"] == 1
    assert server.get(f"/api/runs/{run}/events").status == 410
    assert shown(server, run) == before
    server.kill()
    server = home.serve()
    assert shown(server, run) == before
    return server


def test_attempts_are_told_again(home):
    """Compacted while the second attempt is under way, while a third is to come, and when all is over."""
    server = home.serve()
    home.define(FLAKY)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("flaky", run_id=run).status == 202
    told.await_line()
    gate.send("3\n")
    told.await_line()
    before = shown(server, run)
    assert (before[1]["work"]["state"], before[1]["work"]["attempts"]) == ("running", 2)
    assert compact(home, "--now", "--max-events", "1")["compacted"] == 1
    assert shown(server, run) == before
    # A run that is paused tries nothing again until it is resumed.
    assert server.tell(run, "pause").status == 200
    gate.send("4\n")
    wait_until(lambda: server.steps(run)["work"]["state"] == "retrying")
    before = shown(server, run)
    assert before[1]["work"]["attempts"] == 2
    server = compacted(home, server, run, before)
    assert server.tell(run, "resume").status == 200
    told.await_line()
    gate.send("0\n")
    wait_until(lambda: server.result(run)["status"] == "success")
    before = shown(server, run)
    assert before[1]["work"]["attempts"] == 3
    results = [part["tool_result"] for part in before[0]["task"]["parts"] if part["type"] == "tool_result"]
    assert [(result["error"] or "").partition(":")[0] for result in results] == ["tool_failed", "tool_failed", ""]
    compacted(home, server, run, before)


def test_an_attempt_that_a_person_wanted_is_told_again(home):
    """Without the answer the step would still seem to wait for it."""
    server, run, gate, _, question = unknown(home)
    asked = server.steps(run)
    assert compact(home, "--now", "--max-events", "1")["compacted"] == 1
    assert server.steps(run) == asked
    assert server.respond(question, "retry").status == 200
    wait_until(lambda: server.steps(run)["pay"]["state"] == "running")
    before = server.steps(run)
    assert before["pay"]["attempts"] == 2
    assert compact(home, "--now", "--max-events", "1")["compacted"] == 1
    assert server.steps(run) == before
    gate.send("again\n")
    wait_until(lambda: server.result(run)["status"] == "success")
    before = server.steps(run)
    assert compact(home, "--now", "--max-events", "1")["compacted"] == 1
    assert server.steps(run) == before


def test_a_question_that_was_passed_on_is_told_again(home):
    server = home.serve()
    home.define(ESCALATES)
    run = server.run_of("escalates")
    with server.stream(f"/api/runs/{run}/stream") as stream:
        passed_on = [next(told.event["data"] for told in stream if told.event["type"] == "human.escalated") for _ in range(2)]
    assert [to["to"] for to in passed_on] == ["lead", "boss"]
    before, asked = shown(server, run), server.inbox()
    assert (asked[0]["to"], asked[0]["due_at"]) == ("boss", passed_on[1]["due_at"])
    server = compacted(home, server, run, before)
    assert server.inbox() == asked
    assert server.respond(asked[0]["id"], by="ann").status == 200
    wait_until(lambda: server.result(run)["status"] == "success")
    before = shown(server, run)
    compacted(home, server, run, before)


def test_a_run_under_way_goes_on_behind_its_floor(home):
    server = home.serve()
    home.define(GATED)
    run = server.run_of("gated", {"n": 7})
    request = server.until(run, "human.requested")["data"]["effect"]
    before = views(server, run)
    assert compact(home, "--now", "--max-events", "1")["compacted"] == 1
    assert server.get(f"/api/runs/{run}/events").status == 410
    assert without_given(views(server, run)) == without_given(before)
    server.kill()
    server = home.serve()
    assert without_given(views(server, run)) == without_given(before)
    assert [item["id"] for item in server.inbox()] == [request]
    assert server.respond(request).status == 200
    with server.stream(f"/api/runs/{run}/stream", last=server.result(run) and 5) as stream:
        assert "run.finished" in [told.event["type"] for told in stream]
    assert server.result(run)["outputs"] == {"n": 7}


def test_a_run_whose_snapshot_could_not_be_read_again_keeps_its_events(home):
    """The reader takes 8 KB here.  The snapshot of the long run is longer, so none is written, and nothing is removed."""
    server = home.serve(BATON_POINTS="snapshot.bytes=limit@8192")
    steps = "".join(f"  - {{name: s{n}, tool: echo, inputs: {{text: 'the text of step {n}'}}}}\n" for n in range(40))
    home.define("name: long\nsteps:\n" + steps)
    home.define("name: short\nsteps: [{name: s, tool: echo}]\n")
    long, short = (server.start(name, wait=True).body["run_id"] for name in ("long", "short"))
    events = server.events(long)
    assert compact(home, "--days", "0")["compacted"] == 1
    assert f"run {long}: cannot be compacted: its state of " in server.errors()
    assert server.get(f"/api/runs/{short}/events").status == 410
    assert server.events(long) == events
    server.kill()
    server = home.serve()
    assert server.events(long) == events and server.result(long)["status"] == "success"
    # Without the limit it is compacted like any other.
    assert compact(home, "--days", "0")["compacted"] == 1
    assert server.result(long)["status"] == "success"


def test_nobody_else_may_compact_or_rebuild(home, server):
    for target, body in (("/api/db/compact", {}), ("/api/db/rebuild", None)):
        assert server.request("POST", target, body).status == 403
    assert home.local("POST", "/api/db/compact", {"days": -1}).status == 422
    assert home.local("POST", "/api/db/compact", {"dayz": 1}).status == 422
    for words in (("--days", "x"), ("--max-events", "-1"), ("--now", "--days", "3"), ("more",)):
        assert home.cli("db", "compact", *words)[0] == USAGE, words


# ---- how long ----------------------------------------------------------------------------------


def test_a_run_may_say_how_long_it_is_kept(home, server):
    short = mixed_run(home, server, retention_days=0)
    long = mixed_run(home, server, retention_days=5)
    unsaid = mixed_run(home, server)
    done = compact(home)
    assert done["compacted"] == 1 and done["runs"] == 3
    assert server.get(f"/api/runs/{short}/events").status == 410
    assert server.get(f"/api/runs/{long}/events").status == 200
    assert server.get(f"/api/runs/{unsaid}/events").status == 200
    assert server.get(f"/api/runs/{short}?view=graph").body["retention_days"] == 0
    assert server.get(f"/api/runs/{long}?view=graph").body["retention_days"] == 5
    # Once it is gone nobody has to be looked at any more but the one that still says so.
    assert compact(home)["compacted"] == 0
    answer = server.request("POST", "/api/run", {"workflow": "mixed", "inputs": {}, "retention_days": -1})
    assert answer.status == 422


@pytest.mark.parametrize("policy, gone", [
    ("default_days: 0\n", True),
    ("default_days: 3\n", False),
    ("default_days: 0\nby_status: {failed: 14}\n", False),
    ("by_status: {failed: 0}\n", True),
    ("by_task: {mixed: 0}\nby_status: {failed: 14}\n", True),
    ("by_task: {other: 0}\n", False),
])
def test_a_policy_file_says_how_long(home, policy, gone):
    pathlib.Path(home.data, "retention_policy.yaml").write_text(policy)
    server = home.serve()
    run = mixed_run(home, server)
    assert compact(home)["compacted"] == int(gone)
    assert server.get(f"/api/runs/{run}/events").status == (410 if gone else 200)


def test_the_smallest_that_anybody_has_set_wins(home):
    """Thirty days are the default and compete with nobody; set, they do."""
    pathlib.Path(home.data, "retention_policy.yaml").write_text("default_days: 90\n")
    server = home.serve(BATON_RETENTION_DAYS="60")
    run = mixed_run(home, server)
    server.kill()
    past = 70 * 86400 * 1000000
    age(home, past)
    server = home.serve()
    assert compact(home)["compacted"] == 0
    server.kill()
    server = home.serve(BATON_RETENTION_DAYS="60")
    assert compact(home)["compacted"] == 1
    assert server.get(f"/api/runs/{run}").status == 200


def test_the_server_may_be_told_how_long_while_it_runs(home):
    server = home.serve()
    mixed_run(home, server)
    server.kill()
    age(home, 20 * 86400 * 1000000)
    server = home.serve()
    assert compact(home)["compacted"] == 0
    assert server.request("PATCH", "/api/server", {"log_retention_days": 10}).status == 200
    assert compact(home)["compacted"] == 1


def age(home, us):
    """Makes every run older than it is."""
    with home.meddled() as database:
        database.execute("UPDATE runs SET ended_at = ended_at - ?", (us,))


@pytest.mark.parametrize("name, value", [("BATON_RETENTION_DAYS", "0"), ("BATON_RETENTION_DAYS", "soon"),
                                         ("BATON_RETENTION_MAX_EVENTS", "999")])
def test_a_setting_that_the_seeds_do_not_allow_is_refused(home, name, value):
    server = home.begin_serve(**{name: value})
    assert not server.listen()
    assert server.wait() == USAGE
    assert "retention." in server.errors() and value in server.errors()


def test_a_wrong_policy_is_refused_by_name(home):
    pathlib.Path(home.data, "retention_policy.yaml").write_text("default_dayz: 3\n")
    server = home.begin_serve()
    assert not server.listen()
    assert server.wait() == USAGE
    assert "retention_policy.yaml" in server.errors() and "default_days" in server.errors()


# ---- kill -9 -----------------------------------------------------------------------------------


def points():
    source = pathlib.Path(__file__).resolve().parents[2] / "src/maintenance/retention.c"
    return sorted(point for point in set(re.findall(r'FAILPOINT\("([^"]+)"\)', source.read_text())) if "remov" not in point)


@pytest.mark.parametrize("point", points())
def test_a_pass_may_be_cut_off_anywhere(home, point):
    server = home.serve()
    run = mixed_run(home, server)
    other = mixed_run(home, server, inputs={"word": "other"})
    before = without_given([views(server, run), views(server, other)])
    server.kill()
    server = home.serve(BATON_POINTS=f"{point}=kill@1")
    with pytest.raises(Gone):
        home.local("POST", "/api/db/compact", {"days": 0})
    assert killed(server)
    server = home.serve()
    assert without_given([views(server, run), views(server, other)]) == before
    compact(home, "--now")
    assert without_given([views(server, run), views(server, other)]) == before
    for one in (run, other):
        assert server.get(f"/api/runs/{one}/events").status == 410
    server.kill()
    with home.database() as database:
        left = {row[0] for row in database.execute("SELECT DISTINCT type FROM events")}
    assert left == {"run.created", "run.finished", "run.compacted"}
    assert home.cli("db", "check")[0] == 0


# ---- snapshots ---------------------------------------------------------------------------------


def long_chain(steps):
    lines = ["name: long", "steps:"]
    for number in range(steps):
        lines.append(f"  - {{name: s{number}, tool: echo, inputs: {{n: {number}}}"
                     + (f", depends_on: [s{number - 1}]}}" if number else "}"))
    lines.append(f"  - {{name: ask, human: {{question: done}}, depends_on: [s{steps - 1}]}}")
    return "\n".join(lines) + "\n"


def test_a_long_run_is_loaded_from_its_snapshot(home):
    """Rows and commits a step stay as they are; a restart reads what is behind the newest snapshot."""
    steps = 4000
    server = home.serve()
    home.define(long_chain(steps))
    run = server.run_of("long")
    request = server.until(run, "human.requested")["data"]["effect"]
    figures = server.figures()
    assert figures["baton_events_total"] == steps + 2
    assert 1 <= figures["baton_snapshots_total"] <= 6
    before = views(server, run)
    server.kill()
    with home.database() as database:
        seqs = [row[0] for row in database.execute("SELECT seq FROM snapshots ORDER BY seq")]
        weights = dict(database.execute("SELECT seq, length(CAST(body AS BLOB)) FROM snapshots"))
        behind = database.execute("SELECT count(*), sum(length(CAST(body AS BLOB))) FROM events WHERE seq > ?",
                                  (seqs[-1],)).fetchone()
    assert 1 <= len(seqs) <= 2
    # Never more behind a snapshot than it weighs itself.
    assert behind[1] <= max(weights[seqs[-1]], 65536)
    server = home.serve()
    assert server.figures()["baton_events_loaded_total"] == 0  # it waits for a person, not in memory
    assert views(server, run) == before
    assert server.respond(request).status == 200
    assert server.figures()["baton_events_loaded_total"] == behind[0] < steps - 1000
    assert server.finish(run)["status"] == "success"


def test_a_short_run_has_no_snapshot(home, server):
    server.start("two-steps", wait=True)
    assert server.figures()["baton_snapshots_total"] == 0


def test_a_snapshot_that_cannot_be_read_is_passed_over(home):
    server = home.serve()
    home.define(GATED)
    run = server.run_of("gated", {"n": 7})
    request = server.until(run, "human.requested")["data"]["effect"]
    server.kill()
    with home.meddled() as database:
        database.execute("INSERT INTO snapshots SELECT key, 2, NULL, '{\"v\":99}' FROM runs WHERE key > 0")
    server = home.serve()
    assert server.respond(request).status == 200
    assert "skipping its snapshot" in server.errors()
    assert server.finish(run)["outputs"] == {"n": 7}
    assert home.cli("db", "check")[0] == STORAGE


# ---- rebuild -----------------------------------------------------------------------------------


def test_rebuild_mends_the_documents(home):
    """Every revision, the deleted ones too, as the system stream tells it."""
    server = home.serve()
    for name in ("one", "two", "three"):
        assert home.cli("profile", "create", name, "--set", f"repo_root=/srv/{name}")[0] == 0
    assert home.cli("profile", "delete", "two")[0] == 0
    assert home.cli("key", "create", "for reading")[0] == 0
    server.kill()
    with home.meddled() as database:
        wanted = database.execute("SELECT * FROM documents ORDER BY kind, name").fetchall()
        assert len(wanted) >= 5
        database.execute("DELETE FROM documents WHERE name = 'one'")
        database.execute("UPDATE documents SET body = '{}', revision = 9 WHERE name = 'three'")
        database.execute("UPDATE documents SET body = '{\"name\":\"two\"}' WHERE name = 'two'")
        database.execute("INSERT INTO documents VALUES ('profile', 'nobody', 1, 1, '{}')")
    status, output, errors = home.cli("db", "rebuild")
    assert status == 0, errors
    assert re.search(r"^documents +rebuilt from the system stream$", output, re.M)
    assert f"{len(wanted)} documents" in output
    with home.database() as database:
        assert database.execute("SELECT * FROM documents ORDER BY kind, name").fetchall() == wanted
    assert home.cli("db", "check")[0] == 0


def test_rebuild_leaves_the_documents_when_their_stream_is_not_whole(home):
    server = home.serve()
    for name in ("one", "two"):
        assert home.cli("profile", "create", name, "--set", "repo_root=/srv/x")[0] == 0
    server.kill()
    with home.meddled() as database:
        wanted = database.execute("SELECT * FROM documents ORDER BY kind, name").fetchall()
        database.execute("UPDATE events SET body = 'no JSON' WHERE run = 0 AND seq = 1")
    status, output, _ = home.cli("db", "rebuild")
    assert status == STORAGE and "the system stream: " in output
    with home.database() as database:
        assert database.execute("SELECT * FROM documents ORDER BY kind, name").fetchall() == wanted


def test_rebuild_mends_what_is_made_from_events(home):
    server = home.serve()
    home.define(GATED)
    open_run = server.run_of("gated", {"n": 7})
    server.until(open_run, "human.requested")
    ended = mixed_run(home, server)
    old = mixed_run(home, server, retention_days=0)
    assert compact(home)["compacted"] == 1
    rows, inbox = server.get("/api/runs").body, server.inbox()
    server.kill()
    with home.meddled() as database:
        wanted = database.execute("SELECT * FROM runs ORDER BY key").fetchall()
        database.execute("UPDATE runs SET state = 'running', ended_at = 0, summary = '{}', stepping = 0 WHERE key > 0")
        database.execute("DELETE FROM effects")
        database.execute("UPDATE tallies SET runs = 70")
    server = home.serve()
    # Recovery finds nothing, and the lists tell nonsense.
    assert server.inbox() == [] and server.get("/api/runs").body != rows
    status, output, errors = home.cli("db", "rebuild")
    assert status == 0, errors
    for name in ("runs", "effects", "documents", "tallies", "names"):
        assert re.search(rf"^{name} +rebuilt from ", output, re.M)
    assert "3 runs, 1 open effects; skipped 0 active runs, resumed 0" in output
    assert server.get("/api/runs").body == rows and server.inbox() == inbox
    with home.database() as database:
        assert database.execute("SELECT * FROM runs ORDER BY key").fetchall() == wanted
    # The run that waits for a person goes on when it is answered.
    assert server.respond(inbox[0]["id"]).status == 200
    with server.stream(f"/api/runs/{open_run}/stream") as stream:
        assert "run.finished" in [told.event["type"] for told in stream]
    assert server.result(open_run)["outputs"] == {"n": 7}
    assert server.get(f"/api/runs/{old}/events").status == 410
    assert server.result(ended)["status"] == "failed"
    assert home.cli("db", "check")[0] == 0
    server.kill()
    with home.database() as database:
        assert dict(database.execute("SELECT state, sum(runs) FROM tallies WHERE runs != 0 GROUP BY state")) == {"succeeded": 1, "failed": 2}


def test_rebuild_without_a_server_wakes_nobody(home):
    server = home.serve()
    home.define(GATED)
    run = server.run_of("gated")
    server.until(run, "human.requested")
    server.kill()
    status, output, errors = home.cli("db", "rebuild", "--json")
    assert status == 0, errors
    told = json.loads(output)
    assert (told["runs"], told["effects"], told["busy"], told["resumed"]) == (1, 1, 0, 0)
    assert told["problems"] == []
    assert [row["name"] for row in told["projections"]] == ["runs", "effects", "documents", "usage", "budgets", "tallies", "names"]


def test_rebuild_tells_of_a_run_that_cannot_be_folded(home):
    server = home.serve()
    good = mixed_run(home, server)
    bad = mixed_run(home, server)
    server.kill()
    with home.meddled() as database:
        database.execute("UPDATE events SET type = 'of.a.later.version' WHERE seq = 2 AND run = "
                         "(SELECT key FROM runs WHERE id = ?)", (bytes.fromhex(bad.replace("-", "")),))
    server = home.serve()
    status, output, errors = home.cli("db", "rebuild")
    assert status == STORAGE
    assert f"run {bad}: " in output and "of.a.later.version" in output and good not in output


@pytest.mark.parametrize("point", ["rebuild.before_run", "rebuild.run_written", "rebuild.before_documents",
                                   "rebuild.documents_written", "rebuild.before_end", "rebuild.ended"])
def test_a_rebuild_may_be_cut_off_anywhere(home, point):
    server = home.serve()
    home.define(GATED)
    run = server.run_of("gated", {"n": 7})
    request = server.until(run, "human.requested")["data"]["effect"]
    mixed_run(home, server)
    rows = server.get("/api/runs").body
    server.kill()
    server = home.serve(BATON_POINTS=f"{point}=kill@1")
    with pytest.raises(Gone):
        home.local("POST", "/api/db/rebuild")
    assert killed(server)
    server = home.serve()
    assert server.get("/api/runs").body == rows
    assert [item["id"] for item in server.inbox()] == [request]
    assert home.cli("db", "rebuild")[0] == 0
    assert home.cli("db", "check")[0] == 0
    assert server.respond(request).status == 200
    assert server.finish(run)["outputs"] == {"n": 7}


# ---- workspaces --------------------------------------------------------------------------------

WITH_FOLDER = """
name: folder
inputs: {code: {type: number, default: 0}}
steps:
  - {name: write, tool: shell, inputs: {command: "mkdir -p d; echo 1 > d/f; chmod 500 d; echo 2 > .hidden"}}
  - {name: last, tool: shell, depends_on: [write], inputs: {command: "exit ${inputs.code}"}}
"""


def parts_of(home, run):
    """The folders that a workspace consists of, as far as they are there."""
    return [path.name for path in (pathlib.Path(home.data) / "work" / run, pathlib.Path(home.data) / "work" / f"{run}.branches", pathlib.Path(home.data) / "trees" / f"{run}.git")
            if path.exists()]


def folder_run(home, server, code=0):
    home.define(WITH_FOLDER)
    run = server.run_of("folder", {"code": code})
    server.finish(run)
    assert len(parts_of(home, run)) == 2
    return run


def test_the_workspace_of_a_compacted_run_is_removed(home, server):
    run = folder_run(home, server, code=3)
    kept = server.run_of(home.define("name: waits\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'true'}}\n"
                                     "  - {name: b, depends_on: [a], wait: {signal: go}}\n"))
    server.until(kept, "timer.requested")
    assert compact(home, "--workspaces")["workspaces"] == 0  # its events are still there
    assert compact(home, "--now")["workspaces"] == 0         # it ended today, and workspaces are kept for 30 days
    assert len(parts_of(home, run)) == 2
    assert compact(home, "--now", "--workspaces")["workspaces"] == 1
    assert parts_of(home, run) == [] and len(parts_of(home, kept)) == 2
    assert server.get(f"/api/runs/{run}/steps").body["workspace_removed"] is True
    status, output, _ = home.cli("show", run)
    assert status == 0 and "removed by retention" in output
    refused = server.request("POST", f"/api/runs/{run}/retry", {})
    assert refused.status == 409 and "workspace of the run was removed" in json.dumps(refused.body)
    assert compact(home, "--now", "--workspaces")["workspaces"] == 0
    status, output, _ = home.cli("db", "check")
    assert status == 0, output


def test_a_run_without_a_workspace_stays_retriable(home, server):
    run = server.run_of(home.define("name: plain\nsteps:\n  - {name: a, tool: echo, inputs: {x: 1}}\noutputs: {x: {from: '${steps.a.outputs.nothing.more}'}}\n"))
    server.finish(run)
    compact(home, "--now", "--workspaces")
    assert "workspace_removed" not in server.get(f"/api/runs/{run}/steps").body


def test_workspaces_are_removed_by_age(home):
    """The pass that a server makes by itself, and one that is started by hand, follow the setting."""
    pathlib.Path(home.data, "config.yaml").write_text("retention: {workspace_days: 0}\n")
    server = home.serve()
    run = folder_run(home, server)
    assert compact(home, "--now")["workspaces"] == 1
    assert parts_of(home, run) == []
    assert server.get(f"/api/runs/{run}").body["status"] == "success"


@pytest.mark.parametrize("point", ["retention.before_removal", "retention.removal_recorded", "workspace.before_remove", "workspace.emptied",
                                   "retention.workspace_removed"])
def test_a_removal_may_be_cut_off_anywhere(home, point):
    pathlib.Path(home.data, "config.yaml").write_text("retention: {workspace_days: 0}\n")
    server = home.serve(BATON_POINTS=f"{point}=kill")
    run = folder_run(home, server, code=3)
    with pytest.raises(Gone):
        home.local("POST", "/api/db/compact", {"days": 0})
    assert killed(server)
    server = home.serve()
    if point == "retention.before_removal":
        assert "workspace_removed" not in server.get(f"/api/runs/{run}/steps").body
    else:
        assert server.request("POST", f"/api/runs/{run}/retry", {}).status == 409
    compact(home, "--now")
    assert parts_of(home, run) == []
    assert server.get(f"/api/runs/{run}/steps").body["workspace_removed"] is True


def test_the_folder_of_an_unknown_run_is_left_alone(home):
    pathlib.Path(home.data, "config.yaml").write_text("retention: {workspace_days: 0}\n")
    server = home.serve()
    run = folder_run(home, server)
    other = pathlib.Path(home.data) / "work" / new_id()
    other.mkdir()
    (other / "mine").write_text("x")
    assert compact(home, "--now")["workspaces"] == 1
    assert parts_of(home, run) == [] and (other / "mine").read_text() == "x"
