"""baton agent run and baton chat: what a person sees of an agent at work."""
import re
import signal
import subprocess

from baton import EXIT, PATIENCE_S, PROGRAM, environment
from terminal import Terminal
from test_agentic import agent, talks

CODER = ({"turn": 1, "thinking": "I should look.", "text": "Let me look.", "pieces": 3,
          "calls": [{"name": "shell", "arguments": {"command": "echo one; exit 3"}}, {"name": "nothing"}],
          "usage": {"input_tokens": 120, "output_tokens": 30, "cost_usd": 0.002}},
         {"turn": 2, "text": "Done:\n- \x1b[31mred\n", "pieces": 4, "usage": {"input_tokens": 220, "output_tokens": 12}})


def chat(home, *words, says="", status=0):
    """Runs baton chat with this input: (stdout, stderr)."""
    done = subprocess.run([PROGRAM, "--home", home.data, "chat", *words], env=environment(), input=says.encode(),
                          capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == status, done
    return done.stdout.decode(), done.stderr.decode()


def run_of(errors):
    return re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", errors)[0]


# ---- agent run -----------------------------------------------------------------------------------


def test_the_result_is_the_text_and_the_rest_is_progress(home, server):
    agent(server, *CODER, name="coder", tools=["shell"])
    status, out, errors = home.cli("agent", "run", "coder", "--task", "Look.")
    assert (status, out) == (0, "Done:\n- \\x1b[31mred\n")  # a model cannot control the terminal
    lines = errors.splitlines()
    assert lines[0].startswith("run ") and lines[1] == "Let me look."
    assert "  > nothing  (refused: there is no tool nothing; the tools are shell)" in lines
    assert any(re.fullmatch(r"  > shell  echo one; exit 3  \(succeeded, [0-9.]+m?s\)", line) for line in lines)
    assert lines[-1] == "2 turns, 340 input and 42 output tokens, $0.0020"
    assert "I should look." not in errors  # thinking is for terminals


def test_it_works_without_a_server_and_as_json(home):
    home.cli("agent", "create", "ada", "--set", "role=r", "--set", "system_prompt=s", "--set", "llm_config.model=m",
             "--set", 'options={"replies": [{"text": "Hello."}]}')
    assert home.cli("agent", "run", "ada", "--goal", "Greet.")[:2] == (0, "Hello.\n")
    status, out, _ = home.cli("agent", "run", "ada", "--task", "Greet.", "--json")
    assert status == 0 and '"text":"Hello."' in out and out.startswith('{"run_id"')


def test_what_agent_run_refuses(home, server):
    agent(server, {"fail": {"code": "forbidden", "text": "no"}})
    assert home.cli("agent", "run", "ada")[0] == EXIT["usage"]
    status, _, errors = home.cli("agent", "run", "bob", "--task", "x")
    assert status == EXIT["not_found"] and "there is no agent called bob" in errors
    status, out, errors = home.cli("agent", "run", "ada", "--task", "x")
    assert (status, out) == (1, "")
    assert "[the turn failed: forbidden: no]" in errors and "baton: the run failed: " in errors


def test_detached_it_prints_the_run(home, server):
    agent(server, {"text": "Hello."})
    status, out, _ = home.cli("agent", "run", "ada", "--task", "x", "--detach")
    assert status == 0
    assert server.finish(out.strip())["outputs"]["text"] == "Hello."


def test_on_a_terminal_the_text_appears_while_it_is_written(home, server):
    agent(server, {"thinking": "Hm.", "text": "Half a sentence", "pieces": 3, "hang": True})
    with Terminal(home, "agent", "run", "ada", "--task", "x", errors=True) as terminal:
        terminal.until("Half a sentence")
        assert "\x1b[2mHm.\x1b[0m" in terminal.text  # dimmed
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.wait() == 130
    run = run_of(terminal.text)
    assert f"follow it with baton watch {run}" in terminal.text
    assert server.result(run)["status"] == "running"
    server.tell(run, "cancel")


def test_a_second_attempt_begins_again(home, server):
    agent(server, {"attempt": 1, "text": "Broken", "hang": True}, {"text": "Complete."})
    with Terminal(home, "agent", "run", "ada", "--task", "x", errors=True) as terminal:
        terminal.until("Broken")
        server.kill()  # the command takes its place and asks again
        assert terminal.wait() == 0
    assert re.search(r"Broken\n.*attempt 2: the reply begins again.*\nComplete\.\n", terminal.screen, re.S)


# ---- chat ----------------------------------------------------------------------------------------


def test_a_chat_is_left_and_continued(home, server):
    agent(server, {"contains": "weather", "text": "It rains."}, {"text": "I see."})
    out, errors = chat(home, "ada", says="How is the weather?\n\n/help\n")
    assert out == "It rains.\n"
    assert "/quit leaves and the chat waits" in errors
    run = run_of(errors)
    assert errors.splitlines()[-1] == f"the chat waits for you: baton chat {run}"
    server.kill()
    out, errors = chat(home, run[:8], says="A pity.\n/end\n")  # without a server
    assert out == "It rains.\nI see.\n"  # what was said before, and the reply
    assert "> How is the weather?" in errors
    server = home.serve()
    assert server.result(run)["status"] == "success"
    assert len(talks(server, run)) == 2


def test_a_chat_with_the_only_agent(home, server):
    out, errors = chat(home, status=EXIT["not_found"])
    assert "there is no agent to talk with" in errors
    agent(server, {"text": "Hello."})
    assert chat(home, says="Hi.\n/quit\nnot sent\n")[0] == "Hello.\n"
    agent(server, {"text": "Hello."}, name="bob")
    assert "name the agent to talk with: ada, bob" in chat(home, status=EXIT["usage"])[1]
    assert "no agent called carl" in chat(home, "carl", status=EXIT["not_found"])[1]
