"""Workflows in the dashboard: the list, one workflow with its graph, versions and runs, and the editor."""
from urllib.parse import urlsplit

TEXT = """name: greet
description: Greets a person.
inputs:
  who: {type: string}
steps:
  - name: one
    tool: echo
    inputs: {text: "Hello ${inputs.who}"}
  - name: two
    tool: echo
    depends_on: [one]
    inputs: {text: "${steps.one.outputs.text}!"}
outputs:
  text: {from: "${steps.two.outputs.text}"}
"""
TEAM = """name: crew
description: Writes.
default_llm: {model: m}
agents: [{name: ann, role: leads, prompt_template: a.md}, {name: bob, role: writes, prompt_template: b.md}]
tools: []
handoff_rules: [{from_agent: ann, to_agent: bob}]
"""
EDITED = '.editor[data-ready="true"]'
CHECKED = '.editor[data-checked="true"]'


def save(server, text=TEXT, name="greet"):
    answer = server.request("PUT", f"/api/workflows/{name}", {"name": name, "yaml_content": text})
    assert answer.status in (200, 201), answer
    return answer.body["version"]


def stored(server, name="greet"):
    return server.get(f"/api/workflows/{name}").body["yaml_content"]


def open_editor(browse, name="greet"):
    page = browse(f"/ui/editor/{name}")
    page.wait(EDITED)
    page.wait(CHECKED)
    return page


def typed(page, old, new, within=""):
    """Replaces a text in the first line that has it, as a person does: selects it and types."""
    page.evaluate("""([old, within]) => {
        const content = document.querySelector('.editor-text').shadowRoot.querySelector('.cm-content');
        const line = [...content.querySelectorAll('.cm-line')].find((one) => one.textContent.includes(old) && one.textContent.includes(within));
        const range = document.createRange(), texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        let at = line.textContent.indexOf(old), end = at + old.length, begun = false;
        for (let node = texts.nextNode(); node; node = texts.nextNode()) {
            const size = node.textContent.length;
            if (!begun && at < size) {
                range.setStart(node, at);
                begun = true;
            }
            if (end <= size) {
                range.setEnd(node, end);
                break;
            }
            at -= size;
            end -= size;
        }
        content.focus();
        document.getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    }""", [old, within])
    page.css(".editor-text .cm-content").pressSequentially(new)


def test_the_list_shows_sources_problems_and_runs(home, server, browse):
    home.define("name: broken\nsteps:\n  - {name: a, tool: nothing}\n")
    save(server)
    run = server.run_of("greet", {"who": "you"})
    server.finish(run)
    page = browse("/ui/")
    page.css("nav.places").getByRole("link", {"name": "Workflows"}).click()
    page.wait('[data-workflow="greet"]')
    assert "saved, version 1" in page.css('[data-workflow="greet"]').innerText()
    assert "Greets a person." in page.css('[data-workflow="greet"]').innerText()
    assert page.css('[data-workflow="greet"] [data-state="succeeded"]').count() == 1
    assert "nothing" in page.css('[data-workflow="broken"] .wrong').innerText()
    assert "built in" in page.css('[data-workflow="two-steps"]').innerText()
    assert page.axe() == []
    page.css('[data-workflow="greet"] a').first().click()
    page.wait(".graph svg")
    assert page.values(".node", "data-node") == ["one", "two"]
    assert page.css(f'[data-run="{run}"]').count() == 1
    assert page.axe() == []


def test_what_the_author_declares_and_a_team_are_shown(server, browse):
    save(server, TEXT + "capabilities: {inputs: [a name]}\nevaluation: {rubric_id: warm, criteria: [{name: warmth, weight: 0.7, definition: Is it warm?}]}\n")
    page = browse("/ui/workflows/greet")
    page.wait("#declared-title")
    declared = " ".join(page.texts("section[aria-labelledby=declared-title]"))
    assert "a name" in declared and "warmth, weight 0.7" in declared, declared
    save(server, TEAM, "crew")
    page = browse("/ui/workflows/crew")
    page.wait("#graph-title")
    assert "teams cannot be started yet" in page.texts(".problem")[0]


def test_versions_with_their_changes(server, browse):
    save(server)
    save(server, TEXT.replace("Hello", "Good day"))
    page = browse("/ui/workflows/greet")
    page.wait('[data-version="2"]')
    assert page.values("[data-version]", "data-version") == ["2", "1"]
    page.button("version 2").click()
    page.wait(".diff")
    assert page.texts('.diff [data-kind="added"]') == ['+    inputs: {text: "Good day ${inputs.who}"}']
    assert page.texts('.diff [data-kind="removed"]') == ['-    inputs: {text: "Hello ${inputs.who}"}']
    assert page.axe() == []
    page.button("version 1").click()
    page.link("Edit a copy of version 1").click()
    page.wait(CHECKED)
    assert "Hello" in page.css(".editor-text .cm-content").innerText()


def test_edit_with_an_error_fix_it_save_start_and_watch(server, browse):
    save(server)
    page = browse("/ui/workflows")
    page.css('[data-workflow="greet"] a').first().click()
    page.link("Edit").click()
    page.wait(EDITED)
    page.wait('.editor[data-checked="true"][data-errors="0"]')
    assert page.values(".editor .node", "data-node") == ["one", "two"]
    assert page.button("Save").isDisabled()

    typed(page, "one", "nobody", within="depends_on")
    page.wait('.editor[data-checked="true"]:not([data-errors="0"])')
    assert "nobody" in page.css(".editor-problems").innerText() and "line 11" in page.css(".editor-problems").innerText()
    assert page.css(".editor-text .cm-lintRange-error, .editor-text .cm-lint-marker-error").count() > 0
    page.button("Save").click()
    page.wait(".editor .problem")
    assert stored(server) == TEXT

    typed(page, "nobody", "one")
    page.wait('.editor[data-checked="true"][data-errors="0"]')
    typed(page, "Hello", "Howdy")
    page.wait('.editor[data-dirty="true"][data-checked="true"][data-errors="0"]')
    page.button("Save").click()
    page.wait_text(".editor-state", "saved as version 2")
    assert stored(server) == TEXT.replace("Hello", "Howdy")

    page.link("Back to greet").click()
    page.link("Start a run").click()
    page.wait("#field-who")
    page.css("#field-who").fill("browser")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    page.wait_text("main", "Howdy browser!")


def test_a_fix_is_applied_from_the_list_and_from_the_text(server, browse):
    """The messages are those of the API; an umlaut and an emoji before the place do not move the fix."""
    save(server)
    page = open_editor(browse)
    typed(page, "inputs.who", "inputs.hwo", within="Hello")
    page.wait('.editor[data-checked="true"][data-errors="1"]')
    typed(page, "Hello", "Grüße 😀", within="hwo")
    page.wait('.editor[data-dirty="true"][data-checked="true"][data-errors="1"]')
    message = '/steps/0/inputs: unknown input hwo: the workflow does not declare it; did you mean "who"?'
    page.wait_text(".editor-problems", message)
    assert page.axe() == []
    page.css(".editor-problems [data-fix]").click()
    page.wait('.editor[data-checked="true"][data-errors="0"]')
    assert "Grüße 😀 ${inputs.who}" in page.css(".editor-text .cm-content").innerText()

    typed(page, "echo", "ehco")
    page.wait('.editor[data-checked="true"]:not([data-errors="0"])')
    page.css(".editor-text .cm-lintRange-error").first().hover()
    page.wait(".editor-text .cm-tooltip-lint .cm-diagnosticAction")
    assert 'unknown tool ehco; did you mean "echo"?' in page.css(".editor-text .cm-tooltip-lint").innerText()
    page.css(".editor-text .cm-diagnosticAction").first().click()
    page.wait('.editor[data-checked="true"][data-errors="0"]')
    page.button("Save").click()
    page.wait_text(".editor-state", "saved as version 2")
    assert stored(server) == TEXT.replace("Hello", "Grüße 😀")


def test_warnings_are_apart_from_errors(server, browse):
    save(server)
    page = open_editor(browse)
    typed(page, "greet", "great", within="name:")
    page.wait_text(".editor-problems", "! warning: line 1: /name: the definition calls itself great, not greet")
    page.wait_text(".editor-state", "no errors · one warning")
    assert page.css('.editor-problems [data-severity="warning"]').count() == 1 and page.css('.editor-problems [data-severity="error"]').count() == 0
    page.css(".editor-problems [data-fix]").click()
    page.wait('.editor[data-dirty="false"][data-checked="true"][data-errors="0"]')


def test_a_new_workflow(server, browse):
    page = browse("/ui/workflows")
    page.link("New workflow").click()
    page.wait(EDITED)
    page.wait('.editor[data-checked="true"][data-errors="0"]')
    assert page.values(".editor .node", "data-node") == ["greet"]
    typed(page, "my-workflow", "from-the-browser")
    page.wait('.editor[data-dirty="true"][data-checked="true"][data-errors="0"]')
    page.button("Save").click()
    page.wait(".facts")
    assert urlsplit(page.url()).path == "/ui/workflows/from-the-browser"
    assert stored(server, "from-the-browser").startswith("name: from-the-browser\n")


def test_two_tabs_save_and_the_second_person_chooses(server, browse):
    save(server)
    first, second = open_editor(browse), open_editor(browse)
    typed(first, "Hello", "First")
    first.wait('.editor[data-dirty="true"][data-checked="true"]')
    first.button("Save").click()
    first.wait_text(".editor-state", "saved as version 2")

    typed(second, "Hello", "Second")
    second.wait('.editor[data-dirty="true"][data-checked="true"]')
    second.button("Save").click()
    second.wait("[data-conflict]")
    assert '-    inputs: {text: "First ${inputs.who}"}' in second.css(".conflict .diff").innerText()
    assert '+    inputs: {text: "Second ${inputs.who}"}' in second.css(".conflict .diff").innerText()
    assert "First" in stored(server) and second.axe() == []
    second.button("Save my text anyway").click()
    second.wait_text(".editor-state", "saved as version 3")
    assert "Second" in stored(server)

    typed(first, "First", "Third")
    first.wait('.editor[data-dirty="true"][data-checked="true"]')
    first.button("Save").click()
    first.wait("[data-conflict]")
    first.button("Discard my text and take theirs").click()
    first.wait('.editor[data-dirty="false"]')
    assert "Second" in first.css(".editor-text .cm-content").innerText() and "Second" in stored(server)


def test_unsaved_text_survives_the_end_of_the_tab(server, browse):
    save(server)
    page = open_editor(browse)
    typed(page, "Hello", "Unsaved")
    page.wait('.editor[data-dirty="true"][data-checked="true"]')
    page.open("/ui/runs")
    page.wait("h1")
    page.open("/ui/editor/greet")
    page.wait("[data-offer]")
    assert "Hello" in page.css(".editor-text .cm-content").innerText()
    page.button("Continue with it").click()
    page.wait('.editor[data-dirty="true"][data-checked="true"]')
    assert "Unsaved" in page.css(".editor-text .cm-content").innerText()
    page.button("Save").click()
    page.wait_text(".editor-state", "saved as version 2")
    assert "Unsaved" in stored(server)
    page.open("/ui/editor/greet")
    page.wait(CHECKED)
    assert page.css("[data-offer]").count() == 0


def test_completion_proposes_tools_steps_and_fields(server, browse):
    save(server)
    page = open_editor(browse)
    typed(page, "echo", "ec", within="tool")
    page.wait(".cm-tooltip-autocomplete")
    assert "echo" in page.css(".cm-tooltip-autocomplete").innerText()
    page.key("Escape")
    typed(page, "depends_on", "dep")
    page.wait(".cm-tooltip-autocomplete")
    assert "depends_on" in page.css(".cm-tooltip-autocomplete").innerText()


def test_a_workflow_is_deleted(server, browse):
    save(server)
    page = browse("/ui/workflows/greet")
    page.button("Delete …").click()
    page.button("Delete greet").click()
    page.wait('[data-workflow="two-steps"]')
    assert page.css('[data-workflow="greet"]').count() == 0
    assert server.get("/api/workflows/greet").status == 404


def test_the_editor_works_on_a_phone(server, browse):
    save(server)
    page = browse("/ui/editor/greet", viewport={"width": 360, "height": 740})
    page.wait(CHECKED)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.axe() == []
