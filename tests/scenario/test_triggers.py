"""Triggers: signed requests start and signal runs, once each; forgeries, replays and floods are refused and counted."""
import base64
import concurrent.futures
import hashlib
import hmac
import http.client
import json
import pathlib
import time

import pytest
from baton import PATIENCE_S, killed

KEY = "the-key-of-the-hook"
ENV = {"BATON_SECRETS_ALLOW": "HOOK_KEY", "HOOK_KEY": KEY}
ECHO = """
name: triage
inputs: {title: {type: string}, number: {type: integer}, event: {type: string, default: ""}}
steps:
  - {name: say, tool: echo, inputs: {x: "${inputs.title}"}}
outputs: {title: {from: "${inputs.title}"}, number: {from: "${inputs.number}"}, event: {from: "${inputs.event}"}}
"""
WAIT = """
name: patient
steps:
  - {name: go, wait: {signal: review}}
outputs: {data: {from: "${steps.go.outputs}"}}
"""
ISSUE = {"action": "labeled", "issue": {"title": "add() subtracts", "number": 17, "labels": ["bug"]}}
RULE = {"name": "issues", "source": "github", "secret": "env:HOOK_KEY", "workflow": "triage",
        "when": "body.action == 'labeled' and 'bug' in body.issue.labels",
        "inputs": {"title": "${body.issue.title}", "number": "${body.issue.number}", "event": "${coalesce(headers.x_github_event, '')}"},
        "labels": {"issue": "${body.issue.number}", "from": "github"}}


@pytest.fixture
def ready(home):
    home.define(ECHO)
    home.define(WAIT)
    return home


def create(server, rule):
    answer = server.request("POST", "/api/triggers", rule)
    assert answer.status == 201, answer
    return answer.body


def post(server, name, body, headers):
    return server.request("POST", f"/api/triggers/{name}", body, {"Content-Type": "application/json", **headers})


def github(body, key=KEY, delivery="d-1"):
    return {"X-Hub-Signature-256": "sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest(),
            "X-GitHub-Delivery": delivery, "X-GitHub-Event": "issues"}


def standard(body, key=KEY.encode(), number="msg-1", at=None):
    at = str(int(time.time() if at is None else at))
    code = hmac.new(key, f"{number}.{at}.".encode() + body, hashlib.sha256).digest()
    return {"Webhook-Id": number, "Webhook-Timestamp": at, "Webhook-Signature": "v1," + base64.b64encode(code).decode()}


def text(**changes):
    return json.dumps({**ISSUE, **changes}).encode()


def runs(server, label=None):
    return server.get("/api/runs" + (f"?label={label}" if label else "")).body


def figure(server, name):
    return server.figures()[f"baton_triggers_{name}_total"]


def test_github_starts_a_run_with_inputs_from_the_body(ready):
    server = ready.serve(**ENV)
    create(server, RULE)
    answer = post(server, "issues", text(), github(text()))
    assert answer.status == 202 and answer.body["matched"] and answer.body["delivery"] == "d-1", answer
    result = server.finish(answer.body["run_id"])
    assert result["outputs"] == {"title": "add() subtracts", "number": 17, "event": "issues"}
    assert [run["run_id"] for run in runs(server, "issue=17,from=github")] == [answer.body["run_id"]]
    assert figure(server, "accepted") == 1


def test_a_condition_that_does_not_hold_starts_nothing(ready):
    server = ready.serve(**ENV)
    create(server, RULE)
    for body in (text(action="opened"), b"{}", b"[1]", b"null"):
        answer = post(server, "issues", body, github(body))
        assert answer.status == 200 and answer.body == {"delivery": "d-1", "matched": False}, answer
    assert runs(server) == [] and figure(server, "ignored") == 4


@pytest.mark.parametrize("spoil", [
    lambda body, headers: (body + b" ", headers),
    lambda body, headers: (body, {**headers, "X-Hub-Signature-256": headers["X-Hub-Signature-256"].upper()}),
    lambda body, headers: (body, {**headers, "X-Hub-Signature-256": headers["X-Hub-Signature-256"][:-1]}),
    lambda body, headers: (body, {**headers, "X-Hub-Signature-256": ""}),
    lambda body, headers: (body, {name: value for name, value in headers.items() if not name.startswith("X-Hub")}),
    lambda body, headers: (body, github(body, "another key")),
    lambda body, headers: (body, standard(body)),
], ids=["body", "case", "short", "empty", "missing", "key", "scheme"])
def test_a_forgery_is_refused_and_counted(ready, spoil):
    server = ready.serve(**ENV)
    create(server, RULE)
    answer = post(server, "issues", *spoil(text(), github(text())))
    assert answer.status == 401 and runs(server) == [] and figure(server, "forged") == 1
    assert KEY not in json.dumps(answer.body)


def test_a_stranger_does_not_learn_which_triggers_exist(ready):
    server = ready.serve("--require-key", **ENV)
    assert ready.local("POST", "/api/triggers", RULE).status == 201
    there, missing = (post(server, name, text(), github(text(), "guess")) for name in ("issues", "nothing"))
    assert there.status == missing.status == 401 and there.body["detail"] == missing.body["detail"]
    # A signed request needs no API key; everything else of the resource does.
    assert post(server, "issues", text(), github(text())).status == 202
    assert server.get("/api/triggers/issues").status == 401


def test_a_replay_is_refused_and_starts_nothing_again(ready):
    server = ready.serve(**ENV)
    create(server, RULE)
    first = post(server, "issues", text(), github(text()))
    assert first.status == 202
    again = post(server, "issues", text(), github(text()))
    assert again.status == 409 and "accepted before" in again.body["detail"]
    # Only the body is signed: another delivery id does not make it another request.
    assert post(server, "issues", text(), github(text(), delivery="d-2")).status == 409
    assert server.kill() < 0
    server = ready.serve(**ENV)
    assert post(server, "issues", text(), github(text(), delivery="d-3")).status == 409
    assert len(runs(server)) == 1 and figure(server, "replayed") == 1
    assert post(server, "issues", text(extra=1), github(text(extra=1))).status == 202


def test_of_identical_requests_that_race_one_starts_a_run(ready):
    server = ready.serve(**ENV)
    create(server, RULE)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(server, "issues", text(), github(text())).status, range(16)))
    assert sorted(answers) == [202] + [409] * 15 and len(runs(server)) == 1


def test_a_kill_after_the_start_and_the_same_request_again(ready):
    server = ready.serve(**ENV)
    create(server, RULE)
    assert server.kill() < 0
    server = ready.serve(**ENV, BATON_POINTS="store.after_commit=kill")
    with pytest.raises(Exception):
        post(server, "issues", text(), github(text()))
    assert killed(server)
    server = ready.serve(**ENV)
    assert post(server, "issues", text(), github(text())).status == 409
    assert len(runs(server)) == 1


def test_generic_requests_are_signed_with_id_and_time(ready):
    server = ready.serve(**ENV)
    create(server, {**RULE, "name": "own", "source": "generic"})
    assert post(server, "own", text(), standard(text())).status == 202
    assert post(server, "own", text(), standard(text())).status == 409  # the id is known
    assert post(server, "own", text(), standard(text(), number="msg-2")).status == 202  # the id is signed
    # The same id with another body is refused too.
    assert post(server, "own", text(x=1), standard(text(x=1), number="msg-2")).status == 409
    for at in (time.time() - 3600, time.time() + 3600):
        old = post(server, "own", text(), standard(text(), number="msg-3", at=at))
        assert old.status == 401 and "differs" in old.body["detail"]
    changed = {**standard(text(), number="msg-4"), "Webhook-Timestamp": str(int(time.time()) + 1)}
    assert post(server, "own", text(), changed).status == 401
    assert figure(server, "stale") == 2 and figure(server, "forged") == 1 and len(runs(server)) == 2


def test_one_of_several_signatures_is_enough(ready):
    server = ready.serve(**ENV)
    create(server, {**RULE, "name": "own", "source": "generic"})
    headers = standard(text())
    headers["Webhook-Signature"] = standard(text(), b"the new key")["Webhook-Signature"] + " " + headers["Webhook-Signature"]
    assert post(server, "own", text(), headers).status == 202


def test_a_key_in_base64_is_decoded(ready):
    raw = bytes(range(32))
    server = ready.serve(**{**ENV, "HOOK_KEY": "whsec_" + base64.b64encode(raw).decode()})
    create(server, {**RULE, "name": "own", "source": "generic"})
    assert post(server, "own", text(), standard(text(), raw)).status == 202


def test_gitlab_by_token_and_by_signature(ready):
    server = ready.serve(**ENV)
    create(server, {**RULE, "name": "lab", "source": "gitlab"})
    token = {"X-Gitlab-Token": KEY, "X-Gitlab-Event-UUID": "e-1"}
    assert post(server, "lab", text(), token).status == 202
    assert post(server, "lab", text(), token).status == 409
    assert post(server, "lab", text(), {**token, "X-Gitlab-Event-UUID": "e-2"}).status == 202
    assert post(server, "lab", text(), {"X-Gitlab-Token": KEY + "x"}).status == 401
    assert post(server, "lab", text(), standard(text(), number="s-1")).status == 202
    # A wrong signature is not saved by a right token.
    assert post(server, "lab", text(), {**token, **standard(text(), b"wrong", number="s-2")}).status == 401


def test_a_signal_reaches_the_newest_active_run_with_the_label(ready):
    server = ready.serve(**ENV)
    create(server, {"name": "reviews", "source": "generic", "secret": "env:HOOK_KEY", "signal": "review",
                    "label": "pr=${body.number}", "data": {"verdict": "${body.state}"}})
    body = json.dumps({"number": 5, "state": "approved"}).encode()
    assert post(server, "reviews", body, standard(body)).status == 404  # there is no such run yet
    started = [server.request("POST", "/api/run", {"workflow": "patient", "labels": {"pr": number}}).body["run_id"] for number in ("5", "6")]
    for run in started:
        server.until(run, "timer.requested")
    answer = post(server, "reviews", body, standard(body, number="msg-2"))
    assert answer.status == 202 and answer.body["run_id"] == started[0]
    assert server.finish(started[0])["outputs"]["data"] == {"verdict": "approved"}
    assert server.result(started[1])["status"] == "running"
    assert post(server, "reviews", body, standard(body, number="msg-2")).status in (404, 409)


def test_a_repeated_signal_is_refused(ready):
    ready.define("""
name: twice
steps:
  - {name: first, wait: {signal: review}}
  - {name: second, wait: {signal: review}, depends_on: [first]}
""")
    server = ready.serve(**ENV)
    create(server, {"name": "reviews", "secret": "env:HOOK_KEY", "signal": "review", "label": "pr=1"})
    run = server.request("POST", "/api/run", {"workflow": "twice", "labels": {"pr": "1"}}).body["run_id"]
    server.until(run, "timer.requested")
    assert post(server, "reviews", b"{}", standard(b"{}")).status == 202
    assert post(server, "reviews", b"{}", standard(b"{}")).status == 409
    assert server.types(run).count("run.signalled") == 1
    assert post(server, "reviews", b"{}", standard(b"{}", number="msg-2")).status == 202
    assert server.finish(run)["status"] == "success"


def test_what_cannot_be_started_is_an_error_of_the_request(ready):
    server = ready.serve(**ENV)
    create(server, {**RULE, "when": "true"})
    create(server, {**RULE, "name": "gone", "workflow": "missing", "when": "true"})
    create(server, {**RULE, "name": "off", "enabled": False})
    create(server, {**RULE, "name": "unreadable", "secret": "env:OTHER_KEY"})
    assert post(server, "issues", b"{}", github(b"{}")).status == 422  # no title
    assert post(server, "issues", b"not json", github(b"not json")).status == 400
    assert post(server, "issues", text(), {**github(text()), "Content-Type": "text/plain"}).status == 415
    assert post(server, "gone", text(), github(text())).status == 404
    assert post(server, "off", text(), github(text())).status == 403
    assert post(server, "unreadable", text(), github(text())).status == 500
    assert runs(server) == []
    # A request that failed was not accepted: it works once its reason is gone.
    server.request("PUT", "/api/triggers/off", {**RULE, "name": "off"})
    assert post(server, "off", text(), github(text())).status == 202


def test_bodies_and_rates_are_bounded(ready):
    server = ready.serve(**ENV)
    create(server, RULE)
    long = json.dumps({"x": "y" * 1100000}).encode()
    assert post(server, "issues", long, github(long)).status == 413
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    statuses = []
    for _ in range(2000):
        connection.request("POST", "/api/triggers/issues", b"{}", {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
        if response.status == 429:
            assert int(response.getheader("Retry-After")) > 0
            break
    connection.close()
    assert statuses[-1] == 429 and set(statuses[:-1]) == {401} and len(statuses) == 600
    assert server.rejections("TRIGGER_REQUESTS") == 1 and server.rejections("TRIGGER_BODY_BYTES") == 1


def test_rules_are_checked_when_they_are_stored(ready):
    server = ready.serve(**ENV)

    def problems(**changes):
        answer = server.request("POST", "/api/triggers", {**RULE, **changes})
        assert answer.status == 422, answer
        return json.dumps(answer.body)

    assert "/when" in problems(when="body.action ==")
    assert "unknown name" in problems(when="inputs.x == 1")
    assert "/inputs" in problems(inputs={"title": "${steps.a.outputs}"})
    assert "exactly one" in problems(signal="x", label="a=b")
    assert "reference" in problems(secret="plain")
    rule = {"name": "x", "secret": "env:HOOK_KEY", "signal": "s", "label": "no label"}
    assert "NAME=VALUE" in json.dumps(server.request("POST", "/api/triggers", rule).body)
    assert server.get("/api/triggers").body["items"] == []


def test_the_key_is_never_shown_or_stored_and_headers_with_it_are_hidden(ready):
    server = ready.serve(**ENV)
    create(server, {**RULE, "name": "lab", "source": "gitlab", "inputs": {**RULE["inputs"], "title": "${headers.x_gitlab_token} seen"}})
    answer = post(server, "lab", text(), {"X-Gitlab-Token": KEY})
    assert server.finish(answer.body["run_id"])["outputs"]["title"] == " seen"
    assert server.get("/api/triggers/lab").body["secret"] == "env:HOOK_KEY"
    stored = b"".join(path.read_bytes() for path in pathlib.Path(ready.data).glob("baton.db*"))
    assert KEY.encode() not in stored and KEY not in server.errors()


def test_the_command_line_adds_lists_and_removes(ready):
    server = ready.serve(**ENV)
    status, _, errors = ready.cli("trigger", "add", "issues", "--source", "github", "--secret", "env:HOOK_KEY", "--when",
                                  "body.action == 'labeled'", "--workflow", "triage", "--input", "title=${body.issue.title}",
                                  "--input", "number=${body.issue.number}")
    assert status == 0, errors
    assert post(server, "issues", text(), github(text())).status == 202
    status, output, _ = ready.cli("trigger", "list")
    assert status == 0 and "issues" in output and "github" in output and "starts triage" in output
    assert ready.cli("trigger", "remove", "issues")[0] == 0
    assert post(server, "issues", text(y=1), github(text(y=1))).status == 401


def test_only_an_admin_changes_triggers(ready):
    server = ready.serve("--require-key", **ENV)
    keys = {role: ready.local("POST", "/api/keys", {"label": role, "role": role}).body["key"] for role in ("viewer", "operator", "admin")}

    def as_role(role, method, target, body=None):
        return server.request(method, target, body, {"Authorization": f"Bearer {keys[role]}"}).status

    assert as_role("operator", "POST", "/api/triggers", RULE) == 403
    assert as_role("admin", "POST", "/api/triggers", RULE) == 201
    assert as_role("viewer", "GET", "/api/triggers") == 200
    assert as_role("operator", "DELETE", "/api/triggers/issues") == 403
    # A key does not replace the signature.
    assert as_role("admin", "POST", "/api/triggers/issues", ISSUE) == 401
