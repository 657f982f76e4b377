"""What agents' turns used and cost, as a person sees it."""
import datetime

DEFINITION = """
name: {name}
agents:
  {agent}: {{driver: script, model: {model}, options: {{replies: [{{text: "x", usage: {usage}}}]}}}}
steps:
  - {{name: a, agent: {agent}, inputs: {{prompt: p}}}}
"""


def finish(home, server, name, agent, model, usage):
    run = server.run_of(home.define(DEFINITION.format(name=name, agent=agent, model=model, usage=usage)))
    server.finish(run)
    return run


def figures(page):
    return dict(zip(page.texts(".figure dt"), page.texts(".figure dd")))


def test_usage_with_charts(home, server, browse):
    page = browse("/ui/usage").live()
    page.wait_text("p", "No turns with reported usage in these days.")
    run = finish(home, server, "notes", "ada", "claude-sonnet-4", "{input_tokens: 400000, output_tokens: 100000, cache_read_tokens: 100000, provider: anthropic}")
    finish(home, server, "review", "bob", "gpt-4o", "{input_tokens: 200000, output_tokens: 20000, provider: openai}")
    page.wait_text('table[data-usage="model"]', "gpt-4o")
    shown = figures(page)
    assert (shown["Cost"], shown["Saved by caches"], shown["Turns"], shown["Input tokens"]) == ("$3.13", "$0.270000", "2", "600,000")
    assert page.texts('table[data-usage="model"] tbody td:nth-child(2)') == ["$2.43", "$0.700000"]
    assert page.texts('table[data-usage="agent"] tbody td:first-child') == ["ada", "bob"]
    heights = [float(height) for height in page.values(".chart rect", "height")]
    assert len(heights) == 30 and max(heights) == heights[-1] > 0 and heights[0] == 0
    assert page.values(".chart rect", "data-day")[-1] == datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    assert page.axe() == []
    page.link("7 days").click()
    page.until("document.querySelectorAll('.chart rect').length === 7")
    page.css('table[data-usage="run"] a').first().click()
    page.wait_text("h1", "notes")
    assert run in page.evaluate("location.pathname")


def test_an_unknown_cost_is_not_shown_as_nothing(home, server, browse):
    finish(home, server, "plain", "eve", "m", "{input_tokens: 10}")
    page = browse("/ui/runs").live()
    page.key("g", "u")
    page.wait_text("h1", "Usage")
    page.wait_text("p", "Turns without a known cost: 1.")
    assert figures(page)["Cost"] == "unknown"
    assert page.texts('table[data-usage="model"] tbody td:nth-child(2)') == ["unknown"]
