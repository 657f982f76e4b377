"""Is the server well, and does the page say so when it is not there?"""


def figures(page):
    return dict(zip(page.texts(".figure dt"), page.texts(".figure dd")))


def test_health_and_figures(server, browse):
    server.start("two-steps", wait=True)
    page = browse("/ui/system").live()
    version = server.get("/api/health").body["version"]
    page.wait_text(".facts", version)
    page.wait("tr[data-component]")
    components = server.get("/health").body["components"]
    assert page.values("tr[data-component]", "data-component") == [item["component"] for item in components]
    page.wait('.headline [data-state="healthy"]')
    page.wait_text(".figure", "Active runs")
    assert int(figures(page)["Events since the start"]) >= 5
    page.until("[...document.querySelectorAll('.figure')].some((f) => f.innerText.startsWith('Commits per second') && /\\d/.test(f.innerText))")
    assert {"Runs succeeded", "Write-ahead log", "Loop lag", "Writer queue"} <= set(figures(page))
    page.getByText("All metrics").click()
    page.wait_text("td", "baton_commits_total")


def test_figures_with_labels(server, browse):
    page = browse("/ui/runs")
    page.answer("**/metrics", text='# TYPE baton_runs gauge\nbaton_runs{state="failed"} 3\nbaton_wal_bytes 2097152\n')
    page.css(".places").getByRole("link", {"name": "System"}).click()
    page.wait_text(".figure", "Runs failed")
    shown = figures(page)
    assert (shown["Runs failed"], shown["Write-ahead log"], shown["Active runs"]) == ("3", "2.0 MiB", "–")


def test_an_unhealthy_component_is_shown_not_hidden(server, browse):
    report = server.get("/health").body
    report["status"] = report["components"][0]["status"] = "unhealthy"
    page = browse("/ui/runs")
    page.answer("**/health", report, 503)
    page.css(".places").getByRole("link", {"name": "System"}).click()
    page.wait(f'tr[data-component="{report["components"][0]["component"]}"] [data-state="unhealthy"]')
    page.wait('.headline [data-state="unhealthy"]')


def test_a_lost_connection_is_said_and_taken_back(server, browse, restart):
    page = browse("/ui/runs").live()
    run = server.start("two-steps", wait=True).body["run_id"]
    page.wait(f'tr[data-run="{run}"]')
    page.remember('[data-banner="back"]')  # it goes by itself after a moment
    again = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    page.until_seen('[data-banner="back"]')
    page.wait(f'tr[data-run="{run}"]')  # the content stayed
    later = again.start("two-steps", wait=True).body["run_id"]
    page.wait(f'tr[data-run="{later}"] [data-state="succeeded"]')
    assert page.still_the_same_document()
