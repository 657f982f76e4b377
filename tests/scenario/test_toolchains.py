"""sandbox.mounts: toolchains outside /usr, their programs in PATH, and never a credential."""
import json
import os
import pathlib
import shutil
import stat

import pytest
from test_sandbox import SHELL, said, shell

CANARY = "canary-of-a-credential"


def program(path, text="#!/bin/sh\necho from $0\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


@pytest.fixture
def user(home):
    """A home folder with toolchains and credentials; not in /tmp, where the sandbox has its own."""
    folder = pathlib.Path("/srv", os.path.basename(home.path))
    if not os.access("/srv", os.W_OK):
        pytest.skip("cannot write to /srv")
    for name in (".ssh/id_rsa", ".cargo/credentials.toml", ".npmrc", ".aws/credentials", ".config/gh/hosts.yml"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY)
    program(folder / ".cargo/bin/thing")
    program(folder / ".pyenv/shims/pything")
    program(folder / ".nvm/versions/node/v9.0.0/bin/nodething")
    program(folder / ".nvm/versions/node/v18.2.0/bin/nodething")
    yield folder
    shutil.rmtree(folder)


def serve(home, user, *mounts):
    return home.serve(HOME=str(user), BATON_SANDBOX_MOUNTS=",".join(map(str, mounts)))


def test_programs_are_in_path_and_find_themselves(home, user):
    server = serve(home, user, "~/.cargo/bin", "~/.pyenv", "~/.nvm")
    lines = said(shell(home, server, "thing; pything; nodething; echo $PYENV_ROOT $NVM_DIR; echo $PATH")).splitlines()
    assert lines[0] == f"from {user}/.cargo/bin/thing"
    assert lines[1] == f"from {user}/.pyenv/shims/pything"
    assert lines[2] == f"from {user}/.nvm/versions/node/v18.2.0/bin/nodething"
    assert lines[3] == f"{user}/.pyenv {user}/.nvm"
    assert lines[4].endswith("/usr/local/bin:/usr/bin:/bin")


def test_they_are_read_only_and_nothing_beside_them_is_visible(home, user):
    server = serve(home, user, "~/.cargo/bin")
    text = said(shell(home, server, f"touch {user}/.cargo/bin/new 2>&1; ls -A {user} {user}/.cargo; (echo x >> {user}/.cargo/bin/thing) 2>&1; true"))
    assert text.count("Read-only file system") == 2
    assert ".ssh" not in text and "credentials" not in text
    assert sorted(os.listdir(user / ".cargo/bin")) == ["thing"]


def test_credentials_in_a_mounted_folder_are_covered(home, user):
    """Also one that was written after the server started, and one that is reached through a link."""
    elsewhere = user / "tools/keys"
    elsewhere.mkdir(parents=True)
    (user / ".netrc").symlink_to(elsewhere / "netrc")
    (elsewhere / "netrc").write_text(CANARY)
    (user / "tools/.ssh").mkdir()
    (user / "tools/.ssh/id").write_text(CANARY)
    server = serve(home, user, "~/.cargo", "~/tools")
    (user / ".cargo/credentials").write_text(CANARY)
    text = said(shell(home, server, f"cd {user}; ls -lR .cargo tools 2>&1; grep -r . . 2>&1; cat .netrc 2>&1; "
                                    f"rm -f tools/keys/netrc .cargo/credentials 2>&1; mkdir tools/.ssh/x 2>&1; true"))
    assert "credentials.toml" in text and CANARY not in text, text
    assert (elsewhere / "netrc").read_text() == (user / ".cargo/credentials").read_text() == CANARY


def test_a_link_does_not_lead_out(home, user):
    (user / ".cargo/bin/key").symlink_to(user / ".ssh/id_rsa")
    (user / "tools").symlink_to(user / ".ssh")
    server = serve(home, user, "~/.cargo/bin")
    assert CANARY not in said(shell(home, server, f"cat {user}/.cargo/bin/key 2>&1; true"))
    server.end()
    other = home.begin_serve(HOME=str(user), BATON_SANDBOX_MOUNTS=str(user / "tools"))
    assert not other.listen() and "holds credentials" in other.errors()


@pytest.mark.parametrize("mount, why", [
    ("/", "contains, or is in, /etc"), ("/etc", "/etc"), ("/etc/ssl", "/etc"), ("/home", "home folders"), ("/proc/1", "/proc"),
    ("~/.ssh", "holds credentials"), ("~/.config/gh", "holds credentials"), ("~/", "home folders"), ("/run", "/run"),
    ("/usr/share", "place of its own"), ("relative", "absolute path"), ("DATA", "data folder"), ("DATA/work", "data folder"),
    ("~/.npmrc", "no folder")])
def test_what_may_not_be_mounted(home, user, mount, why):
    os.makedirs(os.path.join(home.data, "work"))
    os.makedirs(os.path.join(home.path, "relative"))
    data = pathlib.Path("/srv", os.path.basename(home.path), "data")
    words = mount.replace("DATA", home.data)
    if mount.startswith("DATA"):  # not in /tmp, which is taken
        shutil.move(home.data, data)
        os.symlink(data, home.data)
        words = mount.replace("DATA", str(data))
    server = home.begin_serve(HOME=str(user), BATON_SANDBOX_MOUNTS=words)
    assert not server.listen()
    assert server.wait() == 2
    assert "sandbox.mounts: " in server.errors() and why in server.errors(), server.errors()


def test_the_data_folder_in_a_mounted_folder_is_covered(home, user):
    data = user / "tools/data"
    data.parent.mkdir()
    shutil.move(home.data, data)
    os.symlink(data, home.data)
    (user / "tools/file").write_text("seen")
    server = serve(home, user, "~/tools")
    text = said(shell(home, server, f"ls {user}/tools; cat {user}/tools/file; ls {user}/tools/data 2>&1; true"))
    assert "seen" in text and "baton.db" not in text


def test_a_missing_folder_is_said_and_left_out(home, user):
    server = serve(home, user, "~/.cargo/bin", "~/.none")
    assert said(shell(home, server, "thing"))
    assert "sandbox.mounts: ~/.none not found" in server.errors()


@pytest.mark.parametrize("limits", ["uid", "cgroup"])
def test_with_other_enforcements_of_limits(home, user, limits):
    server = home.serve(HOME=str(user), BATON_SANDBOX_MOUNTS="~/.cargo", BATON_SANDBOX_LIMITS=limits)
    text = said(shell(home, server, f"cat {user}/.cargo/credentials.toml 2>&1; PATH=$PATH:{user}/.cargo/bin; thing"))
    assert f"from {user}/.cargo/bin/thing" in text and CANARY not in text


def test_doctor_proposes_what_is_there_and_no_credentials(home, user):
    _, output, _ = home.cli("doctor", "--json", HOME=str(user))
    found = next(one for one in json.loads(output)["findings"] if one["check"] == "toolchains")
    proposed = found["fix"].split("'")[1].split(",")
    assert {"~/.cargo/bin", "~/.pyenv", "~/.nvm"} <= set(proposed)
    assert not any("ssh" in one or "aws" in one for one in proposed)
    # Proposed is not mounted: without the setting nothing of it is there.
    server = home.serve(HOME=str(user))
    assert said(shell(home, server, f"ls {user} 2>/dev/null; command -v thing; echo nothing")) == "nothing\n"
    server.end()
    _, output, _ = home.cli("doctor", "--json", HOME=str(user), BATON_SANDBOX_MOUNTS="~/.ssh")
    assert next(one for one in json.loads(output)["findings"] if one["check"] == "toolchains")["result"] == "fail"


CARGO = shutil.which("cargo")


@pytest.mark.skipif(CARGO is None or CARGO.startswith("/usr/"), reason="needs a Rust toolchain outside /usr")
def test_cargo_of_rustup_builds(home):
    root = pathlib.Path(CARGO).parents[1]
    home.define(SHELL)
    server = home.serve(HOME=str(root.parent), BATON_SANDBOX_MOUNTS=f"{root}/bin,~/.rustup")
    step = shell(home, server, "cargo init -q --vcs none three && cd three && echo 'fn main() { println!(\"3\"); }' > src/main.rs && cargo run -q --offline",
                 timeout=120)
    assert said(step) == "3\n"
