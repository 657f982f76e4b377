"""Other programs judge our trackers: Baton works with the GitHub of `emulate`, and the client jira.js understands our fake of Jira.

emulate 0.12.2 accepts any token, pull requests of branches that do not exist and a second one for the same branch, and has no commit statuses; tests/scenario has these
with our own fake."""
import http.client
import json
import os
import pathlib
import subprocess

import pytest
from baton import PATIENCE_S, ask
from fake_tracker import EMAIL, TOKEN, FakeTracker

HERE = pathlib.Path(__file__).parent
OWN = sorted(HERE.glob(".node/node_modules/node-linux-*/bin/node"))
NODE = str(OWN[-1]) if OWN else "node"
ADMIN = "test_token_admin"


class GitHub:
    """The GitHub of emulate on a port of its own."""

    def __init__(self, port):
        self.port, self.base = port, f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([NODE, "node_modules/emulate/dist/index.js", "start", "--service", "github", "--port", str(port)],
                                        cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"PATH": os.environ["PATH"]})
        for line in self.process.stdout:
            if "Ready" in line:
                break
        else:
            raise AssertionError("emulate ended")
        self.owner = self.ask("GET", "/user")["login"]
        self.ask("POST", "/user/repos", {"name": "site", "auto_init": True})
        self.path = f"/repos/{self.owner}/site"

    def ask(self, method, path, body=None):
        answer = ask(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S), method, path, body, {"Authorization": f"Bearer {ADMIN}"})
        assert answer.status < 300, answer
        return answer.body

    def end(self):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE_S)


@pytest.fixture(name="github")
def emulated(home):
    github = GitHub(home.port())
    yield github
    github.end()


def serve(home, tmp_path, github):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://github.com/{github.owner}/site.git\n')
    server = home.serve(BATON_TRACKER_GITHUB_URL=github.base, GITHUB_TOKEN=ADMIN)
    made = server.request("PUT", "/api/profiles/work", {"name": "work", "repo_root": str(tmp_path), "tracker": "github"})
    assert made.status == 201, made
    return server


def call(home, server, tool, inputs):
    run = server.run_of(home.define(f"name: one\noutputs: {{all: {{from: '${{steps.it.outputs}}'}}}}\nsteps:\n  - name: it\n    tool: {tool}\n"
                                    f"    inputs: {json.dumps(inputs)}\n"))
    result = server.finish(run)
    assert result["status"] == "success", (result, server.events(run))
    return result["outputs"]["all"]


def test_issues_and_comments_of_github(home, tmp_path, github):
    github.ask("POST", f"{github.path}/issues", {"title": "add() subtracts", "body": "It should add.", "labels": ["bug"]})
    server = serve(home, tmp_path, github)
    found = call(home, server, "issue_read", {"id": "1"})
    assert (found["id"], found["title"], found["description"], found["status"]) == (f"{github.owner}/site#1", "add() subtracts", "It should add.", "open")
    assert found["labels"] == ["bug"]
    told = call(home, server, "issue_comment", {"id": f"{github.owner}/site#1", "text": "Fixed."})
    (comment,) = github.ask("GET", f"{github.path}/issues/1/comments")
    assert told["comment_id"] == str(comment["id"]) and comment["body"].startswith("Fixed.")
    assert [item["title"] for item in server.get("/api/tracker/issues").body["items"]] == ["add() subtracts"]
    assert [item["title"] for item in server.get("/api/tracker/issues?search=subtracts").body["items"]] == ["add() subtracts"]
    missing = server.get("/api/tracker/issues/99")
    assert missing.status == 404 and "does not exist" in missing.body["detail"]


def test_pages_of_github_are_followed(home, tmp_path, github):
    for number in range(3):
        github.ask("POST", f"{github.path}/issues", {"title": f"issue {number}"})
    for number in range(120):
        github.ask("POST", f"{github.path}/issues/1/comments", {"body": f"old {number}"})
    server = serve(home, tmp_path, github)
    server.kill()
    server = home.serve(BATON_TRACKER_GITHUB_URL=github.base, GITHUB_TOKEN=ADMIN, BATON_POINTS="tracker.change_answered=kill")
    run = server.run_of(home.define('name: one\nsteps:\n  - {name: it, tool: issue_comment, inputs: {id: "1", text: Only once.}}\n'))
    server.wait()
    server = home.serve(BATON_TRACKER_GITHUB_URL=github.base, GITHUB_TOKEN=ADMIN)
    assert server.finish(run)["status"] == "success"
    bodies = [comment["body"] for page in (1, 2) for comment in github.ask("GET", f"{github.path}/issues/1/comments?per_page=100&page={page}")]
    assert len(bodies) == 121 and sum(body.startswith("Only once.") for body in bodies) == 1


def test_pull_requests_of_github(home, tmp_path, github):
    server = serve(home, tmp_path, github)
    made = call(home, server, "pull_request_open", {"title": "Add", "body": "Closes #1.", "head": "baton/1"})
    assert (made["head"], made["base"], made["status"]) == ("baton/1", "main", "open")
    told = call(home, server, "pull_request_feedback", {"number": made["number"]})
    assert (told["status"], told["decision"], told["comments"], told["failed_checks"]) == ("open", "none", [], [])


def test_a_kill_after_a_pull_request_was_opened_on_github_leaves_one(home, tmp_path, github):
    serve(home, tmp_path, github).kill()
    server = home.serve(BATON_TRACKER_GITHUB_URL=github.base, GITHUB_TOKEN=ADMIN, BATON_POINTS="tracker.change_answered=kill")
    run = server.run_of(home.define("name: one\nsteps:\n  - {name: it, tool: pull_request_open, inputs: {title: Add, head: baton/1}}\n"))
    server.wait()
    server = home.serve(BATON_TRACKER_GITHUB_URL=github.base, GITHUB_TOKEN=ADMIN)
    assert server.finish(run)["status"] == "success"
    assert [pull["head"]["ref"] for pull in github.ask("GET", f"{github.path}/pulls")] == ["baton/1"]


@pytest.mark.parametrize("version", ["2", "3"])
def test_the_client_of_jira_understands_the_fake(version):
    with FakeTracker() as tracker:
        tracker.issues["ABC-7"] = {"title": "add() subtracts", "body": "It should add.", "labels": ["bug"]}
        tracker.comment("ABC-7", "old", properties=[{"key": "baton.effect", "value": {"id": "x"}}])
        words = [NODE, HERE / "jira.mjs", version, tracker.base, EMAIL, TOKEN]
        told = json.loads(subprocess.run([*words, "ABC-7"], capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout)
        assert "error" not in told, told
        assert told["issue"] == ["ABC-7", "add() subtracts", "To Do", ["bug"]] and told["comments"] == [1, ["baton.effect"]]
        assert told["added"] == "string" and len(tracker.comments["ABC-7"]) == 2
        assert (told["description"] == "It should add.") == (version == "2")
        assert told.get("found") == (["ABC-7"] if version == "3" else None)
        missing = json.loads(subprocess.run([*words, "ABC-8"], capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout)
        assert missing["error"][0] == 404
