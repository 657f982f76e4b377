"""Agents and schedules: made, changed, paused and deleted by hand."""

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
