"""What make install and make deb put where."""
import os
import pathlib
import subprocess

import pytest

from baton import PATIENCE_S, environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/baton"  # the program that is installed, whichever one the tests use


def tool(*words):
    done = subprocess.run(words, cwd=ROOT, env={**environment(), "BATON": str(BUILT)}, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def output_of(program, *words, home):
    return subprocess.run([program, "--home", home, *words], env=environment(), capture_output=True, text=True, timeout=PATIENCE_S).stdout


def test_install_below_a_prefix(home):
    stage = os.path.join(home.path, "stage")
    tool("tools/install", "/opt/baton", stage)
    tree = pathlib.Path(stage, "opt/baton")
    program = str(tree / "bin/baton")
    assert output_of(program, "version", home=home.data).startswith("baton ")
    for shell, path in (("bash", "share/bash-completion/completions/baton"), ("zsh", "share/zsh/site-functions/_baton"),
                        ("fish", "share/fish/vendor_completions.d/baton.fish")):
        assert (tree / path).read_text() == output_of(program, "completion", shell, home=home.data)
    unit = (tree / "lib/systemd/system/baton.service").read_text()
    assert "ExecStart=/opt/baton/bin/baton serve\n" in unit and "@" not in unit.split("[Unit]")[1]
    refused = subprocess.run(["tools/install", "relative"], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S)
    assert refused.returncode == 2 and "absolute" in refused.stderr


def test_every_command_has_a_man_page(home):
    stage = os.path.join(home.path, "stage")
    tool("tools/install", "/usr", stage)
    pages = pathlib.Path(stage, "usr/share/man/man1")
    commands = [line.split()[0] for line in output_of(str(BUILT), "help", home=home.data).split("\nOptions")[0].splitlines()[3:]
                if line.startswith("  ")]
    assert sorted(path.name for path in pages.iterdir()) == sorted(["baton.1", *(f"baton-{name}.1" for name in commands)])
    for path in pages.iterdir():
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(path)], capture_output=True, text=True, timeout=PATIENCE_S)
        assert (done.returncode, done.stderr) == (0, ""), path
    run = (pages / "baton-run.1").read_text()
    assert '.SH "EXIT STATUS"' in run and ".B \\-d, \\-\\-detach\n" in run


@pytest.fixture
def package(home):
    return tool("tools/deb", home.path).strip()


def test_the_debian_package(home, package):
    fields = dict(line.split(": ", 1) for line in tool("dpkg-deb", "-f", package).splitlines() if ": " in line and line[0] != " ")
    version = output_of(str(BUILT), "version", home=home.data).split()[1]
    assert (fields["Package"], fields["Version"]) == ("baton", version)
    needed = {one.strip().split()[0] for one in fields["Depends"].split(",")}
    assert {"libc6", "libuv1", "libsqlite3-0", "libyaml-0-2", "libcurl4", "bubblewrap", "git", "adduser"} <= needed
    tree = pathlib.Path(home.path, "tree")
    tool("dpkg-deb", "-x", package, str(tree))
    assert output_of(str(tree / "usr/bin/baton"), "run", "two-steps", home=home.data) == '{"greeting":"hello, world\\n"}\n'
    assert (tree / "usr/share/man/man1/baton.1.gz").exists() and (tree / "usr/share/doc/baton/copyright").exists()
    # Every library that the program is linked with belongs to a package it depends on.
    missing = [line for line in tool("ldd", str(tree / "usr/bin/baton")).splitlines() if "not found" in line]
    assert missing == []
    modes = {line.split()[1] for line in tool("dpkg-deb", "-c", package).splitlines()}
    assert modes == {"root/root"}
