"""The list of runs."""
from urllib.parse import urlsplit, parse_qs

def rows(page):
    return page.values("tr[data-run]", "data-run")


def test_a_run_appears_and_ends_by_itself(server, browse):
    page = browse("/ui/").live()
    page.wait_text(".empty", "No run yet.")
    run = server.start("two-steps", wait=True).body["run_id"]
    page.wait(f'tr[data-run="{run}"] [data-state="succeeded"]')
    assert "2 steps" in page.css(f'tr[data-run="{run}"]').innerText()
    assert page.still_the_same_document()
    assert len(page.report()["sockets"]) == 1


def test_two_tabs_show_the_same(server, browse):
    tabs = [browse("/ui/").live() for _ in range(2)]
    run = server.run_of("two-steps")
    for page in tabs:
        page.wait(f'tr[data-run="{run}"] [data-state="succeeded"]')
    assert rows(tabs[0]) == rows(tabs[1]) == [run]


def test_filters_are_in_the_url_and_back_works(home, server, browse):
    home.define("name: fails\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'exit 3'}}\n")
    good = server.start("two-steps", wait=True).body["run_id"]
    bad = server.start("fails", wait=True).body["run_id"]
    page = browse("/ui/runs")
    page.wait(f'tr[data-run="{bad}"]')
    page.getByLabel("State").selectOption("failed")
    page.until("document.querySelectorAll('tr[data-run]').length === 1")
    assert rows(page) == [bad]
    assert parse_qs(urlsplit(page.url()).query) == {"status": ["failed"]}
    page.goBack()
    page.until("document.querySelectorAll('tr[data-run]').length === 2")
    page.getByLabel("Search").fill("TWO")
    page.until("document.querySelectorAll('tr[data-run]').length === 1")
    assert rows(page) == [good]
    page.open("/ui/runs?status=running&q=zzz")
    page.wait_text(".empty", "No run matches this filter.")
    page.link("Show all runs").click()
    page.until("document.querySelectorAll('tr[data-run]').length === 2")


def test_every_state_can_be_asked_for_by_its_own_name(home, server, browse):
    home.define("name: fails\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'exit 3'}}\n")
    home.define("name: asks\nsteps:\n  - {name: a, human: {question: Go on?}}\n")
    home.define("name: waits\nsteps:\n  - {name: a, wait: {signal: go}}\n")
    runs = {"succeeded": server.start("two-steps", wait=True).body["run_id"], "failed": server.start("fails", wait=True).body["run_id"],
            "waiting_human": server.run_of("asks"), "running": server.run_of("waits"), "paused": server.run_of("waits"),
            "cancelled": server.run_of("waits")}
    assert server.request("POST", f"/api/runs/{runs['paused']}/pause", {}).status == 200
    assert server.request("POST", f"/api/runs/{runs['cancelled']}/cancel", {}).status == 200
    server.finish(runs["cancelled"])
    page = browse("/ui/runs")
    page.until("document.querySelectorAll('tr[data-run]').length === 6")
    for state, run in runs.items():
        page.getByLabel("State").selectOption(state)
        page.until("document.querySelectorAll('tr[data-run]').length === 1")
        assert rows(page) == [run]
        page.wait(f'tr[data-run="{run}"] [data-state="{state}"]')
    page.getByLabel("State").selectOption("queued")
    page.wait_text(".empty", "No run matches this filter.")


def test_a_run_is_found_by_the_beginning_of_its_id(home, server, browse):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(3)]
    page = browse("/ui/runs")
    page.until("document.querySelectorAll('tr[data-run]').length === 3")
    for text in (runs[1][:8], runs[1], runs[1][:12].upper()):
        page.getByLabel("Search").fill(text)
        page.until("document.querySelectorAll('tr[data-run]').length === 1")
        assert rows(page) == [runs[1]]
    page.getByLabel("Search").fill("00000000-0000")
    page.wait_text(".empty", "No run matches this filter.")
    page.getByLabel("Search").fill("two")
    page.until("document.querySelectorAll('tr[data-run]').length === 3")


def test_labels_are_shown_and_lead_to_all_runs_that_have_them(home, server, browse):
    def start(**labels):
        body = {"workflow": "two-steps", "labels": labels}
        return server.request("POST", "/api/run", body, {"Prefer": "wait=100"}).body["run_id"]
    prod, test, both = start(env="prod"), start(env="test"), start(env="prod", team="core")
    page = browse("/ui/runs")
    page.until("document.querySelectorAll('tr[data-run]').length === 3")
    page.css(f'tr[data-run="{prod}"] [data-label="env"]').click()
    page.until("document.querySelectorAll('tr[data-run]').length === 2")
    assert rows(page) == [both, prod]
    assert parse_qs(urlsplit(page.url()).query) == {"label": ["env=prod"]}
    page.getByLabel("Label").fill("env=prod,team=core")
    page.key("Enter")
    page.until("document.querySelectorAll('tr[data-run]').length === 1")
    page.getByLabel("Label").fill("env")
    page.key("Enter")
    page.wait_text(".problem", "label")
    page.open(f"/ui/runs/{test}")
    page.wait_text(".facts .chip", "env=test")
    page.css(".facts .chip").click()
    page.until("document.querySelectorAll('tr[data-run]').length === 1")
    assert rows(page) == [test]


def test_older_runs_are_on_further_pages(home, server, browse):
    home.define("name: short\nsteps:\n  - {name: a, tool: echo, inputs: {text: hi}}\n")
    started = [server.run_of("short") for _ in range(55)]
    page = browse("/ui/runs")
    page.until("document.querySelectorAll('tr[data-run]').length === 50")
    newest = rows(page)
    page.link("Older").click()
    page.until("document.querySelectorAll('tr[data-run]').length === 5")
    assert sorted(newest + rows(page)) == sorted(started)
    page.goBack()
    page.until("document.querySelectorAll('tr[data-run]').length === 50")
    assert rows(page) == newest


def test_a_state_nobody_knows_is_shown_as_it_is(server, browse):
    page = browse("/ui/system")
    page.answer("**/api/runs?*", [{"run_id": "00000000-0000-4000-8000-000000000000", "workflow": "odd",
                                   "status": "hibernating", "started_at": "2026-01-01T00:00:00Z",
                                   "completed_at": None, "duration_ms": None, "step_count": 0, "error": None}])
    page.link("Runs").click()
    page.wait('[data-state="hibernating"][data-tone="raw"]')
    assert "hibernating" in page.css("tr[data-run]").innerText()
