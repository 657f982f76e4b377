"""No child process has anything of the server's environment: shell, custom tools of each kind, git."""
import pathlib
import threading

import pytest
from baton import descendants, new_id
from test_custom_tools import output, put, run, trust
from test_sandbox import said, shell

CANARY = f"canary-{new_id()}"
KEYS = {"OPENAI_API_KEY": CANARY, "ANTHROPIC_API_KEY": CANARY, "BATON_API_KEY": CANARY, "SECRET_TOKEN": CANARY, "AWS_SECRET_ACCESS_KEY": CANARY}


@pytest.fixture(params=["native", "off"])
def server(home, request):
    return home.serve(BATON_TOOLS_ISOLATION=request.param, **KEYS)


def test_shell(home, server):
    assert CANARY not in said(shell(home, server, "env; cat /proc/self/environ /proc/$PPID/environ 2>/dev/null; true"))


TOOLS = {
    "program": ("command: [look]\n", {"look": "#!/bin/sh\ncat >/dev/null\nprintf '\"%s\"' \"$(env | tr '\\n' ' ' | tr -d '\"\\\\')\"\n"}),
    "python": ("path: look.py\nfunction: look\n", {"look__py": "import os\ndef look(): return dict(os.environ)\n"}),
    "node": ("path: look.js\nfunction: look\n", {"look__js": "exports.look = () => process.env;\n"}),
    "kept": ("path: look.py\nfunction: look\nkeep_alive: true\n", {"look__py": "import os\ndef look(): return dict(os.environ)\n"}),
}


@pytest.mark.parametrize("kind", TOOLS)
def test_custom_tools(home, server, kind):
    yaml, files = TOOLS[kind]
    put(home, "look", yaml, **files)
    trust(server, "look")
    found = str(output(run(home, server, "look", "{}")))
    assert "LANG" in found and CANARY not in found and "API_KEY" not in found


def environments(pid, seen, stop):
    """Collects what the kernel shows of every process below the server, until told to stop."""
    while not stop.is_set():
        for child in descendants(pid):
            try:
                name = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
                seen.setdefault(name, set()).add(CANARY in pathlib.Path(f"/proc/{child}/environ").read_text(errors="replace"))
            except OSError:
                continue


def test_git_and_everything_else_below_the_server(home):
    """Between fork and exec a child is still a copy of the server, and is called like it."""
    server = home.serve(**KEYS)
    seen, stop = {}, threading.Event()
    watcher = threading.Thread(target=environments, args=(server.pid, seen, stop))
    watcher.start()
    try:
        lines = ["name: many", "steps:"]
        for n in range(6):
            lines.append(f"  - {{name: s{n}, tool: shell, inputs: {{command: 'for i in $(seq 300); do echo {n} > f{n}-$i; done'}}}}")
        home.define("\n".join(lines) + "\n")
        many = server.run_of("many")
        assert server.finish(many)["status"] == "success"
    finally:
        stop.set()
        watcher.join()
    own = pathlib.Path(f"/proc/{server.pid}/comm").read_text().strip()
    assert {name for name, leaks in seen.items() if True in leaks} <= {own}, seen
    assert "bwrap" in seen and "baton-keeper" in seen
