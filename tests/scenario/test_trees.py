"""Workspaces, their trees, and the children that make them."""
import os
import signal

import pytest

from baton import new_id, wait_until

# The step waits for a word of ours.  git leaves a fifo alone, so it survives snapshots and restores.
HELD = """
name: held
steps:
  - name: during
    tool: shell
    inputs: {command: "echo during >> log.txt; read -r word < gate; echo $word >> log.txt; cat log.txt"}
outputs:
  log: {from: "${steps.during.outputs.stdout}"}
"""


def open_gates(home, runs):
    """Opens every gate for good: a writer that never closes, and a word for whoever reads."""
    writers = []
    for run in runs:
        writer = os.open(home.workspace(run, "gate"), os.O_RDWR | os.O_NONBLOCK)
        os.write(writer, b"go\n" * 4)
        writers.append(writer)
    return writers


def test_150_runs_and_one_kill_ask_no_person(home):
    """The first server has a place for every child, so 150 calls are open when it is killed.  The
    second one has 64 for their restores and repetitions: the others wait, and none fails."""
    home.define(HELD)
    server = home.serve(BATON_POINTS="process.children=limit@1000")
    runs = [new_id() for _ in range(150)]
    for run in runs:
        os.makedirs(home.workspace(run))
        os.mkfifo(home.workspace(run, "gate"))
        assert server.start("held", run_id=run).status == 202
    wait_until(lambda: all(open_step(server, run) == "during" for run in runs))
    assert server.kill() == -signal.SIGKILL

    server = home.serve()
    writers = open_gates(home, runs)
    for run in runs:
        result = server.finish(run)
        assert (result["status"], result["outputs"]) == ("success", {"log": "during\ngo\n"})
        types = server.types(run)
        assert "human.requested" not in types
        assert types.count("tool.restarted") == 1
    assert server.inbox() == []
    for writer in writers:
        os.close(writer)


def open_step(server, run):
    requested = [e["data"]["step"] for e in server.events(run) if e["type"] == "tool.requested"]
    return requested[-1] if requested else None


# ---- snapshots -------------------------------------------------------------------------------

# While the first step waits for a word of ours, we make a file that no sandboxed command may make.
SPARSE = """
name: sparse
steps:
  - {name: make, tool: shell, inputs: {command: "read -r word < gate"}}
  - {name: after, tool: shell, depends_on: [make], inputs: {command: "echo after"}}
"""


def finish_with_a_terabyte(home, server, ignored):
    home.define(SPARSE)
    run = new_id()
    gate = home.fifo(run, "gate")
    server.start("sparse", run_id=run)
    server.until(run, "tool.requested")
    with open(home.workspace(run, "huge"), "wb") as huge:
        huge.truncate(1 << 40)
    if ignored:
        home.workspace(run, ".gitignore").write_text("huge\n")
    gate.send()
    return run, server.finish(run)


def test_a_sparse_file_of_a_terabyte_fails_the_next_step(home, server):
    run, result = finish_with_a_terabyte(home, server, ignored=False)
    assert result["status"] == "failed"
    assert server.steps(run)["make"]["state"] == "succeeded"
    [fault] = [e["data"]["fault"] for e in server.events(run) if e["type"] == "tool.finished" and "fault" in e["data"]]
    assert fault["code"] == "too_large"
    assert "1 files with 1099511627776 bytes" in fault["text"] and ".gitignore" in fault["text"]


def test_too_many_files_fail_the_next_step(home, server):
    name = home.define("""
name: many
steps:
  - {name: make, tool: shell, inputs: {command: "seq 100001 | xargs touch"}}
  - {name: after, tool: shell, depends_on: [make], inputs: {command: "echo never"}}
""")
    result = server.start(name, wait=True).body
    assert result["status"] == "failed" and "100001 files" in result["error"]


def test_ignored_files_count_towards_no_limit(home, server):
    run, _ = finish_with_a_terabyte(home, server, ignored=True)
    faults = [e["data"]["fault"]["code"] for e in server.events(run) if e["type"] == "tool.finished" and "fault" in e["data"]]
    assert "too_large" not in faults


# The first step is computed in process; the snapshot for the second one finds no place, because the
# only one is taken by another run.
WAITING = """
name: waiting
steps:
  - {name: first, tool: echo, inputs: {x: 1}}
  - {name: second, tool: shell, depends_on: [first], timeout: TIMEOUT, inputs: {command: "echo two"}}
"""


def hold_the_only_place(home):
    server = home.serve(BATON_POINTS="process.children=limit@1")
    home.define(HELD)
    holder = new_id()
    gate = home.fifo(holder, "gate")
    server.start("held", run_id=holder)
    wait_until(lambda: open_step(server, holder) == "during")
    return server, holder, gate


def test_a_snapshot_delays_neither_pause_nor_cancel(home):
    server, holder, gate = hold_the_only_place(home)
    run = server.run_of(home.define(WAITING.replace("TIMEOUT", "600")))
    wait_until(lambda: "step.computed" in server.types(run))  # committed before the snapshot is taken
    assert server.tell(run, "pause").status == 200
    assert server.types(run)[-1] == "run.paused"
    assert server.tell(run, "resume").status == 200
    assert server.tell(run, "cancel").status == 200
    assert server.finish(run)["metadata"]["state"] == "cancelled"
    assert "tool.requested" not in server.types(run)
    gate.send()
    assert server.finish(holder)["status"] == "success"


def test_a_snapshot_counts_towards_the_timeout_of_its_step(home):
    server, holder, gate = hold_the_only_place(home)
    run = server.run_of(home.define(WAITING.replace("TIMEOUT", "0.3")))
    assert server.finish(run)["status"] == "failed"
    [fault] = [e["data"]["fault"] for e in server.events(run) if e["type"] == "tool.finished"]
    assert fault["code"] == "timeout"
    gate.send()
    assert server.finish(holder)["status"] == "success"


def test_a_snapshot_has_a_deadline_of_its_own(home):
    """The tree of the held step is taken by the server before, without this deadline; its command then has the only place."""
    server = home.serve()
    home.define(HELD)
    holder = new_id()
    home.fifo(holder, "gate")
    server.start("held", run_id=holder)
    wait_until(lambda: open_step(server, holder) == "during")
    server.kill()
    server = home.serve(BATON_POINTS="process.children=limit@1;workspace.snapshot_ms=limit@200")
    server.until(holder, "tool.restarted")
    run = server.run_of(home.define(WAITING.replace("TIMEOUT", "600")))
    assert server.finish(run)["status"] == "failed"
    [fault] = [e["data"]["fault"] for e in server.events(run) if e["type"] == "tool.finished"]
    assert fault["code"] == "timeout"
    assert server.tell(holder, "cancel").status == 200
    server.finish(holder)


def test_a_crash_while_a_snapshot_is_taken_loses_nothing(home):
    server, holder, gate = hold_the_only_place(home)
    run = server.run_of(home.define(WAITING.replace("TIMEOUT", "600")))
    wait_until(lambda: "step.computed" in server.types(run))
    server.kill()
    server = home.serve()
    assert server.finish(run)["status"] == "success"
    assert server.types(run).count("tool.requested") == 1 and "tool.restarted" not in server.types(run)
    gate.send()
    assert server.finish(holder)["status"] == "success"


# ---- branches with folders of their own --------------------------------------------------------

THREE = """
name: three
steps:
  - {name: before, tool: shell, inputs: {command: "printf 'a\\nb\\nc\\nd\\ne\\nf\\ng\\n' > text; echo old > gone; printf 'cache\\ngo\\n' > .gitignore; echo kept > cache"}}
  - name: p
    depends_on: [before]
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: "until [ -e go ]; do sleep 0.02; done; sed -i s/a/A/ text; echo 1 > one; cat cache; cat two || true"}}
        - {name: two, tool: shell, inputs: {command: "until [ -e go ]; do sleep 0.02; done; sed -i s/g/G/ text; echo 2 > two; chmod +x two"}}
        - {name: three, tool: shell, inputs: {command: "until [ -e go ]; do sleep 0.02; done; rm gone; mkdir empty"}}
  - {name: after, tool: shell, depends_on: [p], inputs: {command: "cat text one two; ls; test -x two; test -d empty; test ! -e gone"}}
outputs:
  cache: {from: "${steps.p.outputs.one.stdout}"}
  after: {from: "${steps.after.outputs.stdout}"}
"""


def let_go(home, server, run, calls):
    """Once so many tools were requested, the steps that wait for a file `go` find it in their folders."""
    wait_until(lambda: server.types(run).count("tool.requested") == calls)
    for folder in [home.workspace(run), *home.branch_files(run, "")]:
        (folder / "go").write_text("")


def before_any_end(events, steps):
    """All these steps were requested before one of them was finished."""
    kinds = [(e["type"], e["data"].get("step")) for e in events]
    first_end = min(kinds.index(("tool.finished", step)) for step in steps)
    return all(kinds.index(("tool.requested", step)) < first_end for step in steps)


def test_branches_overlap_and_their_files_are_merged(home, server):
    run = server.run_of(home.define(THREE))
    let_go(home, server, run, 4)
    result = server.finish(run)
    assert result["status"] == "success", result
    assert result["outputs"]["cache"] == "kept\n"  # ignored files are copied; others' files are not seen
    assert result["outputs"]["after"].startswith("A\nb\nc\nd\ne\nf\nG\n1\n2\n")
    events = server.events(run)
    assert before_any_end(events, ["p/one", "p/two", "p/three"])
    assert [e["data"]["folder"] for e in events if e["type"] == "tool.requested" and "folder" in e["data"]].count("p/one") == 1
    assert sorted(e["data"]["branch"] for e in events if e["type"] == "branch.ended") == ["p/one", "p/three", "p/two"]
    wait_until(lambda: not os.path.exists(str(home.workspace(run)) + ".branches"))


TURNED = """
name: turned
steps:
  - {name: before, tool: shell, inputs: {command: "echo 1 > file; mkdir folder; echo 2 > folder/a; ln -s file link"}}
  - name: p
    depends_on: [before]
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: "rm file; mkdir file; echo x > file/x; rm -r folder; echo y > folder; rm link; mkdir link; echo z > link/z"}}
        - {name: two, tool: shell, inputs: {command: "echo b > b; echo odd > git~1"}}
        - {name: three, tool: shell, inputs: {command: "echo c > c"}}
  - {name: after, tool: shell, depends_on: [p], inputs: {command: "cat file/x folder link/z b c git~1"}}
outputs: {all: {from: "${steps.after.outputs.stdout}"}}
"""


def test_a_file_that_became_a_folder_in_one_branch_is_no_conflict(home, server):
    """Nor is a folder that became a file, nor a name that is special on other systems."""
    result = server.finish(server.run_of(home.define(TURNED)))
    assert (result["status"], result["outputs"]) == ("success", {"all": "x\ny\nz\nb\nc\nodd\n"}), result


def test_a_file_that_one_branch_changed_and_another_made_a_folder_is_a_conflict(home, server):
    result = server.finish(server.run_of(home.define(TURNED.replace("echo b > b;", "echo b > file;"))))
    assert result["status"] == "failed" and "file (p/one, p/two)" in result["error"], result


CONFLICT = """
name: conflict
steps:
  - {name: before, tool: shell, inputs: {command: "echo a > text; head -c 300 /dev/urandom > bytes; echo x > changed"}}
  - name: p
    depends_on: [before]
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: "echo b > text; head -c 300 /dev/urandom > bytes; rm changed; echo same > same; echo 1 > only"}}
        - {name: two, tool: shell, inputs: {command: "echo c > text; head -c 300 /dev/urandom > bytes; echo y > changed; echo same > same"}}
"""


def test_a_conflict_fails_the_container_and_names_steps_and_files(home, server):
    run = server.run_of(home.define(CONFLICT))
    result = server.finish(run)
    assert result["status"] == "failed"
    [left] = [e["data"] for e in server.events(run) if e["type"] == "step.left"]
    assert left["fault"]["code"] == "conflict"
    for file in ("text", "bytes", "changed"):
        assert f"{file} (p/one, p/two)" in left["fault"]["text"]
    assert "same (" not in left["fault"]["text"] and "only (" not in left["fault"]["text"]
    # The folder is left at the tree before.
    assert home.workspace(run, "text").read_text() == "a\n" and not home.workspace(run, "only").exists()


NESTED = """
name: nested
steps:
  - name: m
    map:
      over: [1, 2, 3]
      as: n
      steps:
        - {name: make, tool: shell, inputs: {command: "echo ${n} > item-${n}"}}
        - name: inner
          depends_on: [make]
          parallel:
            steps:
              - {name: a, tool: shell, inputs: {command: "cat item-${n} > a-${n}"}}
              - {name: b, tool: shell, inputs: {command: "cat item-${n} > b-${n}"}}
  - {name: after, tool: shell, depends_on: [m], inputs: {command: "cat item-* a-* b-* | tr -d '\\\\n'"}}
outputs:
  all: {from: "${steps.after.outputs.stdout}"}
"""


def test_items_of_a_map_and_nested_containers_have_their_own_folders(home, server):
    result = server.start(home.define(NESTED), wait=True).body
    assert result["status"] == "success", result
    assert result["outputs"] == {"all": "123123123"}


def test_serial_keeps_one_folder_and_one_step_at_a_time(home, server):
    name = home.define("""
name: serial
steps:
  - name: p
    parallel:
      serial: true
      steps:
        - {name: one, tool: shell, inputs: {command: "echo 1 >> log"}}
        - {name: two, tool: shell, inputs: {command: "echo 2 >> log"}}
""")
    run = server.start(name, wait=True).body["run_id"]
    kinds = [e["type"] for e in server.events(run) if e["type"].startswith(("tool.", "branch."))]
    assert kinds == ["tool.requested", "tool.finished"] * 2
    assert home.workspace(run, "log").read_text() == "1\n2\n"


READERS = """
name: readers
steps:
  - {name: before, tool: shell, inputs: {command: "echo text > file; echo go > .gitignore"}}
  - name: p
    depends_on: [before]
    parallel:
      steps:
        - {name: one, tool: shell, read_only: true, inputs: {command: "until [ -e go ]; do sleep 0.02; done; cat file; touch no 2>/dev/null && exit 1; true"}}
        - {name: two, tool: shell, read_only: true, inputs: {command: "until [ -e go ]; do sleep 0.02; done; cat file"}}
        - {name: writer, tool: shell, inputs: {command: "until [ -e go ]; do sleep 0.02; done; echo more >> file"}}
"""


def test_read_only_steps_share_their_parents_folder_and_overlap(home, server):
    run = server.run_of(home.define(READERS))
    let_go(home, server, run, 4)
    assert server.finish(run)["status"] == "success"
    events = server.events(run)
    assert before_any_end(events, ["p/one", "p/two", "p/writer"])
    requested = {e["data"]["step"]: e["data"] for e in events if e["type"] == "tool.requested"}
    assert "tree" not in requested["p/one"] and "folder" not in requested["p/one"]
    assert home.workspace(run, "file").read_text() == "text\nmore\n"


def test_read_only_is_for_commands(home, server):
    refused = server.start(home.define("name: x\nsteps:\n  - {name: a, tool: echo, read_only: true}\n"))
    assert refused.status == 422 and "read_only is allowed only for tool shell" in str(refused.body)


def test_a_map_with_too_many_writing_items_says_what_to_do(home, server):
    name = home.define("""
name: wide
inputs: {items: {type: array, required: true}}
steps:
  - {name: m, map: {over: "${inputs.items}", steps: [{name: a, tool: shell, inputs: {command: "true"}}]}}
""")
    result = server.start(name, {"items": list(range(1001))}, wait=True).body
    assert result["status"] == "failed" and "1001 items" in result["error"] and "serial: true" in result["error"]


REPOSITORY = """
name: repository
steps:
  - {name: make, tool: shell, inputs: {command: "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && echo 1 > file && mkdir sub && git init -q sub && echo 2 > sub/inner"}}
  - name: p
    depends_on: [make]
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: "git log --oneline | wc -l; echo a > one; echo 3 >> sub/inner"}}
        - {name: two, tool: shell, inputs: {command: "echo b > two"}}
  - {name: after, tool: shell, depends_on: [p], inputs: {command: "cat file one two sub/inner | tr -d '\\\\n'; git log --oneline | wc -l"}}
outputs:
  after: {from: "${steps.after.outputs.stdout}"}
"""


def test_a_folder_with_repositories_works_too(home, server):
    result = server.start(home.define(REPOSITORY), wait=True).body
    assert result["status"] == "success", result
    assert result["outputs"]["after"].split() == ["1ab231"]


# ---- modes -------------------------------------------------------------------------------------

MODES = """
name: modes
steps:
  - {name: before, tool: shell, inputs: {command: "umask 022; mkdir -p d/e locked x; echo 1 > private; chmod 600 private; echo 2 > d/e/f; chmod 2750 d/e; echo 3 > plain; chmod 750 x; echo 4 > 'odd \\n name'; chmod 440 odd*; echo 5 > locked/f; chmod 500 locked; mkdir open; echo 6 > open/f"}}
  - name: p
    depends_on: [before]
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: "ONE"}}
        - {name: two, tool: shell, inputs: {command: "TWO"}}
  - {name: after, tool: shell, depends_on: [p], inputs: {command: "stat -c '%a %n' *; stat -c '%a %n' d/e d/e/f"}}
outputs: {modes: {from: "${steps.after.outputs.stdout}"}}
"""

LISTED = ["755 d", "500 locked", "440 odd ", " name", "755 open", "644 plain", "600 private", "750 x", "2750 d/e", "644 d/e/f"]


def modes_of(home, server, one, two):
    result = server.finish(server.run_of(home.define(MODES.replace("ONE", one).replace("TWO", two))))
    return result, sorted(((result["outputs"] or {}).get("modes") or "").splitlines())


def test_modes_of_branches_are_merged(home, server):
    """What one branch changed, and files that a branch made; others keep their modes."""
    result, modes = modes_of(home, server, "chmod 640 private; echo new > made; chmod 604 made; rm -r open",
                             "echo more > plain; chmod 700 x; echo more >> d/e/f; chmod 711 plain")
    assert result["status"] == "success", result
    changed = {"600 private": "640 private", "750 x": "700 x", "644 plain": "711 plain"}
    assert modes == sorted([changed.get(m, m) for m in LISTED if m != "755 open"] + ["604 made"])


@pytest.mark.parametrize("one, two", [("chmod 640 private", "chmod 660 private"),  # two different modes
                                      ("chmod 640 private", "rm -f private"),      # changed and removed
                                      ("rm -rf x", "chmod 700 x"),
                                      ("chmod 755 plain", "chmod 640 plain")])     # git stores only the first
def test_modes_that_do_not_fit_together_are_a_conflict(home, server, one, two):
    result, _ = modes_of(home, server, one, two)
    assert result["status"] == "failed"
    assert f"{one.split()[-1]} (p/one, p/two)" in result["error"]


def test_the_same_mode_in_two_branches_is_no_conflict(home, server):
    result, modes = modes_of(home, server, "chmod 640 private; echo 1 > one", "chmod 640 private; echo 2 > two")
    assert result["status"] == "success", result
    assert "640 private" in modes


RESTORED = """
name: restored
steps:
  - {name: before, tool: shell, inputs: {command: "umask 022; echo kept > .gitignore; mkdir -p d/e kept; echo 1 > private; chmod 600 private; echo 2 > d/e/f; chmod 2750 d/e; echo 3 > plain; chmod 500 d kept"}}
  - name: change
    tool: shell
    depends_on: [before]
    inputs:
      command: |
        stat -c '%a %n' * d/* d/e/*
        chmod 777 private plain d d/e d/e/f; rm -r d; mkdir new; echo x > new/x; chmod 000 new
        if [ ! -e kept/once ]; then chmod 700 kept; echo > kept/once; chmod 500 kept; while :; do sleep 1; done; fi
outputs: {modes: {from: "${steps.change.outputs.stdout}"}}
"""


def test_modes_are_restored_after_a_crash(home):
    """Those of files and folders, also where a folder keeps its owner out; ignored folders keep theirs."""
    server = home.serve()
    run = server.run_of(home.define(RESTORED))
    wait_until(lambda: home.workspace(run, "kept", "once").exists() and home.workspace(run, "kept").stat().st_mode & 0o777 == 0o500)
    server.kill()
    server = home.serve()
    result = server.finish(run)
    assert result["status"] == "success", result
    assert server.types(run).count("tool.restarted") == 1
    assert sorted(result["outputs"]["modes"].splitlines()) == ["2750 d/e", "500 d", "500 kept", "600 private", "644 d/e/f", "644 plain"]


# ---- crashes -----------------------------------------------------------------------------------

BRANCHES = """
name: branches
steps:
  - name: p
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: "echo 1 >> one"}}
        - {name: two, tool: shell, inputs: {command: "echo 2 >> two"}}
  - {name: after, tool: shell, depends_on: [p], inputs: {command: "cat one two"}}
outputs:
  after: {from: "${steps.after.outputs.stdout}"}
"""


@pytest.mark.parametrize("point", ["workspace.before_begin", "tool.shell_ended", "workspace.taken@4", "workspace.taken@5",
                                   "workspace.before_merge", "workspace.taken@6"])
def test_a_crash_among_branches_ends_the_same_way(home, point):
    """Before a branch has its folder, in a branch, around branch.ended, before and behind the merge."""
    name, _, at = point.partition("@")
    home.define(BRANCHES)
    run = new_id()
    server = home.serve(BATON_POINTS=f"{name}=kill" + (f"@{at}" if at else ""))
    server.start("branches", run_id=run)
    assert server.wait() == -signal.SIGKILL
    server = home.serve()
    result = server.finish(run)
    assert result["status"] == "success", result
    assert result["outputs"] == {"after": "1\n2\n"}
    assert "human.requested" not in server.types(run)
