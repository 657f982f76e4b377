"""Schedules: made, shown, changed, paused; each due time has one run or is counted as passed, whatever is killed."""
import concurrent.futures
import datetime
import json
import pathlib

import pytest
from baton import EXIT, killed

QUICK = """
name: quick
inputs: {who: {type: string, default: nobody}}
steps:
  - {name: say, tool: echo, inputs: {x: "${inputs.who}"}}
outputs: {x: {from: "${steps.say.outputs.x}"}}
"""
ASK = """
name: ask
steps:
  - {name: ok, human: {question: "Go on?"}}
"""


def schedule(name="often", **more):
    when = {} if "cron" in more or "every" in more else {"every": "1s"}
    return {"name": name, "workflow": "quick", **when, **more}


def create(server, name="often", headers=None, **more):
    answer = server.request("POST", "/api/schedules", schedule(name, **more), headers)
    assert answer.status == 201, answer
    return answer


def show(server, name="often"):
    return server.get(f"/api/schedules/{name}").body


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def refused(answer, status, says=""):
    assert answer.status == status, answer
    assert says in answer.body["detail"], answer.body
    return answer.body


def pointers(problem):
    return {place["pointer"]: place["text"] for place in problem["details"]}


def progress_of(told, name="often"):
    """Bodies of the schedule's progress among events of the system stream."""
    data = told.get("data", {})
    if told["type"] == "document.changed" and (data["kind"], data["name"]) == ("schedule_progress", name):
        return data.get("body")
    return None


def await_progress(server, condition, name="often"):
    """Follows the system stream until the schedule's progress is as wanted."""
    with server.stream("/api/stream", last="0") as stream:
        for told in stream:
            body = progress_of(told.event, name)
            if body is not None and condition(body):
                return body
    raise AssertionError("the stream has ended")


def history(server, name="often"):
    after, found = "0", []
    while True:
        page = server.get(f"/api/events?type=document.changed&limit=1000&after={after}").body
        found += [body for body in map(lambda e: progress_of(e, name), page["items"]) if body is not None]
        if page["cursor"] is None or page["cursor"] == after:
            return found
        after = page["cursor"]


def run_ids(server):
    target, found = "/api/runs?limit=1000", []
    while target is not None:
        page = server.get(target)
        found += [item["run_id"] for item in page.body]
        link = page.headers["Link"]
        target = None if link is None else link[1:link.index(">")]
    return found


def due_times(server, name="often"):
    """Every due time that was ever taken, in order of its time."""
    return sorted({due for body in history(server, name) for due in body["waiting"]})


# ---- documents -------------------------------------------------------------------------------


def test_from_beginning_to_end(home, server):
    home.define(QUICK)
    assert server.get("/api/schedules").body == {"items": [], "cursor": None}
    made = create(server, "nightly", cron="30 2 * * mon-fri", time_zone="Europe/Berlin", inputs={"who": "me"})
    assert (made.headers["Location"], made.headers["ETag"]) == ("/api/schedules/nightly", '"1"')
    assert (made.body["overlap"], made.body["catch_up"], made.body["paused"]) == ("skip", "one", False)
    assert made.body["started"] == 0 and made.body["waiting"] == [] and made.body["last_run"] is None
    assert moment(made.body["next_at"]) > datetime.datetime.now(datetime.timezone.utc)
    read = server.get("/api/schedules/nightly")
    assert (read.status, read.body, read.headers["ETag"]) == (200, made.body, '"1"')
    assert server.get("/api/schedules/nightly", {"If-None-Match": '"1"'}).status == 304
    refused(server.request("POST", "/api/schedules", schedule("nightly")), 409, "already a schedule called nightly")
    body = schedule("nightly", cron="@yearly")
    changed = server.request("PUT", "/api/schedules/nightly", body, {"If-Match": '"1"'})
    assert (changed.status, changed.headers["ETag"], changed.body["cron"]) == (200, '"2"', "@yearly")
    assert changed.body["next_at"].endswith("-01-01T00:00:00Z")
    again = server.request("PUT", "/api/schedules/nightly", body)
    assert (again.status, again.headers["ETag"]) == (200, '"2"')
    refused(server.request("PUT", "/api/schedules/nightly", body, {"If-Match": '"1"'}), 412)
    refused(server.request("PUT", "/api/schedules/other", body), 422, "calls itself nightly")
    assert server.request("PUT", "/api/schedules/b", schedule("b", cron="@daily")).status == 201
    assert [item["name"] for item in server.get("/api/schedules").body["items"]] == ["b", "nightly"]
    page = server.get("/api/schedules?limit=1").body
    assert page["cursor"] == "b"
    assert [i["name"] for i in server.get("/api/schedules?limit=1&cursor=b").body["items"]] == ["nightly"]
    assert server.request("DELETE", "/api/schedules/b").status == 204
    refused(server.get("/api/schedules/b"), 404, "no schedule called b")
    refused(server.request("DELETE", "/api/schedules/b"), 404)
    refused(server.request("POST", "/api/schedules/b/pause"), 404)
    assert home.cli("db", "check")[0] == 0


def test_every_problem_has_its_place(home, server):
    home.define(QUICK)

    def problems(**more):
        return pointers(refused(server.request("POST", "/api/schedules", schedule(**more)), 422))

    assert "column 3: hour field (0-23): the number is out of range" in problems(cron="0 24 * * *")["/cron"]
    assert "five fields" in problems(cron="* * *")["/cron"]
    assert "no date ever matches" in problems(cron="0 0 30 2 *")["/cron"]
    assert "such as 90s or 5m" in problems(every="5 minutes")["/every"]
    assert "exactly one of cron and every" in problems(every="5m", cron="@daily")[""]
    assert "exactly one of cron and every" in pointers(refused(
        server.request("POST", "/api/schedules", {"name": "x", "workflow": "quick"}), 422))[""]
    assert "not a time zone name of the tz database" in problems(time_zone="../../etc/passwd")["/time_zone"]
    found = problems(cron="@daily", time_zone="Europe/Atlantis", workflow="nothing")
    assert "there is no time zone Europe/Atlantis" in found["/time_zone"]
    assert set(found) == {"/time_zone", "/workflow"}
    assert "all needs overlap queue or allow" in problems(catch_up="all")["/catch_up"]
    assert "env:NAME" in problems(inputs={"password": "sesame"})["/inputs/password"]
    assert 'did you mean "every"' in problems(evry="5m")["/evry"]
    assert server.get("/api/schedules").body["items"] == []


def test_times_to_come(home, server):
    home.define(QUICK)
    create(server, "winter", cron="30 2 25-31 3,10 sun", time_zone="Europe/Berlin")
    answer = server.get("/api/schedules/winter/next?limit=40")
    assert answer.status == 200 and answer.body["time_zone"] == "Europe/Berlin"
    items = answer.body["items"]
    assert len(items) == 40
    times = [moment(item["at"]) for item in items]
    assert times == sorted(set(times))
    for item in items:
        local = datetime.datetime.fromisoformat(item["local"])
        assert local == moment(item["at"])
        # Half past two, or three where the clock jumps over it.
        assert (local.hour, local.minute) in ((2, 30), (3, 0))
    assert {datetime.datetime.fromisoformat(i["local"]).hour for i in items} == {2, 3}
    assert moment(show(server, "winter")["next_at"]) == times[0]
    create(server, "other", every="7d")
    steps = [moment(item["at"]) for item in server.get("/api/schedules/other/next").body["items"]]
    assert len(steps) == 10
    assert {later - earlier for earlier, later in zip(steps, steps[1:])} == {datetime.timedelta(days=7)}
    refused(server.get("/api/schedules/none/next"), 404)
    assert server.get("/api/schedules/other/next?limit=0").status == 400
    server.request("POST", "/api/schedules/other/pause")
    assert server.get("/api/schedules/other/next").body["items"] == []


def test_of_many_writers_one_wins(home, server):
    home.define(QUICK)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(
            lambda _: server.request("POST", "/api/schedules", schedule(cron="@daily")), range(8)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7
    key = {"Idempotency-Key": "once"}
    assert server.request("POST", "/api/schedules", schedule("k", cron="@daily"), key).status == 201
    assert server.request("POST", "/api/schedules", schedule("k", cron="@daily"), key).status == 200


# ---- coming due ------------------------------------------------------------------------------


def test_each_due_time_has_its_run(home, server):
    """All of them, also where a run takes longer than the second until the next."""
    home.define(QUICK)
    create(server, inputs={"who": "the clock"}, overlap="allow", catch_up="all")
    body = await_progress(server, lambda p: p["started"] >= 3)
    run = body["last_run"]
    assert server.finish(run)["outputs"] == {"x": "the clock"}
    server.request("POST", "/api/schedules/often/pause")
    await_progress(server, lambda p: p["next_at"] is None and not p["waiting"])
    seen = history(server)
    begun = moment(seen[0]["begun_at"])
    dues = [moment(due) for due in due_times(server)]
    assert dues == [begun + datetime.timedelta(seconds=n + 1) for n in range(len(dues))]
    # Nothing comes before its time, and what has started is a run.
    assert len(run_ids(server)) == len(set(run_ids(server))) == show(server)["started"]


def test_a_definition_that_cannot_start_is_told(home, server):
    home.define(QUICK)
    create(server, overlap="allow")
    home.define(QUICK.replace("name: quick", "name: another"), "quick")
    body = await_progress(server, lambda p: p["failed"] >= 2)
    assert "another" in body["last_error"] and body["next_at"] is not None
    home.define(QUICK)
    body = await_progress(server, lambda p: p["started"] >= 1 and p["failed"] >= 2 and p["last_error"] is None)
    assert body["failed"] >= 2


def test_paused_nothing_comes_due(home, server):
    home.define(QUICK)
    create(server)
    create(server, "witness")
    await_progress(server, lambda p: p["started"] >= 1)
    paused = server.request("POST", "/api/schedules/often/pause")
    assert (paused.status, paused.body["paused"], paused.body["next_at"]) == (200, True, None)
    stopped = await_progress(server, lambda p: p["next_at"] is None and not p["waiting"])
    before = stopped["started"]
    now = show(server, "witness")["started"]
    await_progress(server, lambda p: p["started"] >= now + 2, "witness")
    assert show(server)["started"] == before
    resumed = server.request("POST", "/api/schedules/often/resume")
    assert (resumed.status, resumed.body["paused"]) == (200, False)
    assert moment(resumed.body["next_at"]) > moment(paused.body["last_due_at"])
    body = await_progress(server, lambda p: p["started"] > before)
    assert body["skipped"] == stopped["skipped"]


# ---- overlap ---------------------------------------------------------------------------------


def test_overlap_skip(home, server):
    home.define(ASK)
    create(server, workflow="ask")
    body = await_progress(server, lambda p: p["skipped"] >= 2)
    assert body["started"] == 1 and len(body["running"]) == 1 and body["waiting"] == []
    assert run_ids(server) == body["running"]
    server.respond(server.inbox()[0]["id"])
    body = await_progress(server, lambda p: p["started"] == 2)
    assert len(run_ids(server)) == 2


def test_overlap_queue(home, server):
    home.define(ASK)
    create(server, workflow="ask", overlap="queue")
    body = await_progress(server, lambda p: len(p["waiting"]) >= 2)
    assert body["started"] == 1 and body["skipped"] == 0
    server.request("POST", "/api/schedules/often/pause")
    # Paused, what waits goes on waiting.
    server.respond(server.inbox()[0]["id"])
    assert len(run_ids(server)) == 1
    resumed = server.request("POST", "/api/schedules/often/resume").body
    waiting = resumed["waiting"]
    assert waiting == sorted(waiting)
    body = await_progress(server, lambda p: p["started"] == 2)
    assert body["last_due_at"] == waiting[0]
    assert len(server.inbox()) == 1
    server.respond(server.inbox()[0]["id"])
    body = await_progress(server, lambda p: p["started"] == 3)
    assert body["last_due_at"] == waiting[1] and body["skipped"] == 0


def test_overlap_queue_after_a_kill(home):
    """The run that is waited for ends in another life of the server."""
    server = home.serve()
    home.define(ASK)
    create(server, workflow="ask", overlap="queue", catch_up="skip")
    first = await_progress(server, lambda p: p["waiting"] and p["running"])["last_run"]
    server.kill()
    server = home.serve()
    assert run_ids(server) == [first]
    server.respond(server.inbox()[0]["id"])
    await_progress(server, lambda p: p["started"] == 2)
    assert len(run_ids(server)) == 2


def test_overlap_allow(home, server):
    home.define(ASK)
    create(server, workflow="ask", overlap="allow")
    body = await_progress(server, lambda p: p["started"] >= 3)
    assert body["skipped"] == 0 and len(body["running"]) >= 3
    assert len(server.inbox()) >= 3


def test_another_policy_lets_go_what_waits(home, server):
    home.define(ASK)
    create(server, workflow="ask", overlap="queue")
    await_progress(server, lambda p: len(p["waiting"]) >= 2)
    answer = server.request("PUT", "/api/schedules/often", schedule(workflow="ask", overlap="allow"))
    assert answer.status == 200
    await_progress(server, lambda p: p["started"] >= 3)


# ---- kills -----------------------------------------------------------------------------------


def check_each_due_time_once(server, name="often"):
    """By what the system stream tells: each due time that was taken has one run, under the id that is derived from
    it, or still waits; and between the first and the last none is missing."""
    seen = history(server, name)
    begun = moment(seen[0]["begun_at"])
    dues = due_times(server, name)
    offsets = [round((moment(due) - begun).total_seconds()) for due in dues]
    assert offsets == list(range(1, len(dues) + 1))
    runs = run_ids(server)
    assert len(runs) == len(set(runs))
    last = seen[-1]
    assert last["started"] + len(last["waiting"]) == len(dues)
    assert last["started"] <= len(runs) <= last["started"] + 1  # one may be started and not noted yet
    return dues


@pytest.mark.parametrize("point", ["schedule.before_start", "schedule.started", "schedule.stepped",
                                   "documents.committed", "runtime.committed", "store.before_commit",
                                   "store.after_commit"])
def test_killed_while_it_comes_due(home, point):
    """Killed at every step between two due times and again: catch_up all, so not one may be missing, and not one
    may come twice."""
    server = home.serve()
    home.define(QUICK)
    create(server, overlap="allow", catch_up="all")
    await_progress(server, lambda p: p["started"] >= 1)
    server.kill()
    for count in (1, 2):
        server = home.begin_serve(BATON_POINTS=f"{point}=kill@{count}")
        assert killed(server)
    server = home.serve()
    now = len(due_times(server))
    await_progress(server, lambda p: p["started"] > now)
    server.request("POST", "/api/schedules/often/pause")
    check_each_due_time_once(server)
    assert home.cli("db", "check")[0] == 0


def test_catch_up(home):
    """Due times pass while nobody is there: let pass, made up for once, or all of them."""
    server = home.serve()
    home.define(QUICK)
    for policy in ("skip", "one", "all"):
        create(server, policy, catch_up=policy, overlap="allow")
    for policy in ("skip", "one", "all"):
        await_progress(server, lambda p: p["started"] >= 1, policy)
    server.kill()
    before = {}
    with home.__class__() as other:
        # Another folder's schedule, begun later and as often, tells us that three of ours have passed.
        other.define(QUICK)
        witness = other.serve()
        create(witness)
        await_progress(witness, lambda p: p["started"] >= 3)
    # Looks without taking anything: nothing comes due in a command that owns the folder for a moment.
    status, out, err = home.cli("schedule", "list", "--json")
    assert status == 0, err
    for item in json.loads(out)["items"]:
        before[item["name"]] = (item["started"], item["skipped"], item["next_at"])
    server = home.serve()
    first = {policy: await_progress(server, lambda p, n=before[policy][2]: p["next_at"] is None or
                                    moment(p["next_at"]) > moment(n), policy) for policy in before}
    for policy in before:
        server.request("POST", f"/api/schedules/{policy}/pause")
    assert first["skip"]["skipped"] - before["skip"][1] >= 3
    assert first["one"]["skipped"] - before["one"][1] >= 2
    assert first["all"]["skipped"] == before["all"][1] == 0
    assert before["one"][2] in first["one"]["waiting"] and before["skip"][2] not in first["skip"]["waiting"]
    assert len(first["all"]["waiting"]) >= 3
    assert len(first["all"]["waiting"]) - len(first["one"]["waiting"]) >= 2


def test_a_full_disk_loses_no_due_time(home):
    server = home.serve()
    home.define(QUICK)
    create(server, overlap="allow", catch_up="all")
    await_progress(server, lambda p: p["started"] >= 1)
    server.kill()
    server = home.serve(BATON_POINTS="store.before_commit=full@2-5")
    now = len(due_times(server))
    await_progress(server, lambda p: p["started"] > now)
    server.request("POST", "/api/schedules/often/pause")
    check_each_due_time_once(server)


def test_a_stop_leaves_everything_where_it_was(home):
    server = home.serve()
    home.define(QUICK)
    create(server, overlap="allow", catch_up="all")
    await_progress(server, lambda p: p["started"] >= 2)
    server.end()
    server = home.serve()
    now = len(due_times(server))
    await_progress(server, lambda p: p["started"] > now)
    server.request("POST", "/api/schedules/often/pause")
    check_each_due_time_once(server)


def test_deleted_it_does_not_come_due(home, server):
    home.define(QUICK)
    create(server)
    create(server, "witness")
    await_progress(server, lambda p: p["started"] >= 1)
    assert server.request("DELETE", "/api/schedules/often").status == 204
    now = show(server, "witness")["started"]
    before = len(history(server))
    await_progress(server, lambda p: p["started"] >= now + 2, "witness")
    assert len(history(server)) == before
    # A new one of that name begins anew.
    assert create(server, cron="@yearly").body["started"] == 0


# ---- the command line ------------------------------------------------------------------------


def test_on_the_command_line(home):
    home.define(QUICK)
    server = home.serve()
    status, out, err = home.cli("schedule", "create", "nightly", "--cron", "30 2 * * mon-fri", "--zone",
                                "Europe/Berlin", "--workflow", "quick", "--input", "who=me", "--overlap", "queue",
                                "--catch-up", "all")
    assert status == 0, out + err
    assert json.loads(out)["inputs"] == {"who": "me"}
    next_at = show(server, "nightly")["next_at"]
    status, out, err = home.cli("schedule", "list")
    assert out == f"nightly  30 2 * * mon-fri  Europe/Berlin  quick  next {next_at}\n"
    status, out, err = home.cli("schedule", "next", "nightly")
    lines = out.splitlines()
    assert len(lines) == 10 and moment(next_at) == datetime.datetime.fromisoformat(lines[0])
    assert home.cli("schedule", "pause", "nightly")[0] == 0
    assert home.cli("schedule", "list")[1].endswith("quick  paused\n")
    status, out, err = home.cli("schedule", "resume", "nightly")
    assert json.loads(out)["next_at"] == next_at
    status, out, err = home.cli("schedule", "show", "nightly")
    assert json.loads(out) == show(server, "nightly")
    file = pathlib.Path(home.path, "schedule.yaml")
    file.write_text("every: 2h\nworkflow: quick\n")
    assert home.cli("schedule", "create", "poll", "--file", str(file))[0] == 0
    assert show(server, "poll")["every"] == "2h"
    assert home.cli("schedule", "delete", "poll")[0] == 0
    status, out, err = home.cli("schedule", "show", "poll")
    assert status == EXIT["not_found"] and "no schedule called poll" in err
    status, out, err = home.cli("schedule", "create", "x", "--cron", "61 * * * *", "--workflow", "quick")
    assert status == EXIT["invalid"] and "column 1" in err
    status, out, err = home.cli("schedule", "create", "x")
    assert status == EXIT["usage"] and "--file" in err
    status, out, err = home.cli("schedule", "create", "x", "--every", "5m", "--input", "novalue")
    assert status == EXIT["usage"] and "NAME=VALUE" in err
