"""Agents, schedules, webhooks and triggers: made, changed, paused and deleted by hand."""
from receivers import Receiver

QUICK = """
name: quick
inputs: {who: {type: string, default: nobody}}
steps:
  - {name: say, tool: echo, inputs: {x: "${inputs.who}"}}
outputs: {x: {from: "${steps.say.outputs.x}"}}
"""


def test_an_agent_is_made_changed_and_deleted(server, browse):
    page = browse("/ui/settings/agents")
    page.wait_text(".empty", "No agent yet.")
    page.link("New agent").click()
    page.wait_text("h1", "New agent")
    page.getByLabel("name (required)").fill("reviewer")
    page.getByLabel("role (required)").fill("reviews")
    page.getByLabel("system_prompt (required)").fill("You review.")
    page.getByLabel("driver").selectOption("claude")
    page.css("summary").filter({"hasText": "llm_config"}).first().click()
    page.getByLabel("model (required)").fill("big-1")
    page.button("Create").click()
    page.wait_text('tr[data-agent="reviewer"]', "claude")
    stored = server.get("/api/agents/reviewer").body
    assert (stored["role"], stored["llm_config"]["model"]) == ("reviews", "big-1")

    page.link("reviewer").click()
    page.wait_text("h1", "reviewer")
    page.getByLabel("max_iterations").fill("3")
    page.button("Save").click()
    page.wait(".saved")
    assert server.get("/api/agents/reviewer").body["max_iterations"] == 3
    page.button("Delete").click()
    page.wait_text(".empty", "No agent yet.")
    assert server.get("/api/agents").body == {"agents": []}


def test_a_schedule_is_made_paused_and_changed(home, server, browse):
    home.define(QUICK)
    page = browse("/ui/settings/new-schedule")
    page.wait_text("h1", "New schedule")
    page.getByLabel("name (required)").fill("nightly")
    page.getByLabel("cron").fill("0 24 * * *")
    page.getByLabel("workflow (required)").fill("quick")
    page.button("Create").click()
    page.wait_text('[data-pointer="/cron"] .places', "column 3")
    page.getByLabel("cron").fill("0 3 * * mon")
    page.button("Create").click()
    page.wait_text('tr[data-schedule="nightly"]', "0 3 * * mon")

    page.button("Pause nightly").click()
    page.wait_text('tr[data-schedule="nightly"]', "paused")
    assert server.get("/api/schedules/nightly").body["next_at"] is None
    page.button("Resume nightly").click()
    page.wait_text('tr[data-schedule="nightly"]', "T03:00:00Z")

    page.link("nightly").click()
    page.wait_text("h1", "nightly")
    page.getByLabel("overlap").selectOption("queue")
    page.button("Save").click()
    page.wait(".saved")
    stored = server.get("/api/schedules/nightly").body
    assert (stored["overlap"], stored["paused"]) == ("queue", False)
    page.button("Delete").click()
    page.wait_text(".empty", "No schedule yet.")


def test_on_a_phone_nothing_is_cut_off(home, server, browse):
    home.define(QUICK)
    agent = {"name": "a" * 60, "role": "reviews " * 20, "system_prompt": "x", "llm_config": {"model": "m"}}
    assert server.request("POST", "/api/agents", agent).status == 201
    body = {"name": "often-and-again", "workflow": "quick", "cron": "0,15,30,45 8-18 * * mon-fri"}
    assert server.request("POST", "/api/schedules", body).status == 201
    page = browse("/ui/", viewport={"width": 320, "height": 640}, hasTouch=True).live()
    for path, row in (("/ui/settings/agents", "tr[data-agent]"), ("/ui/settings/schedules", "tr[data-schedule]")):
        page.open(path).live()
        page.wait(row)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_a_webhook_is_made_tested_redelivered_and_deleted(home, browse):
    server = home.serve(BATON_TOOLS_PRIVATE_ADDRESSES="127.0.0.1", BATON_SECRETS_ALLOW="HOOK_KEY", HOOK_KEY="a-key-for-signing")
    with Receiver([400]) as hook:
        page = browse("/ui/settings/webhooks", server)
        page.wait_text(".empty", "No webhook yet.")
        page.link("New webhook").click()
        page.wait_text("h1", "New webhook")
        page.getByLabel("name (required)").fill("team")
        page.getByLabel("url", {"exact": True}).fill(hook.url)
        page.button("Create").click()
        page.wait_text('[data-pointer="/secret"] .places', "is missing")
        page.getByLabel("secret", {"exact": True}).fill("env:HOOK_KEY")
        page.button("Create").click()
        page.wait_text('tr[data-webhook="team"]', "approval_needed")

        page.link("Deliveries of team").click()
        page.wait_text(".empty", "Nothing was delivered yet.")
        page.button("Test team").click()
        delivery = hook.take().headers["Webhook-Id"]
        server.follow(delivery)
        page.button("Refresh").click()
        page.wait_text(f'tr[data-delivery="{delivery}"] [data-delivery-state="failed"]', "failed")
        page.wait_text(f'tr[data-delivery="{delivery}"]', "status 400")
        page.button(f"Deliver {delivery[:8]} again").click()
        assert hook.take().headers["Webhook-Id"] == delivery
        page.until(f"""(document.querySelector('[aria-label="Deliveries"] [data-delivery-state="delivered"]') !== null)
                       || (document.querySelectorAll('button').forEach((b) => b.textContent === 'Refresh' && b.click()), false)""")
        page.open("/ui/settings/webhooks/team").live()
        page.wait_text("h1", "team")
        page.button("Delete").click()
        page.wait_text(".empty", "No webhook yet.")


def test_a_trigger_is_made_changed_and_deleted(home, server, browse):
    home.define(QUICK)
    page = browse("/ui/settings/new-trigger")
    page.getByLabel("name (required)").fill("issues")
    page.getByLabel("source").selectOption("github")
    page.getByLabel("secret (required)").fill("env:HOOK_KEY")
    page.getByLabel("workflow", {"exact": True}).fill("quick")
    page.getByLabel("when").fill("body.action ==")
    page.button("Create").click()
    page.wait('[data-pointer="/when"] .places')
    page.getByLabel("when").fill("body.action == 'opened'")
    page.button("Create").click()
    page.wait_text('tr[data-trigger="issues"]', "starts quick")
    page.wait_text('tr[data-trigger="issues"]', "/api/triggers/issues")
    page.link("issues").click()
    page.wait_text("h1", "issues")
    page.getByLabel("source").selectOption("gitlab")
    page.button("Save").click()
    page.wait(".saved")
    assert server.get("/api/triggers/issues").body["source"] == "gitlab"
    page.button("Delete").click()
    page.wait_text(".empty", "No trigger yet.")


def test_the_link_of_a_notification_opens_the_question(home, browse):
    home.define("name: ask\nsteps:\n  - {name: ok, human: {question: 'Paint it red?'}}\n")
    server = home.serve(BATON_TOOLS_PRIVATE_ADDRESSES="127.0.0.1", BATON_SECRETS_ALLOW="HOOK_KEY", HOOK_KEY="a-key-for-signing")
    with Receiver() as hook:
        answer = server.request("POST", "/api/webhooks", {"name": "team", "url": hook.url, "secret": "env:HOOK_KEY"})
        assert answer.status == 201
        runs = [server.run_of("ask") for _ in range(2)]
        told = [hook.take_json() for _ in runs]
        wanted = next(body for body in told if body["run"]["id"] == runs[0])
        assert wanted["link"].startswith(f"http://{server.address}/ui/inbox?question=")
        page = browse(wanted["link"].split(server.address)[1], server)
        page.wait_text("h1", "Question")
        page.wait_text("main", "Paint it red?")
        page.button("Approve").click()
        assert server.finish(runs[0])["status"] == "success"
        assert [item["run_id"] for item in server.inbox()] == [runs[1]]
