"""Agents in the browser: the conversation of a run, live; agents with a box that lets them work or talk."""
PHONE = {"width": 375, "height": 800}

DEV = """
name: dev
agents:
  ada:
    driver: script
    model: m-1
    system: You work carefully.
    tools: [shell]
    options:
      replies:
        - turn: 1
          thinking: I should look first.
          text: "Let me **look** at `main.c`."
          calls:
            - {name: shell, arguments: {command: "echo '<b>hi</b>'; exit 3"}}
            - {name: nothing}
          usage: {input_tokens: 1200, output_tokens: 30, cost_usd: 0.002}
        - turn: 2
          text: "# Result\\n\\n- one\\n- two\\n\\n```\\n<img src=x onerror=window.hacked=1>\\n```\\n\\n<script>window.hacked=1</script>"
          usage: {input_tokens: 1300, output_tokens: 40}
steps:
  - {name: dev, agent: ada, inputs: {prompt: "Find the <i>bug</i>."}}
"""


def ada(server, *replies, **more):
    body = {"name": "ada", "role": "talks", "system_prompt": "You talk.", "llm_config": {"model": "m"},
            "options": {"replies": list(replies)}, **more}
    assert server.request("POST", "/api/agents", body).status == 201


def test_the_conversation_of_a_run(home, server, browse):
    home.define(DEV)
    run = server.start("dev", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.wait('.talk[data-talk="dev"]')
    assert page.texts(".talk > header h3") == ["ada"]
    assert page.texts(".conversation > .headline [data-usage]")[0].startswith("2,500 tokens in · 70 out · $0.0020")
    assert page.texts(".asked") == ["Find the <i>bug</i>."]
    assert page.texts(".turn:first-child .prose strong, .turn:first-child .prose code") == ["look", "main.c"]
    assert page.evaluate("document.querySelector('.thinking').open") is False  # folded
    assert page.values(".call", "data-call") == ["shell", "nothing"]
    assert page.values(".call", "data-state") == ["succeeded", "refused"]
    assert page.evaluate("() => [...document.querySelectorAll('.call')].some((call) => call.open)") is False
    page.css('.call[data-call="shell"] summary').click()
    page.wait_text('.call[data-call="shell"] pre', "<b>hi</b>")
    assert "[exit status 3]" in page.texts('.call[data-call="shell"] pre')[1]
    assert page.texts(".turn:last-child .prose li") == ["one", "two"]
    assert "1,200 tokens in · 30 out" in page.texts(".turn-facts")[0]
    # Text of a model is text: no element, no script.
    assert page.evaluate("[window.hacked === undefined, document.querySelectorAll('.talk :is(img, script, i, b)').length]") == [True, 0]
    assert "<script>" in page.texts(".turn:last-child .prose")[0]
    page.css('.call[data-call="shell"] a').click()
    page.wait(".drawer")
    assert page.axe() == []


def test_a_reply_appears_while_it_is_written(home, server, browse):
    ada(server, {"thinking": "Hm, hm.", "text": "Half a <b>sentence</b>", "pieces": 4, "hang": True})
    run = server.request("POST", "/api/agentic", {"agent": "ada", "goal": "Talk."}).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.wait_text("[data-live]", "Half a <b>sentence</b>")
    page.wait(".caret")
    late = browse(f"/ui/runs/{run}", server).live()  # a second tab has the text so far
    late.wait_text("[data-live]", "Half a <b>sentence</b>")
    assert late.axe() == []
    server.tell(run, "cancel")
    page.wait("[data-live]", "detached")


def test_a_reply_survives_the_server(home, server, browse, restart):
    ada(server, {"attempt": 1, "text": "Broken off", "hang": True}, {"text": "Complete."})
    run = server.request("POST", "/api/agentic", {"agent": "ada", "goal": "Talk."}).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.wait_text("[data-live]", "Broken off")
    restart(server)
    page.wait_text(".turn .prose", "Complete.")
    assert page.evaluate("document.body.innerText.includes('Broken off')") is False
    assert "attempt 2" in page.texts(".turn-facts")[0]


def test_an_agent_is_talked_with(home, server, browse):
    ada(server, {"contains": "weather", "text": "It rains."}, {"text": "I see."}, tools=[])
    page = browse("/ui/agents").live()
    page.link("ada").click()
    page.wait_text("h1", "ada")
    page.wait_text(".system", "You talk.")
    page.getByLabel("Message to ada").fill("How is the weather?")
    assert page.axe() == []
    page.button("Chat").click()
    page.wait_text(".turn .prose", "It rains.")
    page.wait('[data-chat="waits"]')
    page.getByLabel("Message", {"exact": True}).fill("A pity.")
    page.key("Enter")
    page.wait_text(".talk:last-child .turn .prose", "I see.")
    assert page.texts(".talk > .asked") == ["How is the weather?", "A pity."]
    assert page.texts(".earlier summary") == ["2 earlier messages"]
    page.wait('[data-chat="waits"]')
    page.button("End the chat").click()
    page.wait('.headline .badge[data-state="succeeded"]')
    page.wait(".message-box", "detached")


def test_an_agent_works_on_a_task_from_a_phone(home, server, browse):
    ada(server, {"text": "word " * 60 + "x" * 200})
    page = browse("/ui/agents/ada", viewport=PHONE).live()
    page.getByLabel("Message to ada").fill("Do it.")
    page.button("Run as a task").click()
    page.wait('.headline .badge[data-state="succeeded"]')
    page.wait(".turn .prose")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.axe() == []
    page.link("Start again …").click()
    page.wait_text("h1", "ada")
    assert page.getByLabel("Message to ada").inputValue() == "Do it."


def test_without_agents(home, server, browse):
    page = browse("/ui/agents").live()
    page.wait_text(".empty", "No agent yet.")
    page = browse("/ui/agents/nobody", server)
    page.wait_text(".problem", "no agent called nobody")


def test_a_run_without_agents_has_no_conversation(home, server, browse):
    home.define("name: plain\nsteps:\n  - {name: echo, tool: echo, inputs: {text: hi}}\n")
    run = server.start("plain", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.wait(".steps")
    assert page.texts(".conversation") == []


def test_pictures_in_messages_are_shown(home, server, browse):
    ada(server, {"text": "A dot."})
    run = server.request("POST", "/api/agentic", {"agent": "ada", "goal": "Look."}, {"Prefer": "wait=600"}).body["run_id"]
    talk = server.get(f"/api/runs/{run}/conversation").body
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    parts = [{"kind": "image", "media_type": "image/png", "data": dot},
             {"kind": "image", "media_type": "image/svg+xml", "data": "PHN2Zy8+"}]
    talk["talks"][0]["messages"][0]["parts"] = parts
    page = browse("/ui/agents")
    page.answer("**/conversation", json=talk)
    page.goto(f"/ui/runs/{run}")
    page.wait("img.picture")
    assert page.evaluate("() => [...document.querySelectorAll('img')].map((img) => [img.complete, img.naturalWidth])") == [[True, 1]]
    assert "image/svg+xml" in page.texts(".asked")[0]


def test_the_page_shows_what_a_run_would_have(server, browse, tmp_path):
    """Each value with its origin, for the chosen profile; what would refuse a start; the profile goes with the task."""
    ada(server, {"text": "registered"})
    own = {"driver": "script", "model": "profiled", "options": {"replies": [{"text": "From the profile."}]}}
    for name, folder in (("work", str(tmp_path)), ("away", str(tmp_path / "none"))):
        body = {"name": name, "repo_root": folder, "agents": {"ada": own}}
        assert server.request("PUT", f"/api/profiles/{name}", body).status == 201
    page = browse("/ui/agents/ada").live()
    page.wait_text('[data-value="model"] [data-origin="profile"]', "profile work")
    assert page.texts('[data-value="model"] code') == ["profiled"]
    assert page.texts('[data-value="system"] [data-origin]') == ["registry"]
    page.css("#profile").selectOption("away")
    page.wait_text("[data-refusal]", "is not a folder")
    page.css("#profile").selectOption("work")
    page.wait("[data-refusal]", "detached")
    assert page.axe() == []
    page.getByLabel("Message to ada").fill("Go.")
    page.button("Run as a task").click()
    page.wait_text(".turn .prose", "From the profile.")
    facts = page.css(".facts").first().innerText()
    assert "work" in facts and str(tmp_path) in facts, facts
