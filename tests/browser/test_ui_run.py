"""A run's page: live, whole, also when the server is killed meanwhile."""
import json

from baton import new_id

GATED = """
name: gated
steps:
  - {name: first, tool: echo, inputs: {text: one}}
  - name: hold
    tool: shell
    depends_on: [first]
    inputs: {command: "echo up > told; read -r word < gate"}
  - name: again
    tool: shell
    depends_on: [hold]
    inputs: {command: "echo up > told; read -r word < gate"}
  - {name: last, tool: echo, depends_on: [again], inputs: {text: three}}
"""

HOSTILE = """
name: hostile
steps:
  - name: "say"
    tool: echo
    inputs: {text: "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"}
outputs:
  text: {from: "${steps.say.outputs.text}"}
"""


def begin_gated(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    return run, told, gate


def seqs_of(server, run):
    items, after = [], "0"
    while after is not None:
        page = server.get(f"/api/runs/{run}/events?view=pipeline&limit=1000&after={after}").body
        items += page["items"]
        after = page["cursor"]
    return [item["sequence"] for item in items]


def until_events(page, count):
    page.until(f"document.querySelector('[data-count]')?.dataset.count === '{count}'")


def test_live_from_the_middle_to_the_end(home, server, browse):
    run, told, gate = begin_gated(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('tr[data-step="hold"] [data-state="running"]')
    until_events(page, len(seqs_of(server, run)))
    gate.send()
    told.await_line()
    page.wait('tr[data-step="again"] [data-state="running"]')
    gate.send()
    page.wait('.headline [data-state="succeeded"]')
    expected = seqs_of(server, run)
    until_events(page, len(expected))
    assert page.seqs() == expected
    assert page.still_the_same_document()
    assert "4 of 4 steps" in page.css(".facts").innerText()


def test_a_killed_server_leaves_neither_gap_nor_repetition(home, server, browse, restart):
    """Events come before, while nobody listens, and after; the page is never loaded again."""
    run, told, gate = begin_gated(home, server)
    page = browse(f"/ui/runs/{run}").live()
    until_events(page, len(seqs_of(server, run)))
    gate.send()
    told.await_line()
    before = seqs_of(server, run)
    until_events(page, len(before))  # some of them through the socket
    page.remember('[data-banner="back"]')  # it goes by itself after a moment
    again = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    told.await_line()  # the step is made again: something happened while the page was cut off
    page.until_seen('[data-banner="back"]')
    page.live()
    gate.send()
    again.finish(run)
    expected = seqs_of(again, run)
    assert len(expected) > len(before) + 1
    until_events(page, len(expected))
    assert page.seqs() == expected
    page.wait('tr[data-step="again"] [data-state="succeeded"]')
    page.until("document.querySelector('tr[data-step=again] td.attempts').innerText === '2'")
    assert page.still_the_same_document()
    assert any("since=" in url for url in page.report()["sockets"])


def test_a_run_that_ended_while_the_page_was_cut_off(home, server, browse, restart):
    """Two restarts, one after the other; nothing was heard through the socket before the first."""
    run, told, gate = begin_gated(home, server)
    page = browse(f"/ui/runs/{run}").live()
    until_events(page, len(seqs_of(server, run)))
    server = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    told.await_line()
    gate.send()
    told.await_line()
    gate.send()
    server.finish(run)
    server = restart(server)
    page.wait('.headline [data-state="succeeded"]')
    expected = seqs_of(server, run)
    until_events(page, len(expected))
    assert page.seqs() == expected


def test_a_request_that_fails_before_the_connection_leaves_no_problem(home, server, browse, restart):
    """The server dies between a request and the socket's end: the banner says so, and nothing else does."""
    run, told, gate = begin_gated(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('tr[data-step="hold"] [data-state="running"]')
    page.abort("**/api/runs/*")
    gate.send()
    told.await_line()
    page.wait_text(".problem", "does not answer")  # while the server is there, it is told

    def away():
        page.wait('[data-banner="lost"]')
        assert page.texts(".problem") == []
        assert page.css('tr[data-step="hold"]').isVisible()
        page.unroute("**/api/runs/*")
    again = restart(server, while_away=away)
    told.await_line()
    gate.send()
    again.finish(run)
    page.wait('.headline [data-state="succeeded"]')
    assert page.texts(".problem") == []


def test_ten_thousand_events_scroll(home, server, browse):
    steps = "\n".join(f"  - {{name: s{number}, tool: echo, inputs: {{text: x}}}}" for number in range(9998))
    home.define(f"name: long\nsteps:\n{steps}\n")
    run = server.start("long", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}")
    until_events(page, 10000)
    assert len(page.values("tr[data-step]", "data-step")) == 100
    assert len(page.seqs()) < 100
    page.until("document.querySelector('[data-seq=\"10000\"]') !== null")  # it follows the end
    page.evaluate("document.querySelector('.rows').scrollTop = 0")
    page.until("document.querySelector('[data-seq=\"1\"]') !== null")
    assert page.seqs() == list(range(1, len(page.seqs()) + 1))
    page.evaluate("document.querySelector('.rows').scrollTop = 28 * 5000")
    page.until("document.querySelector('[data-seq=\"5000\"]') !== null")
    assert len(page.seqs()) < 100


def test_an_event_in_full_and_filters_survive_a_reload(server, browse):
    run = server.start("two-steps", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}")
    until_events(page, 6)
    page.getByLabel("Type").selectOption("tool.finished")
    page.until("document.querySelectorAll('.event').length === 2")  # the end of the call, and the file it created
    page.css('.event[data-event="4"]').click()
    page.wait('[aria-label="Event 4 as stored"]')
    assert page.url().endswith("?type=tool.finished&event=4")
    page.reload()
    page.wait('[aria-label="Event 4 as stored"]')
    assert page.seqs() == [4, 4]
    stored = json.loads(page.css('[aria-label="Event 4 as stored"]').innerText())
    assert stored == server.events(run)[3]
    page.button("Close").click()
    page.wait('[aria-label="Event 4 as stored"]', "detached")


def test_what_a_step_says_never_becomes_markup(home, server, browse):
    home.define(HOSTILE)
    run = server.start("hostile", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?event=2")
    page.wait('[aria-label="Details of event 2"]')
    page.wait('tr[data-step="say"] .line')
    assert "<img src=x" in page.css('tr[data-step="say"] .line').innerText()
    page.css('tr[data-step="say"] a').click()
    page.wait_text('.drawer [data-member="text"]', "<img src=x")
    assert "<script>" in page.css('[aria-label="Result"]').innerText()
    assert page.evaluate("[window.hacked === undefined, document.querySelectorAll('main img, main script').length]") == [True, 0]


def test_a_run_that_does_not_exist(server, browse):
    page = browse(f"/ui/runs/{new_id()}")
    page.wait_text(".problem", "there is no run with this id")
    page.link("Show all runs").click()
    page.wait_text("h1", "Runs")


def test_a_compacted_run_says_so_and_is_not_asked_for_again(home, server, browse):
    run = server.start("two-steps", wait=True).body["run_id"]
    assert home.cli("db", "compact", "--now")[0] == 0
    assert server.get(f"/api/runs/{run}/events?view=pipeline").status == 410

    def asked():
        series = 'baton_http_requests_total{method="GET",route="/api/runs/{id}/events",status="410"}'
        return server.figures()[series]
    before = asked()
    page = browse(f"/ui/runs/{run}").live()
    page.wait_text("[data-gone]", "compacted")
    # Another run's end goes through the same socket, and then the page has had every occasion to ask.
    assert server.start("two-steps", wait=True).status == 200
    server.kill()
    page.until("document.body.textContent.includes('Connection to the server lost')")
    assert page.texts(".problem") == []
    again = home.serve(port=server.address.rsplit(":", 1)[1])
    page.until("!document.body.textContent.includes('Connection to the server lost')")
    page.wait('[data-step] [data-state]')
    assert before == 1 and again.figures().get(
        'baton_http_requests_total{method="GET",route="/api/runs/{id}/events",status="410"}', 0) == 0
