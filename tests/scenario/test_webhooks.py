"""Webhooks: what they report, how it is signed, and that no committed event is lost or delivered under two ids,
whatever is killed, refused or slow."""
import base64
import contextlib
import hashlib
import hmac
import json
import pathlib
import subprocess

import pytest
from baton import EXIT, Gone, killed, new_id, wait_until
from receivers import MailServer, Receiver

SECRET = "a-key-for-signing"
QUICK = """
name: quick
steps:
  - {name: say, tool: echo, inputs: {x: hello}}
"""
BROKEN = """
name: broken
steps:
  - {name: break, tool: shell, inputs: {command: "echo out of paint >&2; exit 3"}}
"""
ASK = """
name: ask
steps:
  - {name: ok, human: {question: "Paint the shed red?"}}
"""
ALLOWED = {"BATON_TOOLS_PRIVATE_ADDRESSES": "127.0.0.1", "BATON_SECRETS_ALLOW": "HOOK_KEY,HOOK_URL,MAIL_PASSWORD",
           "HOOK_KEY": SECRET}


@pytest.fixture
def hook():
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def ready(home):
    for yaml in (QUICK, BROKEN, ASK):
        home.define(yaml)
    return home


def add(server, receiver, name="team", **more):
    answer = server.request("POST", "/api/webhooks", {"name": name, "url": receiver.url, "secret": "env:HOOK_KEY", **more})
    assert answer.status == 201, answer
    return answer.body


def deliveries(server, name="team", state=""):
    answer = server.get(f"/api/webhooks/{name}/deliveries?limit=1000" + (f"&state={state}" if state else ""))
    assert answer.status == 200, answer
    return answer.body["items"]


def await_state(server, delivery, state="delivered", name="team"):
    """Waits until the delivery, a run, has ended, and returns it."""
    server.follow(delivery)
    found = next(item for item in deliveries(server, name) if item["id"] == delivery)
    assert found["state"] == state, found
    return found


def signature(request, key=SECRET.encode()):
    """The recipe of docs/webhooks.md."""
    text = f"{request.headers['Webhook-Id']}.{request.headers['Webhook-Timestamp']}.".encode() + request.body
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


def test_an_approval_is_reported_signed_and_with_a_link(ready, hook):
    server = ready.serve(**ALLOWED, BATON_SERVE_PUBLIC_URL="https://baton.example.com/")
    add(server, hook)
    run = server.request("POST", "/api/run", {"workflow": "ask", "labels": {"team": "garden"}}).body["run_id"]
    asked = server.until(run, "human.requested")["data"]
    got = hook.take()
    body = json.loads(got.body)
    assert got.headers["Webhook-Signature"] == signature(got)
    assert got.headers["Content-Type"] == "application/json" and got.headers["X-Baton-Event"] == "approval_needed"
    assert got.headers["Webhook-Id"] == got.headers["Idempotency-Key"] == body["id"]
    assert body["event"] == "approval_needed" and body["webhook"] == "team"
    assert body["run"]["id"] == run and body["run"]["workflow"] == "ask" and body["run"]["state"] == "waiting_human"
    assert body["run"]["labels"] == {"team": "garden"}
    assert body["question"]["id"] == asked["effect"] and body["question"]["question"] == "Paint the shed red?"
    assert body["question"]["choices"] == ["approve", "reject", "modify"]
    assert body["question"]["revision"] == asked["revision"]
    assert body["link"] == f"https://baton.example.com/ui/inbox?question={asked['effect']}"
    assert body["text"] == "ask asks: Paint the shed red?"
    await_state(server, body["id"])


def test_the_ends_of_runs_are_reported_and_nothing_else(ready, hook):
    server = ready.serve(**ALLOWED)
    add(server, hook)
    server.start("quick", wait=True)
    server.start("broken", wait=True)
    cancelled = server.run_of("ask")
    asked = server.until(cancelled, "human.requested")
    server.tell(cancelled, "cancel")
    got = {(body["event"], body["run"]["workflow"]): body for body in (hook.take_json() for _ in range(4))}
    assert set(got) == {("succeeded", "quick"), ("failed", "broken"), ("approval_needed", "ask"), ("cancelled", "ask")}
    assert "out of paint" in got["failed", "broken"]["error"]
    assert got["succeeded", "quick"]["run"]["ended_at"] and asked
    for body in got.values():
        await_state(server, body["id"])
    # The runs that deliver are not reported themselves.
    assert len(deliveries(server)) == 4 and len(hook.all) == 4


def test_a_run_with_issues_says_what_is_open(ready, hook):
    ready.define(QUICK.replace("name: quick", "name: sloppy") + "issues: \"['the door is not painted']\"\n")
    server = ready.serve(**ALLOWED)
    add(server, hook)
    run = server.run_of("sloppy")
    server.finish(run)
    body = json.loads(hook.take().body)
    assert body["event"] == "with_issues" and body["run"]["state"] == "with_issues"
    assert "the door is not painted" in body["text"]


def test_filters_by_event_workflow_label_and_profile(ready, hook):
    server = ready.serve(**ALLOWED)
    add(server, hook, "all", events=["started", "succeeded"])
    add(server, hook, "by-label", events=["succeeded"], labels={"env": "prod", "team": "core"})
    add(server, hook, "by-workflow", events=["succeeded", "failed"], workflows=["broken"])
    add(server, hook, "by-profile", events=["succeeded"], profiles=["night"])
    add(server, hook, "off", enabled=False)
    for labels in ({"env": "prod", "team": "core", "x": "y"}, {"env": "prod"}):
        run = server.request("POST", "/api/run", {"workflow": "quick", "labels": labels}).body["run_id"]
        server.finish(run)
    server.finish(server.run_of("broken"))
    got = sorted((body["webhook"], body["event"], body["run"]["workflow"]) for body in (hook.take_json() for _ in range(7)))
    assert got == [("all", "started", "broken"), ("all", "started", "quick"), ("all", "started", "quick"),
                   ("all", "succeeded", "quick"), ("all", "succeeded", "quick"), ("by-label", "succeeded", "quick"),
                   ("by-workflow", "failed", "broken")]
    assert deliveries(server, "by-profile") == [] and deliveries(server, "off") == []


def test_answers_escalations_and_pauses_are_reported_on_request(ready, hook):
    ready.define("""
name: patient
steps:
  - {name: ok, human: {question: "Go?", timeout: 1, escalate: [{to: boss}]}}
""")
    server = ready.serve(**ALLOWED)
    add(server, hook, events=["escalated", "answered", "paused"])
    run = server.run_of("patient")
    first = hook.take_json()
    assert first["event"] == "escalated" and first["question"]["to"] == "boss"
    server.tell(run, "pause", reason="lunch")
    paused = hook.take_json()
    assert paused["event"] == "paused" and "lunch" in paused["text"]
    server.tell(run, "resume")
    server.respond(first["question"]["id"], comment="fine")
    answered = hook.take_json()
    assert answered["event"] == "answered" and answered["question"]["decision"] == "approve"
    assert answered["question"]["comment"] == "fine"


def test_a_receiver_that_fails_gets_the_same_delivery_again(ready):
    with Receiver([500, (503, {"Retry-After": "1"}), 429]) as hook:
        server = ready.serve(**ALLOWED)
        add(server, hook)
        server.start("quick", wait=True)
        got = [hook.take() for _ in range(4)]
        assert len({(request.headers["Webhook-Id"], request.body) for request in got}) == 1
        assert all(request.headers["Webhook-Signature"] == signature(request) for request in got)
        delivery = got[0].headers["Webhook-Id"]
        await_state(server, delivery)
        # Every attempt is an event of the delivery; the receiver's Retry-After is the least delay.
        finished = [event for event in server.events(delivery) if event["type"] == "tool.finished"]
        assert [event["data"].get("fault", {}).get("code") for event in finished] == ["unavailable", "unavailable", "rate_limited", None]
        assert len(deliveries(server)) == 1 and len(hook.all) == 4


def test_retry_after_is_obeyed(ready):
    """The time of the next attempt is recorded, so the test reads it instead of waiting for it."""
    with Receiver([(503, {"Retry-After": "3000"})]) as hook:
        server = ready.serve(**ALLOWED)
        add(server, hook)
        server.start("quick", wait=True)
        delivery = hook.take().headers["Webhook-Id"]
        failed = server.until(delivery, "tool.finished")
        begun = [event for event in server.events(delivery) if event["type"] == "tool.requested"][0]

        def seconds(text):
            import datetime
            return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

        assert seconds(failed["data"]["next"]["retry_at"]) - seconds(begun["at"]) >= 3000
        assert deliveries(server, state="pending")[0]["id"] == delivery


def test_a_refusal_is_a_dead_letter_that_a_person_redelivers(ready):
    with Receiver([400]) as hook:
        server = ready.serve(**ALLOWED)
        add(server, hook)
        server.start("quick", wait=True)
        delivery = hook.take().headers["Webhook-Id"]
        dead = await_state(server, delivery, "failed")
        assert "status 400" in dead["error"] and dead["event"] == "succeeded"
        assert [item["id"] for item in deliveries(server, state="failed")] == [delivery]
        assert len(hook.all) == 1  # not retried
        again = server.request("POST", f"/api/webhooks/team/deliveries/{delivery}/redeliver")
        assert again.status == 202 and again.body["id"] == delivery
        assert hook.take().headers["Webhook-Id"] == delivery
        wait_until(lambda: deliveries(server, state="failed") == [])
        # What was delivered can be delivered once more, under the same delivery id, as a run of its own.
        wait_until(lambda: deliveries(server, state="delivered"))
        again = server.request("POST", f"/api/webhooks/team/deliveries/{delivery}/redeliver")
        assert again.status == 202 and again.body["id"] != delivery
        assert hook.take().headers["Webhook-Id"] == delivery
        missing = server.request("POST", f"/api/webhooks/other/deliveries/{delivery}/redeliver")
        assert missing.status == 404


def test_it_gives_up_after_its_retries(ready):
    with Receiver([500] * 9) as hook:
        server = ready.serve(**ALLOWED)
        add(server, hook, max_retries=1)
        server.start("quick", wait=True)
        delivery = hook.take().headers["Webhook-Id"]
        await_state(server, delivery, "failed")
        assert len(hook.all) == 2


def test_a_receiver_that_is_down_gets_everything_later(ready):
    port = ready.port()
    server = ready.serve(**ALLOWED)
    server.request("POST", "/api/webhooks", {"name": "team", "url": f"http://127.0.0.1:{port}/", "secret": "env:HOOK_KEY"})
    runs = {server.start("quick", wait=True).body["run_id"] for _ in range(3)}
    wait_until(lambda: len(deliveries(server)) == 3)
    for item in deliveries(server):
        server.until(item["id"], "tool.finished")  # an attempt that failed
    assert server.kill() < 0
    with Receiver(port=port) as hook:
        server = ready.serve(**ALLOWED)
        got = [hook.take_json() for _ in range(3)]
        assert {body["run"]["id"] for body in got} == runs
        for body in got:
            await_state(server, body["id"])
        assert len(hook.all) == 3


@pytest.mark.parametrize("point", ["webhook.before_start", "webhook.delivery_started", "webhook.page_done",
                                   "webhook.position_stored", "tool.before_start", "tool.ended"])
def test_a_kill_between_commit_and_delivery_loses_nothing(ready, hook, point):
    """Killed at the first passing; the next server delivers the right set: each event under one id."""
    server = ready.serve(**ALLOWED, BATON_POINTS="")
    add(server, hook, events=["started", "succeeded"])
    assert server.kill() < 0
    server = ready.serve(**ALLOWED, BATON_POINTS=f"{point}=kill")
    run = new_id()
    with contextlib.suppress(Gone):  # the kill may come before the response
        server.start("quick", run_id=run)
    assert killed(server)
    server = ready.serve(**ALLOWED)
    wait_until(lambda: len(deliveries(server)) == 2)
    wait_until(lambda: len(deliveries(server, state="delivered")) == 2)
    assert server.finish(run)["status"] == "success"
    ids = {item["id"] for item in deliveries(server)}
    assert {request.headers["Webhook-Id"] for request in hook.all} == ids
    assert {(body["event"], body["run"]["id"]) for body in (json.loads(request.body) for request in hook.all)} == {
        ("started", run), ("succeeded", run)}


def test_events_without_a_server_are_delivered_by_the_next_one(ready, hook):
    server = ready.serve(**ALLOWED)
    add(server, hook)
    assert server.kill() < 0
    status, _, errors = ready.cli("run", "quick")
    assert status == 0, errors
    server = ready.serve(**ALLOWED)
    assert hook.take_json()["event"] == "succeeded"
    # A second start delivers nothing again.
    wait_until(lambda: len(deliveries(server, state="delivered")) == 1)
    assert server.kill() < 0
    server = ready.serve(**ALLOWED)
    server.start("broken", wait=True)
    assert hook.take_json()["event"] == "failed" and len(hook.all) == 2


def test_a_start_that_is_refused_for_the_moment_is_repeated(ready, hook):
    """The disk is full when the delivery is to be recorded; nothing was acknowledged, and nothing is lost."""
    server = ready.serve(**ALLOWED)
    add(server, hook)
    assert server.kill() < 0
    assert ready.cli("run", "quick")[0] == 0
    server = ready.serve(**ALLOWED, BATON_POINTS="store.before_commit=full@1-2")
    delivery = hook.take().headers["Webhook-Id"]
    await_state(server, delivery)
    assert len(deliveries(server)) == 1 and len(hook.all) == 1


def test_a_slow_receiver_does_not_hold_up_runs(ready, hook):
    hook.gate.clear()
    server = ready.serve(**ALLOWED)
    add(server, hook)
    for _ in range(5):
        assert server.start("quick", wait=True).body["status"] == "success"
    got = [hook.take() for _ in range(5)]  # five requests that nobody has answered
    assert len(deliveries(server, state="pending")) == 5 and deliveries(server, state="delivered") == []
    hook.gate.set()
    for request in got:
        await_state(server, request.headers["Webhook-Id"])
    assert len(hook.all) == 5


def test_a_webhook_reports_from_its_creation_and_from_enabling_on(ready, hook):
    server = ready.serve(**ALLOWED)
    server.start("quick", wait=True)
    made = add(server, hook)
    second = server.start("quick", wait=True).body["run_id"]
    assert hook.take_json()["run"]["id"] == second
    server.request("PUT", "/api/webhooks/team", {**made, "enabled": False})
    server.start("quick", wait=True)
    server.request("PUT", "/api/webhooks/team", made)
    fourth = server.start("quick", wait=True).body["run_id"]
    assert hook.take_json()["run"]["id"] == fourth
    assert len(hook.all) == 2


def test_a_test_message_and_a_removed_webhook(ready, hook):
    server = ready.serve(**ALLOWED)
    add(server, hook, events=["failed"])
    tested = server.request("POST", "/api/webhooks/team/test")
    assert tested.status == 202
    got = hook.take()
    assert json.loads(got.body)["event"] == "test" and got.headers["Webhook-Signature"] == signature(got)
    await_state(server, tested.body["id"])
    assert server.request("POST", "/api/webhooks/other/test").status == 404
    assert server.request("DELETE", "/api/webhooks/team").status == 204
    server.start("broken", wait=True)
    assert server.get("/api/webhooks").body["items"] == [] and len(hook.all) == 1


def test_the_secret_is_a_reference_and_appears_nowhere(ready, hook):
    server = ready.serve(**ALLOWED, HOOK_URL=hook.url + "/T0/token-of-the-url")
    plain = server.request("POST", "/api/webhooks", {"name": "a", "url": hook.url, "secret": "plain text"})
    assert plain.status == 422
    unsigned = server.request("POST", "/api/webhooks", {"name": "a", "url": hook.url})
    assert unsigned.status == 422 and "secret" in json.dumps(unsigned.body)
    made = server.request("POST", "/api/webhooks", {"name": "team", "url_secret": "env:HOOK_URL", "secret": "env:HOOK_KEY"})
    assert made.status == 201 and made.body["secret"] == "env:HOOK_KEY" and made.body["url_secret"] == "env:HOOK_URL"
    server.start("quick", wait=True)
    got = hook.take()
    assert got.path.endswith("/T0/token-of-the-url")
    await_state(server, got.headers["Webhook-Id"])
    stored = b"".join(path.read_bytes() for path in pathlib.Path(ready.data).glob("baton.db*"))
    assert SECRET.encode() not in stored and b"token-of-the-url" not in stored
    assert SECRET not in server.errors() and "token-of-the-url" not in server.errors()


def test_a_missing_secret_fails_the_delivery_with_the_reason(ready, hook):
    server = ready.serve(**{**ALLOWED, "BATON_SECRETS_ALLOW": "OTHER"})
    add(server, hook)
    server.start("quick", wait=True)
    wait_until(lambda: deliveries(server, state="failed"))
    assert "secrets.allow" in deliveries(server)[0]["error"] and hook.all == []


def test_private_addresses_and_the_server_itself_are_refused(ready, hook):
    server = ready.serve(**{**ALLOWED, "BATON_TOOLS_PRIVATE_ADDRESSES": ""})
    add(server, hook)
    server.start("quick", wait=True)
    wait_until(lambda: deliveries(server, state="failed"))
    assert "tools.private_addresses" in deliveries(server)[0]["error"] and hook.all == []
    assert server.kill() < 0
    server = ready.serve(**ALLOWED)
    answer = server.request("POST", "/api/webhooks", {"name": "own", "url": f"http://{server.address}/api/run", "secret": "env:HOOK_KEY"})
    assert answer.status == 201
    tested = server.request("POST", "/api/webhooks/own/test").body["id"]
    assert "this server itself" in await_state(server, tested, "failed", "own")["error"]


def test_slack_gets_text_with_an_escaped_link(ready, hook):
    ready.define("""
name: sly
steps:
  - {name: ok, human: {question: "Ship <https://evil.example|this> & that?"}}
""")
    server = ready.serve(**ALLOWED, BATON_SERVE_PUBLIC_URL="https://baton.example.com")
    add(server, hook, channel="slack", secret="env:HOOK_KEY")
    server.run_of("sly")
    got = hook.take()
    body = json.loads(got.body)
    text, link = body["text"].split("\n")
    assert set(body) == {"text"} and text == "sly asks: Ship &lt;https://evil.example|this&gt; &amp; that?"
    assert link.startswith("<https://baton.example.com/ui/inbox?question=") and link.endswith("|Open the question>")
    assert "Webhook-Signature" not in got.headers


MAIL = {"channel": "email", "from": "baton@example.com", "to": ["ada@example.com", "grace@example.com"], "name": "mail"}


def test_an_approval_arrives_by_mail(ready):
    server = ready.serve(**ALLOWED, MAIL_PASSWORD="open sesame", BATON_SERVE_PUBLIC_URL="https://baton.example.com")
    ready.define("""
name: fragen
steps:
  - {name: ok, human: {question: "Größe ändern?\\nSubject: injected"}}
""")
    with MailServer() as mails:
        answer = server.request("POST", "/api/webhooks", {**MAIL, "url": mails.url, "security": "none", "user": "baton",
                                                          "secret": "env:MAIL_PASSWORD"})
        assert answer.status == 201, answer
        server.run_of("fragen")
        mail = mails.take()
        assert (mail.sender, mail.to) == ("baton@example.com", ["ada@example.com", "grace@example.com"])
        assert (mail.user, mail.password) == ("baton", "open sesame")
        assert mail.message["Subject"] == "fragen asks: Größe ändern?"
        assert mail.message["To"] == "<ada@example.com>, <grace@example.com>" or "ada@example.com" in mail.message["To"]
        text = mail.message.get_content()
        assert "Subject: injected" in text and len(mail.message.get_all("Subject")) == 1
        assert "approve, reject, modify" in text and "https://baton.example.com/ui/inbox?question=" in text
        delivery = mail.message["X-Baton-Delivery"]
        assert mail.message["Message-ID"] == f"<{delivery}@baton>"
        await_state(server, delivery, name="mail")


@pytest.fixture
def certificate(home):
    key, cert = (str(pathlib.Path(home.path, name)) for name in ("key.pem", "cert.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def test_starttls_comes_before_the_password(ready, certificate):
    server = ready.serve(**ALLOWED, MAIL_PASSWORD="open sesame", BATON_NOTIFY_CA_FILE=certificate[0])
    with MailServer(certificate) as mails:
        answer = server.request("POST", "/api/webhooks", {**MAIL, "url": mails.url, "user": "baton", "secret": "env:MAIL_PASSWORD"})
        assert answer.status == 201 and answer.body["security"] == "starttls"
        server.request("POST", "/api/webhooks/mail/test")
        mail = mails.take()
        assert mail.tls and mail.password == "open sesame"
        assert mails.said.index("STARTTLS") < mails.said.index("AUTH")


@pytest.mark.parametrize("offers", ["nothing", "an unknown certificate"])
def test_without_trusted_tls_neither_password_nor_mail_is_sent(ready, certificate, offers):
    server = ready.serve(**ALLOWED, MAIL_PASSWORD="open sesame")
    with MailServer(None if offers == "nothing" else certificate) as mails:
        server.request("POST", "/api/webhooks", {**MAIL, "url": mails.url, "user": "baton", "secret": "env:MAIL_PASSWORD"})
        delivery = server.request("POST", "/api/webhooks/mail/test").body["id"]
        await_state(server, delivery, "failed", "mail")
        assert "AUTH" not in mails.said and "MAIL" not in mails.said


def test_a_mail_server_that_refuses_for_good_is_not_asked_again(ready):
    server = ready.serve(**ALLOWED)
    with MailServer(refuse={"RCPT": "550 no such person"}) as mails:
        server.request("POST", "/api/webhooks", {**MAIL, "url": mails.url, "security": "none"})
        server.start("quick", wait=True)
        wait_until(lambda: deliveries(server, "mail", "failed"))
        assert mails.said.count("MAIL") == 1


def test_a_step_sends_a_message(ready, hook):
    ready.define("""
name: tell
steps:
  - name: send
    tool: notify
    inputs: {webhook: team, payload: {event: message, text: "Lunch!", link: "https://example.com/menu"}}
outputs: {status: {from: "${steps.send.outputs.status}"}}
""")
    server = ready.serve(**ALLOWED)
    add(server, hook, events=["failed"])
    result = server.start("tell", wait=True).body
    assert result["status"] == "success" and result["outputs"] == {"status": 200}, result
    body = hook.take_json()
    assert (body["event"], body["text"], body["link"], body["webhook"]) == ("message", "Lunch!", "https://example.com/menu", "team")
    assert body["id"] == server.until(result["run_id"], "tool.requested")["data"]["effect"]


def test_the_command_line_adds_lists_tests_and_removes(ready, hook):
    server = ready.serve(**ALLOWED)
    status, output, errors = ready.cli("webhook", "add", "team", "--url", hook.url, "--secret", "env:HOOK_KEY",
                                       "--event", "failed", "--event", "approval_needed", "--workflow", "broken", "--label", "env=prod")
    assert status == 0, errors
    shown = server.get("/api/webhooks/team").body
    assert shown["events"] == ["failed", "approval_needed"] and shown["workflows"] == ["broken"] and shown["labels"] == {"env": "prod"}
    status, output, _ = ready.cli("webhook", "list")
    assert status == 0 and "team" in output and hook.url in output and "approval_needed" in output
    status, output, errors = ready.cli("webhook", "test", "team")
    assert status == 0, errors
    delivery = hook.take().headers["Webhook-Id"]
    await_state(server, delivery)
    status, output, _ = ready.cli("webhook", "deliveries", "team")
    assert status == 0 and delivery in output and "delivered" in output
    status, output, errors = ready.cli("webhook", "redeliver", "team", delivery)
    assert status == 0 and hook.take().headers["Webhook-Id"] == delivery, errors
    assert ready.cli("webhook", "remove", "team")[0] == 0
    assert ready.cli("webhook", "remove", "team")[0] == EXIT["not_found"]


def test_only_an_admin_changes_webhooks(ready, hook):
    server = ready.serve("--require-key", **ALLOWED)
    keys = {role: ready.local("POST", "/api/keys", {"label": role, "role": role}).body["key"] for role in ("viewer", "operator", "admin")}

    def as_role(role, method, target, body=None):
        return server.request(method, target, body, {"Authorization": f"Bearer {keys[role]}"}).status

    document = {"name": "team", "url": hook.url, "secret": "env:HOOK_KEY"}
    assert as_role("operator", "POST", "/api/webhooks", document) == 403
    assert as_role("admin", "POST", "/api/webhooks", document) == 201
    assert as_role("viewer", "GET", "/api/webhooks/team") == 200 and as_role("viewer", "GET", "/api/webhooks/team/deliveries") == 200
    assert as_role("operator", "POST", "/api/webhooks/team/test") == 403
    assert as_role("operator", "DELETE", "/api/webhooks/team") == 403
    assert server.request("GET", "/api/webhooks").status == 401


def test_figures_count_deliveries(ready, hook):
    server = ready.serve(**ALLOWED)
    add(server, hook)
    server.start("quick", wait=True)
    hook.take()
    figures = server.figures()
    assert figures["baton_webhook_deliveries_total"] == 1
    wait_until(lambda: server.figures()["baton_webhook_events_behind"] == 0)
