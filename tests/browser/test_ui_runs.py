"""The list of runs and the form that starts one."""
from urllib.parse import urlsplit, parse_qs

BROKEN = """
name: broken
steps:
  - name: one
    tool: echo
    depends_on: [nobody]
    inputs: {text: hi}
"""

WANTS = """
name: wants
inputs:
  count: {type: number}
steps:
  - name: one
    tool: echo
    inputs: {text: hi}
"""


def rows(page):
    return page.values("tr[data-run]", "data-run")


def test_a_run_appears_and_ends_by_itself(server, browse):
    page = browse("/ui/").live()
    page.wait_text(".empty", "No run yet.")
    run = server.start("two-steps", wait=True).body["run_id"]
    page.wait(f'tr[data-run="{run}"] [data-state="succeeded"]')
    assert "2 steps done" in page.css(f'tr[data-run="{run}"]').innerText()
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
    page.getByLabel("Workflow").fill("TWO")
    page.until("document.querySelectorAll('tr[data-run]').length === 1")
    assert rows(page) == [good]
    page.open("/ui/runs?status=running&name=zzz")
    page.wait_text(".empty", "No run matches this filter.")
    page.link("Show all runs").click()
    page.until("document.querySelectorAll('tr[data-run]').length === 2")


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


# ---- starting ----------------------------------------------------------------------------------


def test_a_run_is_started_from_the_page(server, browse):
    page = browse("/ui/")
    page.css("main").getByRole("link", {"name": "Start a run"}).first().click()
    page.getByLabel("Workflow").fill("two-steps")
    page.getByLabel("Inputs").fill('{"who": "browser"}')
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    [run] = [item["run_id"] for item in server.get("/api/runs").body]
    assert urlsplit(page.url()).path == f"/ui/runs/{run}"
    assert "hello, browser" in page.css("main").innerText()


def test_problems_are_shown_at_their_place(home, server, browse):
    home.define(BROKEN)
    home.define(WANTS)
    page = browse("/ui/runs/new")

    def start(workflow, inputs):
        page.getByLabel("Workflow").fill(workflow)
        page.getByLabel("Inputs").fill(inputs)
        page.button("Start").click()

    start("broken", "{}")
    page.wait_text("#workflow-places", "nobody")
    answer = server.start("broken")
    assert answer.status == 422
    shown = page.css("#workflow-places").innerText()
    for place in answer.body["details"]:
        assert f"line {place['line']}:{place['column']}" in shown and place["text"] in shown
    start("wants", '{"count": "three"}')
    page.wait_text("#inputs-places", "/count")
    start("wants", "{nonsense")
    page.wait_text("#inputs-places", "is not JSON")
    start("nobody", "{}")
    page.wait_text(".problem", "no workflow called nobody")
    assert server.get("/api/runs").body == []
