"""Profiles, the server's settings, keys."""


def row(page, name):
    return page.css(f'tr[data-profile="{name}"]')


def create(server, name, **more):
    answer = server.request("POST", "/api/profiles", {"name": name, "repo_root": "/srv/code", **more})
    assert answer.status == 201, answer
    return answer


def test_a_profile_is_made_changed_used_and_deleted(server, browse):
    page = browse("/ui/settings/profiles")
    page.wait_text(".empty", "No profile yet.")
    page.link("New profile").click()
    page.wait_text("h1", "New profile")
    page.getByLabel("name (required)").fill("work")
    page.getByLabel("repo_root (required)").fill("/srv/code")
    page.getByLabel("tracker").selectOption("github")
    page.button("Create").click()
    page.wait('tr[data-profile="work"] [data-state="active"]')  # the first one is in use
    stored = server.get("/api/profiles/work").body
    assert (stored["repo_root"], stored["tracker"]) == ("/srv/code", "github")

    create(server, "home")
    page.reload()
    page.wait('tr[data-profile="home"]')
    page.button("Use home").click()
    page.wait('tr[data-profile="home"] [data-state="active"]')
    assert server.get("/api/settings").body["active_profile"] == "home"

    page.link("work").click()
    page.wait_text("h1", "work")
    page.css("summary").filter({"hasText": "retry"}).first().click()
    page.getByLabel("max_retries").fill("7")
    page.button("Save").click()
    page.wait(".saved")
    assert server.get("/api/profiles/work").body["retry"]["max_retries"] == 7
    page.getByLabel("plan_output_dir").fill("plans")
    page.button("Save").click()  # with the revision that saving gave
    page.until("document.querySelector('.saved') && !document.querySelector('.problem')")
    assert server.get("/api/profiles/work").body["plan_output_dir"] == "plans"

    page.button("Delete").click()
    page.wait_text("h1", "Settings")
    page.wait('tr[data-profile="home"]')
    assert [item["name"] for item in server.get("/api/profiles").body["items"]] == ["home"]


def test_problems_of_a_profile_are_shown_at_their_field(server, browse):
    page = browse("/ui/settings/new-profile")
    page.getByLabel("name (required)").fill("bad")
    page.css("summary").filter({"hasText": "retry"}).first().click()
    page.getByLabel("max_retries").fill("99")
    page.button("Create").click()
    page.wait_text('[data-pointer="/retry/max_retries"] .places', "10")
    page.wait_text('[data-pointer="/repo_root"] .places', "required")
    page.getByLabel("agents").fill("{nonsense")
    page.button("Create").click()
    page.wait_text('[data-pointer="/agents"] .places', "is not JSON")
    assert server.get("/api/profiles").body["items"] == []


def test_two_people_do_not_overwrite_each_other(server, browse):
    create(server, "work")
    page = browse("/ui/settings/profiles/work")
    page.getByLabel("plan_output_dir").fill("mine")
    changed = {**server.get("/api/profiles/work").body, "plan_output_dir": "theirs"}
    assert server.request("PUT", "/api/profiles/work", changed).status == 200
    page.button("Save").click()
    page.wait_text(".problem", "Somebody else changed this document after you opened it.")
    assert server.get("/api/profiles/work").body["plan_output_dir"] == "theirs"
    page.button("Load the stored version").click()
    page.until("document.querySelector('#field-plan_output_dir')?.value === 'theirs'")
    page.getByLabel("plan_output_dir").fill("agreed")
    page.button("Save").click()
    page.wait(".saved")
    assert server.get("/api/profiles/work").body["plan_output_dir"] == "agreed"


def test_a_profile_as_json(server, browse):
    create(server, "work")
    page = browse("/ui/settings/profiles/work")
    page.button("Edit as JSON").click()
    text = page.css("#document-text").inputValue()
    page.css("#document-text").fill(text.replace('"/srv/code"', '"/srv/other"').replace('"noop"', '"nowhere"'))
    page.button("Save").click()
    page.wait_text("#document-places", "/tracker")
    page.css("#document-text").fill(text.replace('"/srv/code"', '"/srv/other"'))
    page.button("Save").click()
    page.wait(".saved")
    assert server.get("/api/profiles/work").body["repo_root"] == "/srv/other"


def test_the_servers_settings(server, browse):
    page = browse("/ui/settings/server")
    page.getByLabel("max_concurrent").fill("0")
    page.button("Save").click()
    page.wait('[data-pointer="/max_concurrent"] .places')
    page.getByLabel("max_concurrent").fill("9")
    page.button("Save").click()
    page.wait(".saved")
    assert server.get("/api/server").body["max_concurrent"] == 9
    assert page.getByLabel("port").isDisabled()


def test_a_key_is_shown_once_and_revoked(server, browse):
    page = browse("/ui/settings/keys")
    page.wait_text(".empty", "No key yet.")
    page.button("Create key").click()
    page.wait_text("form .places", "at least 1")
    page.getByLabel("Label").fill("ci")
    page.getByLabel("Role").selectOption("operator")
    page.button("Create key").click()
    page.wait_text('[aria-label="The new key"]', "baton_")
    key = page.css('[aria-label="The new key"]').innerText().strip()
    assert server.get("/api/inbox", {"Authorization": f"Bearer {key}"}).status == 200
    [item] = server.get("/api/keys").body["items"]
    assert (item["label"], item["role"]) == ("ci", "operator")
    page.reload()
    page.wait(f'tr[data-key="{item["id"]}"]')
    assert key not in page.css("body").innerText()
    page.button("Revoke ci").click()
    page.button("Really revoke ci").click()
    page.wait_text(".empty", "No key yet.")
    assert server.get("/api/inbox", {"Authorization": f"Bearer {key}"}).status == 401


def test_a_server_that_asks_for_a_key(home, browse):
    server = home.serve("--require-key")
    made = home.local("POST", "/api/keys", {"label": "me", "role": "operator"}).body
    page = browse("/ui/runs/new", server=server)
    page.wait_text("h1", "This server requires an API key")
    page.getByLabel("Key", {"exact": True}).fill("baton_wrong")
    page.button("Sign in").click()
    page.wait_text(".problem", "The key was rejected")
    page.getByLabel("Key", {"exact": True}).fill(made["key"])
    page.button("Sign in").click()
    page.wait_text("h1", "Start a run")
    page.live()
    page.getByLabel("Workflow").selectOption("two-steps")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    assert made["key"] not in page.url()
    page.reload()  # the tab keeps it
    page.wait('.headline [data-state="succeeded"]')
    assert home.local("DELETE", f"/api/keys/{made['id']}").status == 204
    page.link("Runs").first().click()
    page.wait_text("h1", "This server requires an API key")
