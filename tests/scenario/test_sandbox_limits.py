"""Limits of sandboxed commands: processes, memory, tmpfs, file size, workspace size, and what a command inherits.

The limits are small, so that a test that fails does no harm to the machine.  The test server runs with each
enforcement that this machine offers: `uid` needs root, `cgroup` needs a writable pids controller of version 1.  Where
the tests run as root, `rlimit` is tested with a server of an ordinary user."""
import functools
import os
import pathlib

import pytest
from baton import new_id, processes_with, wait_until, wait_until_dead, wait_until_none_with
from test_sandbox import said, shell

SMALL = {"BATON_SANDBOX_PROCESSES": "32", "BATON_SANDBOX_MEMORY_MB": "64", "BATON_SANDBOX_TMP_MB": "2",
         "BATON_SANDBOX_FILE_MB": "4", "BATON_SANDBOX_WORKSPACE_MB": "16"}
PIDS = pathlib.Path("/sys/fs/cgroup/pids")
ROOT = os.geteuid() == 0
USER = 64999
BOMB = "bomb() { bomb | bomb & }; while :; do bomb; done"


def has_pids_cgroup():
    """Version 1, and the tests run in its root: nothing but the test's own group changes."""
    return ROOT and os.access(PIDS / "cgroup.procs", os.W_OK) and any(
        line.endswith(":pids:/") for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())


class Cgroup:
    """A group of the pids controller in which a server runs, as if it were delegated to the server."""

    def __init__(self):
        self.folder = PIDS / f"test-{new_id()}"
        self.folder.mkdir()
        # The memory controller is hidden, so that the server makes no groups in it.
        join = f"echo $$ > {self.folder}/cgroup.procs && umount /sys/fs/cgroup/memory && exec \"$@\""
        self.under = ("unshare", "--mount", "sh", "-c", join, "sh")

    def groups(self):
        return sorted(path.name for path in self.folder.glob("baton-*"))

    def remove(self):
        for group in self.folder.glob("baton-*"):
            # The last processes of a killed server end a moment after it.
            wait_until(lambda procs=group / "cgroup.procs": procs.read_text() == "")
            group.rmdir()
        self.folder.rmdir()


@pytest.fixture
def cgroup(request):
    if not has_pids_cgroup():
        pytest.skip("needs root in the root group of a pids controller of version 1")
    made = Cgroup()
    # The servers end first: the fixture `home` is requested later.
    yield made
    made.remove()


@pytest.fixture(params=["uid", "cgroup", "rlimit"] if ROOT else ["rlimit"])
def limited(request):
    """Starts servers with small limits, under one enforcement of the limit of processes."""
    under = request.getfixturevalue("cgroup").under if request.param == "cgroup" else ()
    home = request.getfixturevalue("home")
    if ROOT and request.param == "rlimit":
        under = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups")
        for folder, _, files in os.walk(home.path):
            for path in [folder, *(os.path.join(folder, file) for file in files)]:
                os.chown(path, USER, USER)
    home.serve_limited = functools.partial(home.serve, under=under, BATON_SANDBOX_LIMITS=request.param, **SMALL)
    server = home.serve_limited()
    yield home, server
    server.kill()


def failed(step, *words):
    assert step["status"] == "failed", step
    for word in words:
        assert word in step["error"], step["error"]


def test_the_log_says_how_limits_are_enforced(limited):
    _, server = limited
    assert "limits of sandboxed commands: processes" in server.errors()
    assert "only checked at intervals" not in server.errors()


def test_a_fork_bomb_is_a_failed_step(limited):
    """The server answers, another step runs at the same time, and no process remains."""
    home, server = limited
    marker = f"bomb-{new_id()}"
    home.define("name: other\nsteps: [{name: a, tool: shell, inputs: {command: 'echo fine'}}]\n")
    home.define(f"name: bomb\nsteps: [{{name: a, tool: shell, inputs: {{command: ': {marker}; {BOMB}'}}}}]\n")
    bomb = server.run_of("bomb")
    assert server.start("other", wait=True).body["steps"][0]["output"]["stdout"] == "fine\n"
    failed(server.finish(bomb)["steps"][0], "32 processes and threads (sandbox.processes)")
    assert server.get("/health/live").status == 200
    wait_until_none_with(marker)


def test_threads_count_as_processes(limited):
    program = "import threading, time; threading.stack_size(65536); " \
              "[threading.Thread(target=time.sleep, args=(600,)).start() for _ in range(99)]"
    failed(shell(*limited, f'/usr/bin/python3 -c "{program}"; sleep 600'), "sandbox_limit", "sandbox.processes")


def test_processes_below_the_limit_are_allowed(limited):
    assert said(shell(*limited, "for i in $(seq 20); do sleep 0.6 & done; wait; echo end")) == "end\n"


def test_one_large_allocation_fails(limited):
    step = shell(*limited, "/usr/bin/python3 -c 'bytearray(10 * 1024 ** 3)'")
    failed(step, "sandbox.memory_mb", "64 MB")


def test_memory_of_all_processes_is_summed(limited):
    """Each process stays below the limit; together they exceed it."""
    each = "/usr/bin/python3 -c 'import time; a = bytearray(30 * 1024 ** 2); time.sleep(600)' & "
    failed(shell(*limited, each * 4 + "wait"), "sandbox_limit", "64 MB of memory (sandbox.memory_mb)")


def test_shared_memory_counts(limited):
    program = ("import mmap; m = mmap.mmap(-1, 200 * 1024 ** 2);\n"
               "for at in range(0, len(m), 4096): m[at] = 1\n"
               "import time; time.sleep(600)")
    home, server = limited
    home.define("name: share\ninputs: {program: {type: string}}\n"
                "steps: [{name: a, tool: shell, inputs: {command: 'exec /usr/bin/python3 -c \"${inputs.program}\"'}}]\n")
    answer = server.start("share", {"program": program}, wait=True)
    failed(answer.body["steps"][0], "sandbox_limit", "sandbox.memory_mb")


def test_memory_that_processes_share_counts_once(limited):
    """A forked child shares its parent's pages: eight of them need no more than one."""
    program = ("import os, time\na = bytearray(30 * 1024 ** 2)\n"
               "for _ in range(8):\n  if os.fork() == 0: time.sleep(1); os._exit(0)\n"
               "for _ in range(8): os.wait()\nprint(len(a))")
    home, server = limited
    home.define("name: fork\ninputs: {program: {type: string}}\n"
                "steps: [{name: a, tool: shell, inputs: {command: '/usr/bin/python3 -c \"${inputs.program}\"'}}]\n")
    answer = server.start("fork", {"program": program}, wait=True)
    assert said(answer.body["steps"][0]) == f"{30 * 1024 ** 2}\n"


def test_a_disk_filler_is_a_failed_step(limited):
    """Many files below the limit of a file."""
    filler = "n=0; while :; do head -c 1048576 /dev/zero > f$n; n=$((n+1)); [ $n -lt 200 ] || sleep 600; done"
    failed(shell(*limited, filler), "sandbox_limit", "16 MB (sandbox.workspace_mb)")
    assert limited[1].get("/health/live").status == 200


def test_folders_nested_too_deep_end_the_command(limited):
    program = "import os, time; [(os.mkdir('d'), os.chdir('d')) for _ in range(300)]; time.sleep(600)"
    failed(shell(*limited, f'/usr/bin/python3 -c "{program}"'), "sandbox_limit", "256 levels")


@pytest.mark.parametrize("command", ["head -c 9000000 /dev/zero > big", "truncate -s 1T big",
                                     "/usr/bin/python3 -c \"open('big', 'wb').write(b'x' * 9000000)\""])
def test_a_large_file_fails(limited, command):
    failed(shell(*limited, command), "4 MB (sandbox.file_mb)")


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_tmpfs_is_bounded(limited, folder):
    failed(shell(*limited, f"head -c 3000000 /dev/zero > {folder}/big"), "2 MB each (sandbox.tmp_mb)")
    assert said(shell(*limited, f"head -c 1000000 /dev/zero > {folder}/small && echo kept")) == "kept\n"


def test_nothing_else_of_dev_is_writable(limited):
    assert said(shell(*limited, "touch /dev/x 2>/dev/null && echo written; echo ok >/dev/null && echo ok")) == "ok\n"


def test_no_user_namespace_inside(limited):
    """It would allow a tmpfs without a bound."""
    failed(shell(*limited, "unshare --user --map-root-user --mount mount -t tmpfs none /workspace"), "unshare")


def test_the_kernel_ends_a_sandboxed_process_before_the_server(limited):
    _, server = limited
    assert said(shell(*limited, "cat /proc/self/oom_score_adj")) == "500\n"
    assert int(pathlib.Path(f"/proc/{server.pid}/oom_score_adj").read_text()) < 500


def test_no_core_files(limited):
    assert said(shell(*limited, "ulimit -c")) == "0\n"


def test_a_command_inherits_only_its_lock_and_cannot_write_to_the_data_folder(limited):
    """The lock is a FIFO: what is written to it never reaches the disk."""
    home, server = limited
    links = said(shell(home, server, "for fd in /proc/$$/fd/*; do readlink $fd; done; true"))
    kept = [link for link in links.split() if not link.startswith(("pipe:", "/dev/null", "/proc"))]
    assert len(kept) <= 1 and all(link.startswith(f"{home.data}/locks/") for link in kept), links
    attack = ("for fd in /proc/*/fd/*; do [ -f $fd ] && (head -c 100000 /dev/zero > $fd) 2>/dev/null; done; "
              "sleep 1; ls -l /proc/*/fd/ >/dev/null 2>&1; true")
    said(shell(home, server, attack))
    assert all(path.stat().st_size == 0 for path in pathlib.Path(home.data, "locks").iterdir())
    status, output, errors = home.cli("db", "check")
    assert status == 0, output + errors


def test_a_command_cannot_keep_itself_alive(limited):
    """It stops the process that watches the lifeline, and tries to hold the lifeline's other end.  A cancel ends it, and
    so does the server that follows a killed one."""
    home, server = limited
    marker = f"alive-{new_id()}"
    home.define("name: alive\nsteps: [{name: a, tool: shell, inputs: {command: '"
                f": {marker}; for fd in /proc/1/fd/*; do (exec 9>$fd; sleep 1000) 2>/dev/null & done; "
                "cd /proc; for pid in [0-9]*; do [ $pid = $$ ] || kill -STOP $pid; done 2>/dev/null; "
                "touch /workspace/ready; sleep 1000'}}]\n")
    run = server.run_of("alive")
    wait_until(home.workspace(run, "ready").exists)
    left = [os.pidfd_open(pid) for pid in processes_with(marker)]
    assert left
    server.popen.kill()
    server.wait()
    server = home.serve_limited(BATON_POINTS="tool.leftover_ms=limit@1")
    for process in left:
        wait_until_dead(process, "a process of the command")
    wait_until(lambda: server.types(run).count("tool.restarted") == 1 and home.workspace(run, "ready").exists())
    assert server.tell(run, "cancel").status == 200
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    wait_until_none_with(marker)


def test_files_of_every_step_belong_to_the_command(limited):
    """What a tool of the server wrote, a command can change, and the other way round."""
    home, server = limited
    home.define("""
name: files
steps:
  - {name: a, tool: write_file, inputs: {path: one/file, content: "1"}}
  - {name: b, tool: shell, inputs: {command: 'echo 2 >> one/file; mkdir two; echo 3 > two/file; chmod 600 two/file'}}
  - {name: c, tool: write_file, inputs: {path: two/file, content: "4"}}
  - {name: d, tool: shell, inputs: {command: 'cat one/file two/file; rm -r one two'}}
""")
    answer = server.start("files", wait=True)
    assert answer.body["status"] == "success", answer.body
    assert answer.body["steps"][-1]["output"]["stdout"] == "12\n4"


def test_private_files_are_stored_restored_and_merged(limited):
    """Whoever the command runs as: its trees are taken, a killed server finds the one before the interrupted step, and
    branches are merged."""
    home, server = limited
    home.define("""
name: private
steps:
  - {name: before, tool: shell, inputs: {command: 'umask 077; echo go > .gitignore; mkdir d; echo before > d/log'}}
  - {name: during, tool: shell, depends_on: [before], inputs: {command: 'echo during >> d/log; touch ready; [ -e go ] || sleep 1000'}}
  - name: both
    depends_on: [during]
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: 'umask 077; echo 1 > d/one'}}
        - {name: two, tool: shell, inputs: {command: 'umask 077; echo 2 > d/two'}}
  - {name: after, tool: shell, depends_on: [both], inputs: {command: 'cat d/log d/one d/two'}}
outputs: {all: {from: '${steps.after.outputs.stdout}'}}
""")
    run = server.run_of("private")
    wait_until(home.workspace(run, "ready").exists)
    server.kill()
    home.workspace(run, "go").write_text("")  # an ignored file is not touched
    server = home.serve_limited()
    result = server.finish(run)
    assert result["outputs"] == {"all": "before\nduring\n1\n2\n"}, result
    assert "tool.restarted" in server.types(run) and "human.requested" not in server.types(run)


def test_groups_are_removed(home, cgroup):
    server = home.serve(under=cgroup.under, BATON_SANDBOX_LIMITS="cgroup", **SMALL)
    assert said(shell(home, server, "echo fine")) == "fine\n"
    wait_until(lambda: cgroup.groups() == [])
    server.kill()


def test_groups_of_a_dead_server_are_removed(home, cgroup):
    home.define("name: slow\nsteps: [{name: a, tool: shell, inputs: {command: 'touch ready; sleep 1000'}}]\n")
    server = home.serve(under=cgroup.under, BATON_SANDBOX_LIMITS="cgroup", **SMALL)
    run = server.run_of("slow")
    wait_until(home.workspace(run, "ready").exists)
    left = cgroup.groups()
    assert len(left) == 1
    server.kill()
    again = home.serve(under=cgroup.under, BATON_SANDBOX_LIMITS="cgroup", **SMALL)
    wait_until(lambda: left[0] not in cgroup.groups())
    again.tell(run, "cancel")
    again.finish(run)
    again.kill()


@pytest.mark.skipif(not ROOT, reason="RLIMIT_NPROC binds every user but root")
def test_log_and_doctor_say_what_is_not_enforced(home):
    server = home.serve(BATON_SANDBOX_LIMITS="rlimit")
    assert "RLIMIT_NPROC does not bind root" in server.errors()
    server.kill()
    _, text, _ = home.cli("doctor", BATON_SANDBOX_LIMITS="rlimit")
    assert "RLIMIT_NPROC does not bind root" in text
    _, text, _ = home.cli("doctor", BATON_SANDBOX_LIMITS="uid")
    assert "processes by RLIMIT_NPROC as user 65533" in text and "does not bind" not in text


def test_bad_settings_are_refused(home):
    status, _, errors = home.cli("config", "set", "sandbox.limits", "magic")
    assert status == 2 and "auto" in errors
    status, _, errors = home.cli("config", "set", "sandbox.memory_mb", "1")
    assert status == 2 and "sandbox.memory_mb" in errors
