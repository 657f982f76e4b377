"""A failed run is retried from its page."""
from baton import new_id

GATED = """
name: gated
steps:
  - {name: first, tool: echo, inputs: {text: one}}
  - name: work
    tool: shell
    depends_on: [first]
    inputs: {command: "echo up > told; read -r w < gate; echo $w; test $w = good"}
  - {name: last, tool: echo, depends_on: [work], inputs: {text: done}}
"""

PARENT = """
name: parent
steps:
  - {name: child, workflow: broken}
"""


def failed(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    gate.send("bad\n")
    server.finish(run)
    return run, told, gate


def test_the_failed_steps_run_again_and_the_page_goes_on(home, server, browse):
    run, told, gate = failed(home, server)
    page = browse(f"/ui/runs/{run}?step=work").live()
    page.wait('.headline [data-state="failed"]')
    page.wait_text('.log-pane[data-log="1"]', "bad")
    page.button("Retry failed steps").click()
    told.await_line()
    page.wait('tr[data-step="work#2"] [data-state="running"]')
    assert page.css("[data-failure]").count() == 0
    gate.send("good\n")
    page.wait('main .headline [data-state="succeeded"]')
    page.wait('tr[data-step="last#2"] [data-state="succeeded"]')
    assert "3 of 3 steps" in page.css(".facts").first().innerText()
    page.css("[data-newer] a").click()
    page.wait_text('.drawer[data-drawer="work#2"] .log-pane', "good")
    assert page.still_the_same_document()
    assert server.types(run).count("run.retried") == 1


def test_a_retry_by_somebody_else_is_seen(home, server, browse):
    run, told, gate = failed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.button("Retry failed steps").waitFor()
    assert server.request("POST", f"/api/runs/{run}/retry", {}).status == 200
    told.await_line()
    page.wait('tr[data-step="work#2"] [data-state="running"]')
    gate.send("good\n")
    page.wait('main .headline [data-state="succeeded"]')


def test_a_sub_run_leads_to_its_parent(home, server, browse):
    home.define("name: broken\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'exit 1'}}\n")
    home.define(PARENT)
    run = server.start("parent", wait=True).body["run_id"]
    child = server.get(f"/api/runs/{run}/steps").body["steps"][0]["subrun"]
    page = browse(f"/ui/runs/{child}").live()
    page.link("Retry through the parent run").click()
    page.wait_text("h1", "parent")
    page.button("Retry failed steps").waitFor()


def test_a_refusal_is_shown(home, server, browse):
    run, _, _ = failed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.answer("**/retry", {"type": "about:blank", "title": "", "status": 409, "detail": "its undo steps have run", "code": "conflict", "details": []},
                status=409)
    page.button("Retry failed steps").click()
    page.wait_text(".commands .problem", "its undo steps have run")
    page.button("Retry failed steps").waitFor()
    assert "run.retried" not in server.types(run)
