"""A run's graph, tree, time and commands: live, also when the server is killed meanwhile."""
from baton import new_id, wait_until

SHAPES = """
name: shapes
steps:
  - {name: plan, tool: echo, inputs: {text: plan}}
  - name: each
    depends_on: [plan]
    map:
      over: [1, 2, 3]
      steps:
        - {name: work, tool: echo, inputs: {text: "${item}"}}
  - {name: hold, tool: shell, depends_on: [each], inputs: {command: "echo up > told; read -r word < gate"}}
  - {name: again, tool: shell, depends_on: [hold], inputs: {command: "echo up > told; read -r word < gate"}}
  - {name: last, tool: echo, when: "1 == 2", depends_on: [again], inputs: {text: done}}
"""

SIGNALLED = """
name: signalled
steps:
  - {name: go, wait: {signal: go}}
  - {name: after, tool: echo, depends_on: [go], inputs: {text: "${steps.go.outputs.word}"}}
outputs:
  word: {from: "${steps.after.outputs.text}"}
"""


def begin(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(SHAPES)
    assert server.start("shapes", run_id=run).status == 202
    told.await_line()
    return run, told, gate


def node(path, state):
    return f'g[data-node="{path}"][data-state="{state}"]'


def places(page):
    return page.evaluate("""() => [...document.querySelectorAll('g[data-node]')].map((g) => {
        const rect = g.querySelector('rect');
        return [g.dataset.node, rect.getAttribute('x'), rect.getAttribute('y'), rect.getAttribute('width')];
    })""")


def test_states_change_in_the_graph_while_it_is_looked_at(home, server, browse):
    run, told, gate = begin(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait(node("hold", "running"))
    page.wait(node("each/work", "succeeded"))
    assert "3 of 3" in page.css('g[data-node="each/work"]').textContent()
    before = places(page)
    gate.send()
    told.await_line()
    page.wait(node("hold", "succeeded"))
    page.wait(node("again", "running"))
    gate.send()
    page.wait(node("last", "skipped"))
    page.wait('.headline [data-state="succeeded"]')
    assert places(page) == before
    assert len(page.values("path.edge", "data-depends")) == 4
    assert page.still_the_same_document()


def test_a_killed_server_leaves_no_gap_in_the_graph(home, server, browse, restart):
    run, told, gate = begin(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait(node("hold", "running"))
    before = places(page)
    again = restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    told.await_line()
    gate.send()  # something happens before the page may be back
    told.await_line()
    page.wait(node("hold", "succeeded"))
    page.wait(node("again", "running"))
    gate.send()
    again.finish(run)
    page.wait(node("last", "skipped"))
    newest = again.events(run)[-1]["seq"]
    page.until(f"document.querySelector('[data-graph-seq]').dataset.graphSeq === '{newest}'")
    page.until("document.querySelector('[data-us]') !== null")
    assert places(page) == before
    assert page.still_the_same_document()


def test_the_time_adds_up_on_the_page_too(home, server, browse):
    run, told, gate = begin(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('[data-share-row="tool"]')
    gate.send()
    told.await_line()
    gate.send()
    server.finish(run)
    wall = server.get(f"/api/runs/{run}/time").body["wall_us"]
    page.until(f"document.querySelector('[data-wall]').dataset.wall === '{wall}'")
    assert sum(int(us) for us in page.values("[data-us]", "data-us")) == wall
    page.wait('[data-bar="each[2]/work"]')


def test_the_tree_of_steps_can_be_folded(home, server, browse):
    run, _, _ = begin(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('tr[data-step="each[1]/work"][data-depth="1"]')
    assert page.css('tr[data-step="each[1]/work"] .name').innerText() == "[1] work"
    page.getByRole("button", {"name": "Steps of each"}).click()
    page.wait('tr[data-step="each[1]/work"]', "detached")
    page.wait('tr[data-step="each"]')
    page.getByRole("button", {"name": "Steps of each"}).click()
    page.wait('tr[data-step="each[1]/work"]')


def test_paused_resumed_and_a_signal(home, server, browse):
    home.define(SIGNALLED)
    run = server.run_of("signalled")
    page = browse(f"/ui/runs/{run}").live()
    page.button("Pause").click()
    page.wait('.headline [data-state="paused"]')
    assert server.get(f"/api/runs/{run}/state").body["state"] == "paused"
    page.button("Resume").click()
    page.button("Pause").waitFor()
    page.getByText("Send a signal").click()
    page.getByLabel("Name").fill("go")
    page.getByLabel("Data").fill("{not json")
    page.button("Send").click()
    page.wait_text(".signal .error", "is not JSON")
    assert "run.signalled" not in server.types(run)
    page.getByLabel("Data").fill('{"word": "hello"}')
    page.button("Send").click()
    page.wait('.headline [data-state="succeeded"]')
    assert server.result(run)["outputs"] == {"word": "hello"}
    page.wait(".commands button", "detached")


def test_what_somebody_else_does_is_seen(home, server, browse):
    """A pause has no word in the socket's vocabulary; the run's own stream tells it."""
    home.define(SIGNALLED)
    run = server.run_of("signalled")
    page = browse(f"/ui/runs/{run}").live()
    page.button("Pause").waitFor()
    assert server.request("POST", f"/api/runs/{run}/pause", {}).status == 200
    page.button("Resume").waitFor()
    assert server.request("POST", f"/api/runs/{run}/resume", {}).status == 200
    page.button("Pause").waitFor()


def test_cancelled_after_a_second_question(home, server, browse):
    run, _, _ = begin(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.button("Cancel the run").click()
    page.button("Keep it").click()
    assert "run.cancelling" not in server.types(run)
    page.button("Cancel the run").click()
    page.button("Yes, cancel it").click()
    server.finish(run)
    page.wait(node("last", "cancelled"))
    page.wait(".commands button", "detached")


def test_a_refusal_is_shown(home, server, browse):
    home.define(SIGNALLED)
    run = server.run_of("signalled")
    page = browse(f"/ui/runs/{run}").live()
    page.before("**/pause", "POST", f"/api/runs/{run}/pause", {})
    page.button("Pause").click()
    page.wait_text(".commands .problem", "conflict")


def test_all_of_it_on_a_phone_and_without_complaints(home, server, browse):
    run, _, _ = begin(home, server)
    page = browse(f"/ui/runs/{run}", viewport={"width": 320, "height": 640}, hasTouch=True).live()
    page.wait(node("hold", "running"))
    page.wait('[data-share-row="tool"]')
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.axe() == []


def open_streams(server):
    """The socket, and the run's own."""
    return sum(figure for series, figure in server.figures().items() if series.startswith("baton_streams{"))


def test_a_tab_that_nobody_sees_keeps_no_stream_and_catches_up(home, server, browse):
    home.define(SIGNALLED)
    run = server.run_of("signalled")
    page = browse(f"/ui/runs/{run}").live()
    page.button("Pause").waitFor()
    see = """(hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event('visibilitychange'));
    }"""
    wait_until(lambda: open_streams(server) == 2)
    page.evaluate(see, True)
    wait_until(lambda: open_streams(server) == 1)
    assert server.request("POST", f"/api/runs/{run}/pause", {}).status == 200
    page.evaluate(see, False)
    page.button("Resume").waitFor()
