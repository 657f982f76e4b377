"""The walls behind the mounts: seccomp and Landlock, what they deny, what goes on working, and what a missing one means."""
import json
import os
import subprocess

import pytest
from baton import new_id
from test_sandbox import SHELL, said, shell

CALLS = """
import ctypes, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(one) for one in arguments])
    return 0 if result >= 0 else ctypes.get_errno()
"""
EPERM, ENOSYS, EACCES, EROFS, EAFNOSUPPORT = 1, 38, 13, 30, 97
X86 = os.uname().machine == "x86_64"


def python(home, server, script, **inputs):
    """What a script prints in the sandbox, as JSON."""
    home.define(SHELL)
    command = f"/usr/bin/python3 - <<'END'\n{CALLS}{script}\nEND\n"
    return json.loads(said(shell(home, server, command, **inputs)))


@pytest.mark.skipif(not X86, reason="numbers of x86_64")
def test_denied_system_calls(home, server):
    numbers = {"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "ptrace": 101, "process_vm_readv": 310, "bpf": 321,
               "perf_event_open": 298, "userfaultfd": 323, "add_key": 248, "request_key": 249, "keyctl": 250,
               "io_uring_setup": 425, "open_by_handle_at": 304, "init_module": 175, "finit_module": 313, "swapon": 167,
               "kexec_load": 246, "setns": 308, "fsopen": 430, "pidfd_getfd": 438, "iopl": 172, "syslog": 103}
    # reboot() is not tried: should the filter be missing, the machine would be gone
    found = python(home, server, f"print(json.dumps({{name: call(number, 0, 0, 0, 0, 0) for name, number in {numbers}.items()}}))")
    assert found == dict.fromkeys(numbers, EPERM)


@pytest.mark.skipif(not X86, reason="numbers of x86_64")
def test_new_namespaces_are_refused_and_threads_are_not(home, server):
    script = """
import threading
flags = {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000, "uts": 0x4000000, "ipc": 0x8000000, "cgroup": 0x2000000}
found = {name: call(272, flag) for name, flag in flags.items()}
found["clone"] = call(56, 0x10000000 | 17, 0, 0, 0, 0)
found["clone3"] = call(435, 0, 0)
done = []
thread = threading.Thread(target=lambda: done.append(1)); thread.start(); thread.join()
found["threads"] = len(done)
print(json.dumps(found))"""
    found = python(home, server, script)
    assert found.pop("clone3") == ENOSYS and found.pop("threads") == 1
    assert set(found.values()) == {EPERM}, found


def test_sockets(home, server):
    script = """
def made(*arguments):
    try:
        socket.socket(*arguments).close()
        return 0
    except OSError as error:
        return error.errno
print(json.dumps({"unix": made(1, 1), "inet": made(2, 1), "inet6": made(10, 1), "route": made(16, 3, 0), "audit": made(16, 3, 9),
                  "raw": made(2, 3, 1), "packet": made(17, 3), "vsock": made(40, 1), "alg": made(38, 5), "bluetooth": made(31, 1)}))"""
    found = python(home, server, script)
    assert [name for name, error in found.items() if error == 0] == ["unix", "inet", "inet6", "route"], found
    assert (found["audit"], found["raw"], found["packet"]) == (EPERM, EPERM, EAFNOSUPPORT)


def test_input_for_a_terminal_is_refused(home, server):
    script = """
import fcntl, pty
master, slave = pty.openpty()
def control(request):
    try:
        fcntl.ioctl(slave, request, b"x")
        return 0
    except OSError as error:
        return error.errno
print(json.dumps([control(0x5412), control(0x541C), os.isatty(slave)]))"""
    assert python(home, server, script) == [EPERM, EPERM, True]


@pytest.mark.skipif(not X86, reason="32-bit calls exist there")
def test_calls_of_another_architecture_are_refused(home, server):
    """mount() as x32 would have another number, which no list of this architecture contains."""
    assert python(home, server, "print(json.dumps([call(0x40000000 | 165, 0, 0, 0, 0, 0), call(0x40000000 | 39)]))") == [ENOSYS, ENOSYS]


def test_every_process_has_both_walls(home, server):
    lines = said(shell(home, server, "cat /proc/self/status | grep -E '^(NoNewPrivs|Seccomp|Seccomp_filters):'")).split()
    assert dict(zip(lines[::2], lines[1::2])) == {"NoNewPrivs:": "1", "Seccomp:": "2", "Seccomp_filters:": "1"}


def test_landlock_holds_where_a_mount_would_not(home, server):
    """The kernel's own files have no mount in front of them, and the command owns some of them."""
    script = """
def opened(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return 0
    except OSError as error:
        return error.errno
print(json.dumps([opened("/proc/self/comm"), opened("/dev/null"), opened("/proc/self/fd/1")]))"""
    assert python(home, server, script) == [EACCES, 0, 0]
    server.end()
    assert python(home, home.serve(BATON_SANDBOX_LANDLOCK="off"), script) == [0, 0, 0]


def test_files_move_between_folders_and_devices_cannot_be_made(home, server):
    script = """
os.makedirs("a"); os.makedirs("b"); open("a/f", "w").close(); os.rename("a/f", "b/f"); os.link("b/f", "a/g"); os.symlink("g", "a/h")
os.mkfifo("a/p"); s = socket.socket(socket.AF_UNIX); s.bind("a/s"); os.truncate("b/f", 9)
try:
    os.mknod("a/device", 0o20666, os.makedev(1, 3)); made = "made"
except OSError as error:
    made = error.errno
print(json.dumps([sorted(os.listdir("a")), os.listdir("b"), made]))"""
    assert python(home, server, script)[:2] == [["g", "h", "p", "s"], ["f"]]
    assert python(home, server, script)[2] in (EPERM, EACCES)


TOOLCHAINS = {
    "python": "/usr/bin/python3 -m venv --without-pip v && v/bin/python -c 'import multiprocessing as m; p = m.get_context(\"fork\").Pool(2); print(sum(p.map(abs, [-1, 2])))'",
    "node": "node -e 'new (require(\"worker_threads\").Worker)(\"require(\\\"fs\\\").writeFileSync(\\\"w\\\", \\\"3\\\")\", {eval: true}).on(\"exit\", () => console.log(require(\"fs\").readFileSync(\"w\", \"utf8\")))'",
    "gcc and make": "printf '#include <stdio.h>\\nint main(void) { puts(\"3\"); }\\n' > a.c && printf 'a: a.c\\n\\t@gcc -O2 -pthread -o a a.c\\n' > Makefile && make -j2 && ./a",
    "git": "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 3 && git gc -q && git log --format=%s",
    "shell": "mkfifo p; (echo 3 > p) & cat < p; wait; find . -name p -newer /dev/null > /dev/null; true",
}


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_toolchains_work_behind_the_walls(home, server, name):
    assert said(shell(home, server, TOOLCHAINS[name])).strip() == "3"


@pytest.mark.parametrize("layer", ["seccomp", "landlock"])
def test_a_wall_can_be_left_out_and_the_log_says_so(home, layer):
    server = home.serve(**{f"BATON_SANDBOX_{layer.upper()}": "off"})
    assert "3" in said(shell(home, server, "echo 3"))
    status, output, _ = home.cli("doctor", "--json", **{f"BATON_SANDBOX_{layer.upper()}": "off"})
    found = [one for one in json.loads(output)["findings"] if one["check"] == "walls"]
    assert [one["result"] for one in found] == ["warn"] and f"sandbox.{layer} is off" in found[0]["text"]
    server.end()
    assert f"walls of the sandbox: sandbox.{layer} is off" in server.errors()


def test_what_is_required_and_there_is_used(home):
    server = home.serve(BATON_SANDBOX_SECCOMP="required", BATON_SANDBOX_LANDLOCK="required")
    assert said(shell(home, server, "echo 3")) == "3\n"


def test_the_keeper_cannot_be_read_or_changed_from_inside(home, server):
    step = shell(home, server, "ls /proc/1/fd 2>&1; cat /proc/1/environ 2>&1; (echo x > /proc/1/exe) 2>&1; cat /proc/1/comm")
    text = said(step)
    assert text.count("Permission denied") >= 2 and text.endswith("baton-keeper\n"), text


def test_a_descriptor_of_the_keeper_is_not_inherited(home, server):
    links = said(shell(home, server, "for f in /proc/$$/fd/*; do readlink $f; done; true"))
    assert "keeper" not in links and "sandbox-status" not in links and "socket" not in links, links


def test_processes_of_the_same_user_cannot_read_the_server(home):
    """Its memory and its environment have the API keys."""
    user, canary = 64123, f"canary-{new_id()}"
    become = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]
    for path in (home.path, home.data):
        os.chown(path, user, user)
    server = home.serve(under=become, OPENAI_API_KEY=canary)
    read = subprocess.run([*become, "cat", f"/proc/{server.pid}/environ", f"/proc/{server.pid}/maps"], capture_output=True,
                          text=True, check=False)
    assert read.stdout == "" and read.stderr.count("Permission denied") == 2, read
    assert os.stat(f"/proc/{server.pid}/environ").st_uid == 0


# Runs a program under a filter that answers some system calls with ENOSYS, as an older kernel does.
OLDER = """
import ctypes, os, struct, sys
numbers = [int(word) for word in sys.argv[1].split(",")]
steps = [(0x20, 0, 0, 0)]
for number in numbers:
    steps += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 38)]
steps.append((0x06, 0, 0, 0x7fff0000))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execvp(sys.argv[2], sys.argv[2:])
"""
LACKS = {"landlock": "444", "seccomp": "317"}


@pytest.mark.skipif(not X86, reason="numbers of x86_64")
@pytest.mark.parametrize("layer", LACKS)
def test_a_kernel_without_it(home, layer):
    """auto runs without it and says so; required runs nothing."""
    under = ("/usr/bin/python3", "-c", OLDER, LACKS[layer])
    server = home.serve(under=under)
    assert said(shell(home, server, "echo 3")) == "3\n"
    assert f"walls of the sandbox: {layer} is missing" in server.errors()
    server.end()
    server = home.serve(under=under, **{f"BATON_SANDBOX_{layer.upper()}": "required"})
    step = shell(home, server, "echo 3 > file")
    assert step["status"] == "failed" and "isolation" in step["error"] and f"sandbox.{layer} is required" in step["error"]
    assert f"sandboxed commands are refused: sandbox.{layer} is required" in server.errors()
    assert server.get("/api/health").status == 200
