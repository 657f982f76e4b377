"""The shell tool in its sandbox: what it can reach, what it leaves, how it ends."""
import os
import socket

import pytest
from baton import new_id, processes_with, wait_until_none_with

SHELL = """
name: shell
inputs:
  command: {type: string}
  timeout: {type: number, default: 60}
steps:
  - name: step
    tool: shell
    inputs: {command: "${inputs.command}", timeout_seconds: "${inputs.timeout}"}
"""
OUTPUT_LIMIT = 131072


def shell(home, server, command, **inputs):
    """The step as the API shows it after the command ran."""
    home.define(SHELL)
    answer = server.start("shell", {"command": command, **inputs}, wait=True)
    assert answer.status == 200, answer
    return answer.body["steps"][0]


def said(step):
    assert step["status"] == "success", step
    return step["output"]["stdout"]


def test_what_a_command_gives(home, server):
    step = shell(home, server, "echo out; echo err >&2")
    assert step["output"] == {"exit_code": 0, "stdout": "out\n", "stderr": "err\n"}


def test_the_workspace_is_its_own_and_writable(home, server):
    run = new_id()
    home.define(SHELL)
    server.start("shell", {"command": "pwd; echo kept > file"}, run_id=run)
    assert server.finish(run)["steps"][0]["output"]["stdout"] == "/workspace\n"
    assert home.workspace(run, "file").read_text() == "kept\n"
    assert said(shell(home, server, "ls -A")) == ""


@pytest.mark.parametrize("place", ["/", "/usr", "/usr/bin", "/etc", "/bin", "/proc", "/home", "/root",
                                   "/var", "/lib"])
def test_nothing_else_is_writable(home, server, place):
    name = f"{place.rstrip('/')}/{new_id()}"
    step = shell(home, server, f"touch {name} 2>/dev/null && echo written || echo refused")
    assert said(step) == "refused\n"
    assert not os.path.exists(name)


def test_the_mounts_alone_refuse_it(home):
    """Landlock refuses it too: without it, the mounts are the only wall."""
    server = home.serve(BATON_SANDBOX_LANDLOCK="off")
    step = shell(home, server, "touch /written 2>/dev/null && echo written || echo refused")
    assert said(step) == "refused\n"


def test_what_is_written_into_tmp_stays_inside(home, server):
    name = f"/tmp/{new_id()}"
    assert said(shell(home, server, f"echo x > {name} && cat {name}")) == "x\n"
    assert not os.path.exists(name)


def test_the_data_folder_is_not_visible(home, server):
    step = shell(home, server, f"ls {home.data} {home.path} 2>&1; test -e {home.data}/baton.db && echo seen")
    assert step["status"] == "failed"
    assert "seen" not in step["error"]


def test_other_processes_are_not_visible(home, server):
    step = shell(home, server, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert "serve" not in said(step)
    assert said(shell(home, server, f"kill -9 {server.pid} 2>/dev/null || echo refused")) == "refused\n"
    assert server.get("/api/health").status == 200


def test_no_network(home, server):
    host, port = server.address.split(":")
    command = (f"import socket; s = socket.socket(); s.settimeout(5); "
               f"print('refused' if s.connect_ex(('{host}', {port})) else 'connected')")
    assert said(shell(home, server, f'/usr/bin/python3 -c "{command}"')) == "refused\n"
    with socket.create_connection((host, int(port)), 5):
        pass  # it is there, only not for the command


def test_the_socket_is_out_of_reach(home, server):
    step = shell(home, server, f"test -S {home.data}/baton.sock && echo seen || echo unseen")
    assert said(step) == "unseen\n"


def test_no_environment_leaks(home):
    server = home.serve(SECRET_TOKEN="do-not-tell", OPENAI_API_KEY="do-not-tell")
    lines = said(shell(home, server, "env | sort")).splitlines()
    names = {line.split("=")[0] for line in lines}
    assert names == {"HOME", "LANG", "PATH", "PWD"} | (names & {"OLDPWD", "SHLVL", "_"})
    assert "do-not-tell" not in "".join(lines)
    tail = said(shell(home, server, "cat /proc/self/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n'"))
    assert "do-not-tell" not in tail


def test_no_descriptor_leaks(home, server):
    """stdin, stdout, stderr, the effect's lock, the sandbox's status file: nothing of the server's."""
    links = said(shell(home, server, "readlink /proc/$$/fd/* | sort"))
    assert "baton.db" not in links
    assert "socket:" not in links
    assert len(links.splitlines()) <= 6, links


def test_no_capabilities(home, server):
    step = shell(home, server, "grep -E 'CapEff|CapBnd' /proc/self/status")
    assert set(said(step).split()) == {"CapEff:", "CapBnd:", "0" * 16}


def test_stdin_is_empty(home, server):
    assert said(shell(home, server, "cat; echo end")) == "end\n"


@pytest.mark.parametrize("command, text", [
    ("exit 7", "exit status 7"), ("echo why >&2; exit 1", "exit status 1: why"),
    ("no-such-command", "exit status 127"), ("kill -9 $$", "137")])
def test_failure(home, server, command, text):
    step = shell(home, server, command)
    assert step["status"] == "failed"
    assert "tool_failed" in step["error"] and text in step["error"], step["error"]


def test_a_timeout_ends_the_whole_tree(home, server):
    marker = f"slow-{new_id()}"
    step = shell(home, server, f"trap '' TERM; (: {marker}; sleep 1000) & sleep 1000; :", timeout=0.3)
    assert step["status"] == "failed"
    assert "timeout: timed out after 0.3 seconds" in step["error"]
    wait_until_none_with(marker)


def test_what_a_command_leaves_behind_ends_with_it(home, server):
    marker = f"daemon-{new_id()}"
    step = shell(home, server, f"setsid sh -c ': {marker}; sleep 1000; :' >/dev/null 2>&1 & echo done")
    assert said(step) == "done\n"
    wait_until_none_with(marker)
    assert processes_with(marker) == []


def test_a_command_that_kills_whatever_it_can_does_not_reach_what_watches_over_it(home, server):
    marker = f"killer-{new_id()}"
    step = shell(home, server, f": {marker}; kill -9 -1; kill -9 1; kill -STOP 1; sleep 1000; :", timeout=0.5)
    assert "timed out after 0.5 seconds" in step["error"]
    wait_until_none_with(marker)


def test_signals_are_as_everywhere(home, server):
    step = shell(home, server, "grep SigIgn /proc/self/status; sh -c 'kill -INT $$' || echo $?")
    word, ignored, status = said(step).split()
    # The first 31; the C library keeps the next ones for itself, and a parent may ignore them.
    assert (word, int(ignored, 16) & 0x7FFFFFFF, status) == ("SigIgn:", 0, "130")


def test_output_over_the_limit_is_dropped_and_counted(home, server):
    more = 5000
    step = shell(home, server, f"head -c {OUTPUT_LIMIT + more} /dev/zero | tr '\\0' x")
    assert step["output"]["stdout"] == "x" * OUTPUT_LIMIT
    assert step["output"]["dropped"] == more


def test_output_up_to_the_limit_is_kept(home, server):
    step = shell(home, server, f"head -c {OUTPUT_LIMIT} /dev/zero | tr '\\0' x")
    assert len(step["output"]["stdout"]) == OUTPUT_LIMIT
    assert "dropped" not in step["output"]


def test_endless_output_does_no_harm(home, server):
    step = shell(home, server, "yes | head -c 50000000; yes | head -c 50000000 >&2")
    assert step["output"]["dropped"] == 100000000 - 2 * OUTPUT_LIMIT
    assert server.get("/api/health").status == 200


def test_binary_output_is_shown_with_replacement_characters(home, server):
    step = shell(home, server, r"printf 'a\377\376b\000c\303\244'")
    assert said(step) == "a��b\0cä"


def test_a_command_with_quotes_and_newlines(home, server):
    assert said(shell(home, server, "printf '%s\\n' \"a 'b' \\$c\"\necho \"$((1+1))\"")) == "a 'b' $c\n2\n"


def test_steps_of_a_run_share_the_workspace_one_after_the_other(home, server):
    lines = ["name: shared", "steps:"]
    for n in range(5):
        lines.append(f"  - {{name: s{n}, tool: shell, inputs: {{command: "
                     f"'test ! -e busy && touch busy && echo {n} >> log && rm busy'}}}}")
    home.define("\n".join(lines) + "\n")
    run = server.run_of("shared")
    assert server.finish(run)["status"] == "success"
    assert sorted(home.workspace(run, "log").read_text().split()) == ["0", "1", "2", "3", "4"]


def test_a_bad_input_of_the_tool(home, server):
    home.define("name: bad\nsteps: [{name: a, tool: shell, inputs: {command: ls, timeout_seconds: 0}}]\n")
    answer = server.start("bad", wait=True)
    assert answer.status == 422 or answer.body["steps"][0]["status"] == "failed"
