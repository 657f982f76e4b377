"""The artifacts of a run on its page: listed, shown, downloaded, with and without a key."""

MAKES = """
name: makes
inputs:
  topic: {type: string, default: a topic}
steps:
  - {name: first, tool: write_artifact, inputs: {name: docs/report.md, content: "# One\\n"}}
  - {name: second, tool: write_artifact, depends_on: [first], inputs: {name: docs/report.md, content: "<b>two</b>\\n"}}
  - {name: blob, tool: write_artifact, depends_on: [second], inputs: {name: data.bin, content: "x", media_type: application/octet-stream}}
"""


def makes(home, server):
    home.define(MAKES)
    return server.start("makes", wait=True).body["run_id"]


def downloaded(page, name):
    """Clicks on a download and gives what the browser stored."""
    return page.driver.tell("download", page=page.number, label=name)


def test_the_newest_version_of_each_and_the_older_ones(home, server, browse):
    run = makes(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('[data-artifact="docs/report.md"]')
    assert page.values("[data-artifact]", "data-artifact") == ["docs/report.md", "data.bin"]
    assert "version 2" in page.css('[data-artifact="docs/report.md"]').innerText()
    page.getByRole("button", {"name": "Show docs/report.md"}).click()
    page.wait_text('[aria-label="Text of docs/report.md"]', "<b>two</b>")
    assert page.css("main b").allInnerTexts() == ["docs/report.md", "data.bin"] + page.css(".shares b").allInnerTexts()
    assert page.css('[data-artifact="data.bin"] button').count() == 0  # not a text
    assert downloaded(page, "Download docs/report.md, version 2") == ["report.md", "<b>two</b>\n"]
    assert downloaded(page, "Download docs/report.md, version 1") == ["report.md", "# One\n"]
    assert page.axe() == []


def test_an_artifact_appears_while_the_run_goes_on(home, server, browse):
    home.define("name: later\nsteps:\n  - {name: go, wait: {signal: go}}\n"
                "  - {name: make, tool: write_artifact, depends_on: [go], inputs: {name: a.txt, content: hi}}\n")
    run = server.run_of("later")
    page = browse(f"/ui/runs/{run}").live()
    page.wait('tr[data-step="make"]')
    assert page.css("[data-artifact]").count() == 0
    assert server.request("POST", f"/api/runs/{run}/signal", {"name": "go"}).status == 200
    page.wait('[data-artifact="a.txt"]')


def test_a_download_sends_the_key(home, browse):
    server = home.serve("--require-key")
    made = home.local("POST", "/api/keys", {"label": "me", "role": "operator"}).body
    home.define(MAKES)
    headers = {"Authorization": f"Bearer {made['key']}", "Prefer": "wait=100"}
    run = server.request("POST", "/api/run", {"workflow": "makes"}, headers).body["run_id"]
    page = browse(f"/ui/runs/{run}", server=server)
    page.getByLabel("Key", {"exact": True}).fill(made["key"])
    page.button("Sign in").click()
    page.wait('[data-artifact="data.bin"]')
    assert downloaded(page, "Download data.bin, version 1") == ["data.bin", "x"]


def test_inputs_and_metadata_are_on_the_page(home, server, browse):
    home.define(MAKES)
    body = {"workflow": "makes", "inputs": {"topic": "trees"}, "metadata": {"ticket": "T-1"}}
    run = server.request("POST", "/api/run", body, {"Prefer": "wait=100"}).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.wait_text('[aria-label="Inputs of the run"]', "trees")
    page.wait_text('[aria-label="Metadata of the run"]', "T-1")
