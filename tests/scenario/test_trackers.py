"""Issues and pull requests: what runs and people get from a tracker, and what they are told when it fails."""
import datetime
import json
import pathlib
import time
import urllib.parse

import pytest
from baton import killed
from fake_tracker import EMAIL, TOKEN, FakeTracker

ADF = {"type": "doc", "version": 1, "content": [
    {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Steps"}]},
    {"type": "bulletList", "content": [{"type": "listItem", "content": [
        {"type": "paragraph", "content": [{"type": "text", "text": "open", "marks": [{"type": "strong"}]}]}]}]}]}
KEYS = {"github": "7", "gitlab": "7", "jira": "ABC-7"}
STATES = {"github": "open", "gitlab": "opened", "jira": "To Do"}
HTTP = list(KEYS)


@pytest.fixture(name="tracker")
def fake_tracker():
    with FakeTracker() as tracker:
        tracker.issues["acme/site", 7] = {"title": "add() subtracts", "body": "It should **add**.", "labels": ["bug", "urgent"]}
        tracker.issues["ABC-7"] = {"title": "add() subtracts", "body": "It should **add**.", "labels": ["bug", "urgent"]}
        yield tracker


@pytest.fixture(name="folder")
def repository(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text('[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:acme/site.git\n')
    return tmp_path


def settings(tracker, **more):
    return {"BATON_TRACKER_GITHUB_URL": tracker.base, "BATON_TRACKER_GITLAB_URL": tracker.base, "JIRA_BASE_URL": tracker.base,
            "GITHUB_TOKEN": TOKEN, "GITLAB_TOKEN": TOKEN, "JIRA_API_TOKEN": TOKEN, "JIRA_EMAIL": EMAIL, **more}


def serve(home, tracker, folder, kind, **more):
    server = home.serve(**settings(tracker, **more))
    made = server.request("PUT", "/api/profiles/work", {"name": "work", "repo_root": str(folder), "tracker": kind})
    assert made.status in (200, 201), made
    return server


def step(home, tool, inputs, more=""):
    return home.define(f"name: one\noutputs: {{all: {{from: '${{steps.it.outputs}}'}}}}\nsteps:\n  - name: it\n    tool: {tool}\n    inputs: {json.dumps(inputs)}\n{more}")


def call(home, server, tool, inputs, more=""):
    """The output of a run of one step, or its error."""
    run = server.run_of(step(home, tool, inputs, more))
    server.finish(run)
    result = server.result(run)
    (end,) = [event["data"] for event in server.events(run) if event["type"] == "tool.finished"][-1:]
    return result["outputs"]["all"] if end["outcome"] == "ok" else end["fault"]


def issue(server, id, **query):
    return server.get(f"/api/tracker/issues/{urllib.parse.quote(id, safe='')}?{urllib.parse.urlencode(query)}")


# ---- issues ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HTTP)
def test_a_run_reads_the_issue_of_its_profiles_tracker(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    found = call(home, server, "issue_read", {"id": KEYS[kind]})
    assert (found["title"], found["status"], found["labels"]) == ("add() subtracts", STATES[kind], ["bug", "urgent"])
    assert found["description"] == "It should **add**." and found["tracker"] == kind and found["url"].startswith("http")
    assert found["id"] == ("ABC-7" if kind == "jira" else "acme/site#7")
    assert server.get(f"/api/tracker/issues/{KEYS[kind]}").body == found


@pytest.mark.parametrize("version", ["2", "3"])
def test_jira_has_two_versions_and_documents_become_markdown(home, tracker, folder, version):
    tracker.issues["ABC-8"] = {"title": "x", "body": ADF if version == "3" else "h2. Steps"}
    server = serve(home, tracker, folder, "jira", BATON_TRACKER_JIRA_VERSION=version)
    assert issue(server, "ABC-8").body["description"] == ("## Steps\n\n- **open**" if version == "3" else "h2. Steps")
    assert call(home, server, "issue_comment", {"id": "ABC-8", "text": "one\n\ntwo"})["issue"] == "ABC-8"
    (body,) = tracker.bodies("ABC-8")
    assert body == "one\n\ntwo" if version == "2" else [part["type"] for part in body["content"]] == ["paragraph", "paragraph"]


@pytest.mark.parametrize("name", ["7", "#7", "007", "acme/site#7", "https://github.com/acme/site/issues/7", "https://github.com/acme/site/pull/7#top"])
def test_an_issue_has_many_names(home, tracker, folder, name):
    tracker_url = {"BATON_TRACKER_GITHUB_URL": tracker.base}
    if "://" in name:
        name = name.replace("https://github.com", tracker.base)
    server = serve(home, tracker, folder, "github", **tracker_url)
    assert issue(server, name).body["id"] == "acme/site#7"


@pytest.mark.parametrize("name", ["seven", "../7", "acme/site#x", "acme/../x#7", "https://elsewhere.example/acme/site/issues/7", "ftp://h/a/b/issues/7"])
def test_a_wrong_name_is_refused_without_a_request(home, tracker, folder, name):
    server = serve(home, tracker, folder, "github")
    answer = issue(server, name)
    assert answer.status == 422 and "github" in answer.body["detail"] and tracker.requests == []


@pytest.mark.parametrize("kind", HTTP)
def test_open_issues_are_listed_and_searched(home, tracker, folder, kind):
    for number in range(8, 40):
        tracker.issues["acme/site", number] = {"title": f"nr {number}", "body": "x" * 5000, "pull": kind == "github" and number == 9}
        tracker.issues[f"ABC-{number}"] = {"title": f"nr {number}", "body": "x" * 5000}
    server = serve(home, tracker, folder, kind)
    page = server.get("/api/tracker/issues").body
    assert len(page["items"]) == 30 and page["tracker"] == kind
    assert all(len(item["description"]) <= 2048 for item in page["items"])
    assert len(server.get("/api/tracker/issues?limit=3").body["items"]) == 3
    assert [item["title"] for item in server.get("/api/tracker/issues?search=subtracts").body["items"]] == ["add() subtracts"]
    titles = {item["title"] for item in call(home, server, "issue_list", {"limit": 100})["items"]}
    assert len(titles) == (32 if kind == "github" else 33) and ("nr 9" in titles) == (kind != "github")


# ---- files and none --------------------------------------------------------------------------


@pytest.fixture(name="files")
def folder_of_files(folder):
    (folder / "issues").mkdir()
    (folder / "issues" / "007-add.md").write_text("---\nstatus: open\nlabels: [bug]\n---\n# add() subtracts\n\nIt should add.\n")
    (folder / "issues" / "008-done.md").write_text("---\ntitle: old\nstatus: closed\n---\ntext\n")
    (folder / "issues" / "notes.txt").write_text("no issue")
    return folder


def test_a_folder_of_files_is_a_tracker_without_a_network(home, tracker, files):
    server = serve(home, tracker, files, "file")
    found = call(home, server, "issue_read", {"id": "7"})
    assert (found["id"], found["title"], found["description"], found["labels"]) == ("007-add", "add() subtracts", "It should add.", ["bug"])
    assert [item["id"] for item in server.get("/api/tracker/issues").body["items"]] == ["007-add"]
    assert server.get("/api/tracker/issues?search=nothing").body["items"] == []
    assert issue(server, "008-done.md").body["status"] == "closed"
    told = call(home, server, "issue_comment", {"id": "#7", "text": "Done."})
    text = (files / "issues" / "007-add.md").read_text()
    assert text.count("Done.") == 1 and told["comment_id"] in text
    assert issue(server, "7").body["description"] == "It should add."
    assert tracker.requests == []


def test_files_outside_of_the_folder_are_out_of_reach(home, tracker, files):
    (files / "secret.md").write_text("# secret\n")
    (files / "issues" / "009-link.md").symlink_to(files / "secret.md")
    server = serve(home, tracker, files, "file")
    for name, status in {"9": 403, "../secret": 404, "../secret.md": 404}.items():
        answer = issue(server, name)
        assert answer.status == status and "secret\n" not in json.dumps(answer.body), answer


def test_a_broken_file_is_named_with_its_line(home, tracker, files):
    (files / "issues" / "010-broken.md").write_text("---\ntitle: x\nno end\n")
    server = serve(home, tracker, files, "file")
    answer = issue(server, "10")
    assert answer.status == 400 and "010-broken.md:1" in answer.body["detail"] and str(files / "issues") in answer.body["detail"]


@pytest.mark.parametrize("word", ["noop", "none"])
def test_no_tracker_has_a_placeholder(home, tracker, folder, word):
    server = serve(home, tracker, folder, word)
    found = call(home, server, "issue_read", {"id": "123"})
    assert (found["id"], found["title"], found["description"], found["tracker"]) == ("123", "Placeholder Issue", "Tracker not configured", "noop")
    refused = call(home, server, "issue_comment", {"id": "123", "text": "x"})
    assert refused["code"] == "configuration" and "baton profile edit" in refused["text"]


def test_a_run_keeps_the_tracker_that_its_profile_had(home, tracker, files):
    server = serve(home, tracker, files, "file")
    waits = home.define("name: waits\nsteps:\n  - {name: ask, human: {question: 'Go on?'}}\n"
                        "  - {name: it, tool: issue_read, inputs: {id: '7'}, depends_on: [ask]}\n")
    run = server.run_of(waits)
    asked = server.until(run, "human.requested")["data"]
    assert server.events(run)[0]["data"]["tracker"] == "file"
    assert server.request("PATCH", "/api/profiles/work", {"tracker": "noop"}).status == 200
    server.respond(asked["effect"], "approve", revision=asked["revision"])
    server.finish(run)
    (end,) = [event["data"] for event in server.events(run) if event["type"] == "tool.finished"]
    assert end["output"]["is"]["tracker"] == "file"


# ---- comments --------------------------------------------------------------------------------


def where(kind):
    return "ABC-7" if kind == "jira" else ("acme/site", 7)


def is_change(method, _path):
    return method == "POST"


@pytest.mark.parametrize("kind", HTTP)
def test_a_comment_has_a_hidden_marker(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    told = call(home, server, "issue_comment", {"id": KEYS[kind], "text": "Fixed."})
    (comment,) = tracker.comments[where(kind)]
    assert told["comment_id"] == str(comment["id"]) and told["url"].startswith("http")
    if kind == "jira":
        assert comment["properties"][0]["key"] == "baton.effect" and "baton" not in json.dumps(comment["body"])
    else:
        assert comment["body"].startswith("Fixed.\n\n<!-- baton ")


@pytest.mark.parametrize("kind", [*HTTP, "file"])
def test_a_kill_between_comment_and_result_leaves_one_comment(home, tracker, files, kind):
    for number in range(150):  # the comment is on the second page
        tracker.comment(where("jira" if kind == "jira" else "github"), f"old {number}")
    point = "tool.ended=kill" if kind == "file" else "tracker.change_answered=kill"
    server = serve(home, tracker, files, kind, BATON_POINTS=point)
    run = server.run_of(step(home, "issue_comment", {"id": KEYS.get(kind, "7"), "text": "Only once."}))
    assert killed(server)
    server = home.serve(**settings(tracker))
    server.finish(run)
    (end,) = [event["data"] for event in server.events(run) if event["type"] == "tool.finished"]
    assert end["outcome"] == "ok", end
    if kind == "file":
        assert (files / "issues" / "007-add.md").read_text().count("Only once.") == 1
    else:
        assert sum("Only once." in json.dumps(body) for body in tracker.bodies(where(kind))) == 1
        assert sum(method == "POST" for method, *_ in tracker.requests) == 1


@pytest.mark.parametrize("kind", HTTP)
def test_a_comment_whose_answer_is_lost_is_looked_for(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    tracker.fault(lose=True, when=is_change)
    assert call(home, server, "issue_comment", {"id": KEYS[kind], "text": "Once."})["comment_id"]
    assert len(tracker.comments[where(kind)]) == 1
    # Refused before it was done: a retry sends it, once.
    tracker.fault(status=502, when=is_change)
    retried = "    retry: {max_retries: 3, base_delay: 0}\n"
    assert call(home, server, "issue_comment", {"id": KEYS[kind], "text": "Again."}, retried)["comment_id"]
    assert len(tracker.comments[where(kind)]) == 2


def test_a_comment_that_can_not_be_found_again_is_for_a_person(home, tracker, folder):
    server = serve(home, tracker, folder, "github")
    tracker.fault(lose=True, when=is_change)
    tracker.fault(status=500, when=lambda method, path: "/comments" in path and method == "GET")
    run = server.run_of(step(home, "issue_comment", {"id": "7", "text": "Once."}))
    server.settle(run, "happened", value={"issue": "acme/site#7", "comment_id": "1", "url": ""})
    server.finish(run)
    assert len(tracker.comments["acme/site", 7]) == 1


# ---- pull requests ---------------------------------------------------------------------------

PULL = {"title": "Add", "body": "Closes #7.", "head": "baton/7", "draft": True}


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_a_pull_request_is_opened_once_per_branch(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    first = call(home, server, "pull_request_open", PULL)
    assert (first["number"], first["head"], first["base"], first["draft"], first["status"]) == (1, "baton/7", "main", True, "open")
    assert call(home, server, "pull_request_open", {**PULL, "base": "main"})["number"] == 1
    tracker.fault(lose=True, when=is_change)
    assert call(home, server, "pull_request_open", {**PULL, "head": "baton/8", "base": "dev"})["base"] == "dev"
    assert len(tracker.pulls["acme/site"]) == 2


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_a_kill_after_a_pull_request_was_opened_leaves_one(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind, BATON_POINTS="tracker.change_answered=kill")
    run = server.run_of(step(home, "pull_request_open", {**PULL, "base": "main"}))
    assert killed(server)
    server = home.serve(**settings(tracker))
    server.finish(run)
    (end,) = [event["data"] for event in server.events(run) if event["type"] == "tool.finished"]
    assert end["output"]["is"]["number"] == 1 and len(tracker.pulls["acme/site"]) == 1
    assert sum(method == "POST" for method, *_ in tracker.requests) == 1


def test_a_refused_pull_request_says_why(home, tracker, folder):
    server = serve(home, tracker, folder, "github")
    told = call(home, server, "pull_request_open", {**PULL, "head": "missing", "base": "main"})
    assert told["code"] == "tool_failed" and "Validation Failed" in told["text"] and "missing" in told["text"]
    jira = call(home, server, "pull_request_open", {**PULL, "tracker": "jira"})
    assert jira["code"] == "invalid" and "Jira has no pull requests" in jira["text"]


def test_feedback_of_a_pull_request_on_github(home, tracker, folder):
    server = serve(home, tracker, folder, "github")
    call(home, server, "pull_request_open", {**PULL, "base": "main"})
    key = ("acme/site", 1)
    tracker.reviews[key] = [{"user": {"login": "ada"}, "state": "APPROVED", "body": ""},
                            {"user": {"login": "bob"}, "state": "CHANGES_REQUESTED", "body": "Please test it."}]
    tracker.review_comments[key] = [{"user": {"login": "bob"}, "body": "Off by one.", "path": "app.py", "line": 3, "html_url": "https://x/1"}]
    tracker.checks["sha1"] = {"runs": [{"name": "unit", "status": "completed", "conclusion": "failure", "output": {"summary": "1 failed"}},
                                       {"name": "lint", "status": "completed", "conclusion": "success", "output": {}},
                                       {"name": "slow", "status": "in_progress", "conclusion": None, "output": {}}],
                              "statuses": [{"context": "ci/old", "state": "error", "description": "no runner"}]}
    told = call(home, server, "pull_request_feedback", {"number": 1})
    assert (told["decision"], told["pending_checks"], told["status"]) == ("changes_requested", 1, "open")
    assert [(comment["author"], comment["text"], comment.get("path"), comment.get("line")) for comment in told["comments"]] == \
        [("bob", "Please test it.", None, None), ("bob", "Off by one.", "app.py", 3)]
    assert [(check["name"], check["outcome"], check["summary"]) for check in told["failed_checks"]] == \
        [("unit", "failure", "1 failed"), ("ci/old", "error", "no runner")]
    missing = call(home, server, "pull_request_feedback", {"number": 9})
    assert missing["code"] == "not_found" and "pull request acme/site#9" in missing["text"]


def test_feedback_of_a_merge_request_on_gitlab(home, tracker, folder):
    server = serve(home, tracker, folder, "gitlab")
    call(home, server, "pull_request_open", {**PULL, "base": "main"})
    key = ("acme/site", 1)
    tracker.reviews[key] = ["ada"]
    tracker.review_comments[key] = [{"notes": [
        {"author": {"username": "bob"}, "body": "Off by one.", "system": False, "position": {"new_path": "app.py", "new_line": 3}},
        {"author": {"username": "bob"}, "body": "added 1 commit", "system": True}]}]
    tracker.checks[900] = [{"name": "unit", "status": "failed", "failure_reason": "script_failure", "web_url": "https://x/1"},
                           {"name": "maybe", "status": "failed", "allow_failure": True}, {"name": "slow", "status": "running"}]
    told = call(home, server, "pull_request_feedback", {"number": 1})
    assert (told["decision"], told["pending_checks"]) == ("approved", 1)
    assert [(comment["author"], comment["path"], comment["line"]) for comment in told["comments"]] == [("bob", "app.py", 3)]
    assert [check["name"] for check in told["failed_checks"]] == ["unit"]


# ---- what can go wrong -----------------------------------------------------------------------

VARIABLES = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN", "jira": "JIRA_API_TOKEN"}


def told(answer, tracker, kind):
    """The text of an error; it names tracker, host and issue."""
    text = answer.body["detail"]
    assert f"tracker {kind} (127.0.0.1:{tracker.port}), issue " in text and ("ABC-7" if kind == "jira" else "acme/site#7") in text, text
    return text


@pytest.mark.parametrize("kind", HTTP)
def test_bad_credentials_name_the_variable_to_set(home, tracker, folder, kind):
    wrong = "wrong-0123456789abcdef"
    server = serve(home, tracker, folder, kind, **{VARIABLES[kind]: wrong})
    answer = issue(server, KEYS[kind])
    assert answer.status == 422 and answer.body["code"] == "configuration"
    assert f"set {VARIABLES[kind]} for the server" in told(answer, tracker, kind)
    assert wrong not in json.dumps(answer.body) + server.errors()


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_without_a_token_public_issues_are_read_and_nothing_is_changed(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind, **{VARIABLES[kind]: ""})
    assert issue(server, "7").status == 200
    refused = call(home, server, "issue_comment", {"id": "7", "text": "x"})
    assert refused["code"] == "configuration" and f"set {VARIABLES[kind]}" in refused["text"] and tracker.comments == {}


def test_a_token_in_a_file_is_a_reference(home, tracker, folder):
    secrets = pathlib.Path(home.data) / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "github").touch(mode=0o600)
    (secrets / "github").write_text(TOKEN + "\n")
    (pathlib.Path(home.data) / "config.yaml").write_text("tracker:\n  github_token: file:github\n")
    more = settings(tracker)
    del more["GITHUB_TOKEN"]
    server = home.serve(**more)
    server.request("PUT", "/api/profiles/work", {"name": "work", "repo_root": str(folder), "tracker": "github"})
    assert issue(server, "7").status == 200
    assert tracker.requests[-1][2]["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("kind", HTTP)
def test_a_missing_issue_is_not_found(home, tracker, folder, kind):
    tracker.issues.clear()
    server = serve(home, tracker, folder, kind)
    answer = issue(server, KEYS[kind])
    assert answer.status == 404 and "does not exist" in told(answer, tracker, kind)


LIMITS = {"github": dict(status=403, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}),
          "gitlab": dict(status=429, headers={"RateLimit-Reset": "4102444800"}), "jira": dict(status=429, headers={"Retry-After": "3600"})}


@pytest.mark.parametrize("kind", HTTP)
def test_a_rate_limit_says_when_it_ends(home, tracker, folder, kind):
    tracker.fault(**LIMITS[kind])
    server = serve(home, tracker, folder, kind)
    answer = issue(server, KEYS[kind])
    assert answer.status == 429 and int(answer.headers["Retry-After"]) == 3600
    assert "the rate limit is reached until 20" in told(answer, tracker, kind)


@pytest.mark.parametrize("kind", HTTP)
def test_a_retry_waits_as_long_as_the_tracker_wants(home, tracker, folder, kind):
    before = time.time()
    tracker.fault(status=429, headers={"Retry-After": "1000"})
    server = serve(home, tracker, folder, kind)
    run = server.run_of(step(home, "issue_read", {"id": KEYS[kind]}, "    retry: {max_retries: 1, base_delay: 0.1, max_delay: 1}\n"))
    finished = server.until(run, "tool.finished")
    at = datetime.datetime.fromisoformat(finished["data"]["next"]["retry_at"].replace("Z", "+00:00")).timestamp()
    assert at >= before + 1000
    server.tell(run, "cancel")
    server.finish(run)


@pytest.mark.parametrize("kind", HTTP)
def test_a_tracker_that_does_not_answer_times_out(home, tracker, folder, kind):
    tracker.fault(hang=True)
    server = serve(home, tracker, folder, kind, BATON_TRACKER_TIMEOUT_SECONDS="1")
    answer = issue(server, KEYS[kind])
    assert answer.status == 408 and answer.body["code"] == "timeout"
    told(answer, tracker, kind)


@pytest.mark.parametrize("kind", HTTP)
def test_an_html_page_is_not_an_answer(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    tracker.fault(status=200, body="<html>Sign in</html>", type="text/html")
    answer = issue(server, KEYS[kind])
    assert answer.status == 500 and "an HTML page instead of JSON" in told(answer, tracker, kind)
    tracker.fault(status=503, body="<html>Sorry</html>", type="text/html")
    answer = issue(server, KEYS[kind])
    assert answer.status == 503 and "status 503: the answer is an HTML page" in told(answer, tracker, kind)
    tracker.fault(status=200, body="{}")
    assert "URL in the settings" in told(issue(server, KEYS[kind]), tracker, kind)


@pytest.mark.parametrize("kind", HTTP)
def test_a_redirect_to_another_host_is_refused(home, tracker, folder, kind):
    with FakeTracker() as other:
        tracker.fault(status=302, headers={"Location": f"{other.base}/repos/acme/site/issues/7"})
        server = serve(home, tracker, folder, kind)
        answer = issue(server, KEYS[kind])
        assert answer.status == 403 and "redirects to another host" in told(answer, tracker, kind)
        assert other.requests == []
    tracker.fault(status=301, headers={"Location": tracker.requests[-1][1]})
    assert issue(server, KEYS[kind]).status == 200  # on the same host it is followed


@pytest.mark.parametrize("kind", HTTP)
def test_an_answer_that_is_too_long_is_refused(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    tracker.fault(status=200, body=json.dumps({"title": "x" * (5 << 20)}))
    answer = issue(server, KEYS[kind])
    assert answer.status == 413 and "more than 4194304 bytes" in told(answer, tracker, kind)
    text = "ä" * 100000
    tracker.issues[where(kind)]["body"] = text
    found = issue(server, KEYS[kind]).body
    assert found["truncated"] and found["description"] == text[:65536]


@pytest.mark.parametrize("kind", HTTP)
def test_a_tracker_that_is_away_is_unavailable(home, tracker, folder, kind):
    server = serve(home, tracker, folder, kind)
    tracker.__exit__()
    answer = issue(server, KEYS[kind])
    assert answer.status == 503 and answer.body["code"] == "unavailable"
    told(answer, tracker, kind)


@pytest.mark.parametrize("kind", HTTP)
def test_the_token_is_masked_where_a_tracker_repeats_it(home, tracker, folder, kind):
    tracker.issues[where(kind)]["body"] = f"my token is {TOKEN}!"
    server = serve(home, tracker, folder, kind)
    assert issue(server, KEYS[kind]).body["description"] == "my token is ***!"
    tracker.fault(status=400, body=json.dumps({"message": f"{TOKEN} is bad", "errorMessages": [f"{TOKEN} is bad"]}))
    answer = issue(server, KEYS[kind])
    assert TOKEN not in json.dumps(answer.body) and "***" in answer.body["detail"]
    assert TOKEN not in server.errors()


def test_places_without_a_repository_are_named(home, tracker, tmp_path):
    server = serve(home, tracker, tmp_path, "github")
    assert "is not a git repository" in issue(server, "7").body["detail"]
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]\n")
    assert "has no remote origin" in issue(server, "7").body["detail"]
    assert issue(server, "acme/site#7").status == 200
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {tmp_path}/.git/worktrees/tree\n")
    (tmp_path / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (tmp_path / ".git" / "worktrees" / "tree" / "commondir").write_text("../..\n")
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = https://github.com/acme/site\n')
    server.request("PATCH", "/api/profiles/work", {"repo_root": str(tmp_path / "tree")})
    assert issue(server, "7").status == 200


def test_routes_need_a_profile_that_exists(home, tracker, folder):
    server = home.serve(**settings(tracker))
    assert "no profile is active" in issue(server, "7").body["detail"]
    assert issue(server, "7", profile="none").status == 422
    assert server.get("/api/tracker/issues?limit=0").status == 400


# ---- the command line ------------------------------------------------------------------------


def test_baton_issue_uses_the_profile_of_the_repository_around_it(home, files):
    def at(folder, *words):
        process = home.begin(*words, under=("env", f"--chdir={folder}"))
        return process.wait(), process.output, process.errors()
    (files / "deep").mkdir()
    for name, kind, root in (("other", "noop", "/"), ("work", "file", files)):
        assert home.cli("profile", "create", name, "--set", f"repo_root={root}", "--set", f"tracker={kind}")[0] == 0
    assert at(files / "deep", "issue", "list")[:2] == (0, "007-add  open  add() subtracts  [bug]\n")
    assert "It should add." in at(files, "issue", "show", "7")[1]
    status, text, _ = home.cli("issue", "comment", "7", "-m", "Done.", "--profile", "work")
    assert status == 0 and text.startswith("commented on 007-add")
    assert (files / "issues" / "007-add.md").read_text().count("Done.") == 1
    status, _, errors = at(files, "issue", "show", "99")
    assert status == 4 and "issue 99: there is no such issue" in errors
    assert json.loads(at("/", "issue", "list", "--json")[1]) == {"items": [], "tracker": "noop"}
    assert home.cli("issue", "comment", "7")[0] == 2
