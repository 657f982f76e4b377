"""Profiles over HTTP: made, read, changed, taken away, activated; what a crash and a full disk leave."""
import concurrent.futures

import pytest
from baton import Gone, killed

ZERO = "00000000-0000-0000-0000-000000000000"
PROBLEM_CODES = {409: "conflict", 412: "precondition_failed", 422: "invalid", 404: "not_found", 507: "storage_full"}


def profile(name="work", **more):
    return {"name": name, "repo_root": "/srv/" + name, **more}


def create(server, name="work", headers=None, **more):
    return server.request("POST", "/api/profiles", profile(name, **more), headers)


def put(server, name, headers=None, **more):
    return server.request("PUT", f"/api/profiles/{name}", profile(name, **more), headers)


def names(server):
    return [item["name"] for item in server.get("/api/profiles").body["items"]]


def active(server):
    return server.get("/api/profiles").body["active_profile"]


def refused(answer, status, says=""):
    assert answer.status == status, answer
    assert answer.body["code"] == PROBLEM_CODES[status]
    assert says in answer.body["detail"], answer.body
    return answer.body


def changes(server):
    """The system stream: what every change has left."""
    return [event for event in server.get("/api/events?type=document.changed&limit=1000").body["items"]]


# ---- one profile -----------------------------------------------------------------------------


def test_from_beginning_to_end(server):
    assert server.get("/api/profiles").body == {"items": [], "active_profile": None, "cursor": None}
    made = create(server)
    assert made.status == 201
    assert made.headers["Location"] == "/api/profiles/work"
    assert made.headers["ETag"] == '"1"'
    assert made.body["tracker"] == "noop" and made.body["retry"]["max_retries"] == 3
    read = server.get(made.headers["Location"])
    assert (read.status, read.body, read.headers["ETag"]) == (200, made.body, '"1"')
    changed = put(server, "work", tracker="github")
    assert (changed.status, changed.headers["ETag"]) == (200, '"2"')
    assert changed.body["tracker"] == "github"
    assert put(server, "play").status == 201
    assert names(server) == ["play", "work"]
    gone = server.request("DELETE", "/api/profiles/play")
    assert (gone.status, gone.body) == (204, b"")
    refused(server.get("/api/profiles/play"), 404, "no profile called play")
    refused(server.request("DELETE", "/api/profiles/play"), 404)
    assert names(server) == ["work"]


def test_pages(server):
    for number in range(7):
        assert create(server, f"p{number}").status == 201
    seen, cursor = [], ""
    while cursor is not None:
        page = server.get(f"/api/profiles?limit=3&cursor={cursor}").body
        seen.append([item["name"] for item in page["items"]])
        cursor = page["cursor"]
    assert seen == [["p0", "p1", "p2"], ["p3", "p4", "p5"], ["p6"]]
    assert server.get("/api/profiles?limit=0").status == 400


def test_a_name_is_any_text_that_fits_into_a_path(server):
    made = create(server, "büro & co")
    assert made.status == 201
    assert made.headers["Location"] == "/api/profiles/b%C3%BCro%20%26%20co"
    assert server.get(made.headers["Location"]).body["name"] == "büro & co"
    for bad in ("a/b", "..", "a\nb", "x" * 129, ""):
        refused(create(server, bad), 422)
    refused(server.request("PUT", "/api/profiles/one", profile("two")), 422, "profile one calls itself two")
    assert names(server) == ["büro & co"]


def test_not_modified(server):
    create(server)
    answer = server.get("/api/profiles/work", {"If-None-Match": '"1"'})
    assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", '"1"')
    assert server.get("/api/profiles/work", {"If-None-Match": '"2"'}).status == 200


def test_nothing_new_is_no_change(server):
    create(server)
    before = len(changes(server))
    same = put(server, "work")
    assert (same.status, same.headers["ETag"]) == (200, '"1"')
    assert len(changes(server)) == before


# ---- revisions -------------------------------------------------------------------------------


def test_who_has_seen_another_revision_is_refused(server):
    create(server)
    refused(create(server), 409, "already a profile called work")
    refused(put(server, "work", {"If-None-Match": "*"}, tracker="jira"), 409)
    assert put(server, "work", {"If-Match": '"1"'}, tracker="jira").status == 200
    refused(put(server, "work", {"If-Match": '"1"'}, tracker="github"), 412, "is at revision 2, not 1")
    refused(server.request("DELETE", "/api/profiles/work", None, {"If-Match": '"1"'}), 412)
    refused(put(server, "new", {"If-Match": "*"}), 412)
    assert put(server, "work", {"If-Match": "*"}, tracker="github").headers["ETag"] == '"3"'
    # Revision 0 is what nobody has made yet.
    refused(put(server, "work", {"If-Match": '"0"'}, tracker="jira"), 409)
    for header in ('1', '"x"', '"1", "2"', 'W/"3"'):
        answer = put(server, "work", {"If-Match": header})
        assert (answer.status, answer.body["code"]) == (400, "usage"), header
    assert server.get("/api/profiles/work").body["tracker"] == "github"


def test_a_revision_is_never_used_again(server):
    """Else somebody who has seen the first `play` could overwrite the second."""
    create(server)
    create(server, "play")
    assert server.request("DELETE", "/api/profiles/play").status == 204
    assert create(server, "play").headers["ETag"] == '"3"'
    refused(put(server, "play", {"If-Match": '"1"'}, tracker="jira"), 412)


def test_of_many_writers_one_wins(server):
    create(server)
    trackers = ["jira", "github"] * 8
    with concurrent.futures.ThreadPoolExecutor(len(trackers)) as pool:
        answers = list(pool.map(lambda t: put(server, "work", {"If-Match": '"1"'}, tracker=t), trackers))
    assert sorted(answer.status for answer in answers) == [200] + [412] * 15
    winner = next(answer for answer in answers if answer.status == 200)
    assert server.get("/api/profiles/work").body == winner.body
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: create(server, "new"), range(8)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7


# ---- parts -----------------------------------------------------------------------------------


def patch(server, name, body, headers=None):
    return server.request("PATCH", f"/api/profiles/{name}", body, headers)


def test_parts_are_changed_and_taken_away(server):
    create(server, agents={"dev": {"driver": "api", "model": "m", "options": {"a": 1, "b": 2}},
                           "rev": {"driver": "claude", "model": "n"}})
    answer = patch(server, "work", {"tracker": "jira", "agents": {"dev": {"options": {"a": None}}, "rev": None}})
    assert answer.status == 200, answer
    assert answer.body["tracker"] == "jira"
    assert list(answer.body["agents"]) == ["dev"]
    assert answer.body["agents"]["dev"]["options"] == {"b": 2}
    # null: as if it had never been said
    assert patch(server, "work", {"tracker": None}).body["tracker"] == "noop"
    problem = refused(patch(server, "work", {"repo_root": None, "trakcer": "jira"}), 422)
    assert {place["pointer"] for place in problem["details"]} == {"/repo_root", "/trakcer"}
    assert all("line" not in place for place in problem["details"])
    refused(patch(server, "work", {"name": "other"}), 422, "calls itself other")
    refused(patch(server, "nobody", {}), 404)
    refused(patch(server, "work", {"tracker": "jira"}, {"If-Match": '"1"'}), 412)


def test_parts_that_two_change_at_once_are_both_changed(server):
    create(server)
    bodies = [{"agents": {f"a{n}": {"driver": "api", "model": "m"}}} for n in range(12)]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda body: patch(server, "work", body), bodies))
    assert {answer.status for answer in answers} == {200}
    assert sorted(server.get("/api/profiles/work").body["agents"]) == sorted(f"a{n}" for n in range(12))


# ---- bad documents ---------------------------------------------------------------------------


def test_every_problem_has_its_place(server):
    body = b'''{"name": "p", "repo_rot": "/r", "tracker": "git",
 "agents": {"dev": {"driver": "api"}},
 "retry": {"max_retries": 11, "base_delay": 50},
 "sandbox": {"mode": "daytona"}}'''
    answer = server.request("POST", "/api/profiles", body, {"Content-Type": "application/json"})
    problem = refused(answer, 422)
    places = {place["pointer"]: place for place in problem["details"]}
    assert set(places) == {"/repo_rot", "/repo_root", "/tracker", "/agents/dev/model", "/retry/max_retries",
                           "/retry/base_delay", "/sandbox/repo_url"}
    assert 'did you mean "repo_root"' in places["/repo_rot"]["text"]
    assert (places["/retry/max_retries"]["line"], places["/retry/max_retries"]["column"]) == (3, 27)
    answer = server.request("POST", "/api/profiles", b'{"name": ', {"Content-Type": "application/json"})
    assert (answer.status, answer.body["code"]) == (400, "syntax")
    assert server.request("POST", "/api/profiles", b"name=x").status == 415
    assert names(server) == [] and changes(server) == []


def test_secrets_are_references(server):
    agents = {"dev": {"driver": "api", "model": "m", "options": {"api_key": "sk-very-secret"}}}
    answer = create(server, agents=agents)
    problem = refused(answer, 422, "env:NAME")
    assert [place["pointer"] for place in problem["details"]] == ["/agents/dev/options/api_key"]
    assert "very-secret" not in str(answer)
    refused(create(server, sandbox={"repo_url": "https://me:word@example.org/r"}), 422, "password")
    agents["dev"]["options"]["api_key"] = "env:OPENAI_API_KEY"
    assert create(server, agents=agents).status == 201


def test_old_profiles_are_read_and_printed_new(server):
    old = {"name": "old", "driver": "cli", "tracker": "none", "working_dir": "/w", "max_review_iterations": 4}
    made = server.request("POST", "/api/profiles", old)
    assert made.status == 201, made
    assert (made.body["tracker"], made.body["repo_root"]) == ("noop", "/w")
    assert made.body["agents"]["reviewer"] ["options"] == {"max_iterations": 4}
    assert {agent["driver"] for agent in made.body["agents"].values()} == {"claude"}
    assert "driver" not in made.body and "working_dir" not in made.body
    # An old name of a member and old words, in a document of the new shape.
    body = {"name": "mixed", "working_dir": "/m", "tracker": "none",
            "agents": {"dev": {"driver": "cli:codex", "model": "m"}}}
    made = server.request("PUT", "/api/profiles/mixed", body)
    assert (made.status, made.body["repo_root"]) == (201, "/m")
    assert made.body["agents"]["dev"]["driver"] == "codex"


# ---- agents ----------------------------------------------------------------------------------


def test_an_agent_runs_with_its_profiles_sandbox_and_name(server):
    create(server, sandbox={"mode": "container", "image": "box:1"},
           agents={"dev": {"driver": "api", "model": "m", "options": {"x": 1}, "profile_name": "liar",
                           "sandbox": {"mode": "none", "image": "own:1"}}})
    answer = server.get("/api/profiles/work/agents/dev")
    assert answer.status == 200
    assert answer.body["sandbox"]["mode"] == "container" and answer.body["sandbox"]["image"] == "box:1"
    assert (answer.body["profile_name"], answer.body["options"]) == ("work", {"x": 1})
    # The profile itself stays as it was written.
    assert server.get("/api/profiles/work").body["agents"]["dev"]["sandbox"]["image"] == "own:1"
    refused(server.get("/api/profiles/work/agents/nobody"), 404, "it has dev")
    refused(server.get("/api/profiles/nothing/agents/dev"), 404, "no profile called nothing")


# ---- the active one --------------------------------------------------------------------------


def test_there_is_exactly_one_active_profile(home):
    server = home.serve()
    create(server)
    create(server, "play")
    assert active(server) == "work"
    refused(server.request("DELETE", "/api/profiles/work"), 409, "activate another one before deleting it")
    answer = server.request("POST", "/api/profiles/play/activate")
    assert (answer.status, answer.body) == (200, {"active_profile": "play"})
    refused(server.request("POST", "/api/profiles/nobody/activate"), 404, "no profile called nobody")
    server.kill()
    server = home.serve()
    assert active(server) == "play"
    assert server.request("DELETE", "/api/profiles/work").status == 204
    refused(server.request("DELETE", "/api/profiles/play"), 409)
    assert active(server) == "play"


def test_a_change_is_in_the_system_stream_with_who_did_it(home):
    server = home.serve()
    create(server)
    made = home.local("POST", "/api/profiles", profile("mine"))
    assert made.status == 201
    server.request("POST", "/api/profiles/mine/activate")
    server.request("DELETE", "/api/profiles/work")
    events = changes(server)
    assert {event["run_id"] for event in events} == {ZERO}
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    told = [(e["data"]["kind"], e["data"]["name"], e["data"]["revision"], "body" in e["data"]) for e in events]
    assert told == [("profile", "work", 1, True), ("settings", "settings", 1, True), ("profile", "mine", 1, True),
                    ("settings", "settings", 2, True), ("profile", "work", 2, False)]
    assert events[2]["data"]["body"] == made.body
    assert events[0]["data"]["by"] == "http"
    assert events[2]["data"]["by"] not in ("", "http")
    # It is no run, and no run's list has it.
    assert server.get("/api/runs").body == []
    assert [e["seq"] for e in server.get(f"/api/events?run={ZERO}").body["items"]] == [1, 2, 3, 4, 5]
    status, output, errors = home.cli("db", "check")
    assert status == 0, output + errors


def test_a_stream_tells_of_changes(server):
    with server.stream("/api/stream") as stream:
        create(server)
        told = next(stream).event
        assert (told["run_id"], told["type"], told["data"]["name"]) == (ZERO, "document.changed", "work")


# ---- again -----------------------------------------------------------------------------------


def test_the_same_request_again_does_nothing(home):
    server = home.serve()
    key = {"Idempotency-Key": "once"}
    first = create(server, headers=key)
    assert first.status == 201
    for _ in range(2):
        again = create(server, headers=key)
        assert (again.status, again.body, again.headers["ETag"]) == (200, first.body, '"1"')
        server.kill()
        server = home.serve()
    refused(create(server, "other", headers=key), 409, "used for another request")
    assert len(changes(server)) == 2
    refused(create(server), 409, "already a profile")


# ---- crashes ---------------------------------------------------------------------------------

POINTS = ["documents.before_append", "store.before_begin", "store.before_commit", "store.after_commit",
          "documents.committed"]


@pytest.mark.parametrize("point", POINTS)
def test_killed_around_the_commit(home, point):
    """What was acknowledged is there, what was not is there whole or not at all, and asking again with
    the same key ends as one change."""
    server = home.serve()
    assert create(server).status == 201
    server.kill()
    server = home.serve(BATON_POINTS=f"{point}=kill")
    key = {"Idempotency-Key": "k"}
    with pytest.raises(Gone):
        create(server, "play", headers=key)
    assert killed(server)
    server = home.serve()
    stored = names(server)
    assert stored == (["play", "work"] if point in ("store.after_commit", "documents.committed") else ["work"])
    again = create(server, "play", headers=key)
    assert again.status == (200 if "play" in stored else 201)
    assert names(server) == ["play", "work"]
    assert [e["data"]["name"] for e in changes(server)] == ["work", "settings", "play"]
    assert [e["seq"] for e in changes(server)] == [1, 2, 3]
    assert active(server) == "work"
    status, output, errors = home.cli("db", "check")
    assert status == 0, output + errors


def test_a_full_disk_changes_nothing(home):
    server = home.serve()
    create(server)
    server.kill()
    server = home.serve(BATON_POINTS="store.before_commit=full@1-2")
    problem = refused(put(server, "work", tracker="jira"), 507, "no room")
    assert "nothing was changed" in problem["detail"]
    assert server.get("/api/profiles/work").body["tracker"] == "noop"
    refused(server.request("DELETE", "/api/profiles/work"), 409)
    assert create(server, "play").status in (201, 507)
    assert put(server, "work", tracker="jira").status == 200
