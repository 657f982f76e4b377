"""`baton doctor`: what is looked at, what it says about it, and that looking changes nothing."""
import json
import os
import pathlib
import socket
import threading

import pytest


def findings(home, **env):
    """{check: [(result, text, fix)]}, and the exit status."""
    status, output, errors = home.cli("doctor", "--json", **env)
    report = json.loads(output)
    found = {}
    for one in report["findings"]:
        found.setdefault(one["check"], []).append((one["result"], one["text"], one["fix"]))
    assert status == (0 if report["sound"] else 1), errors
    assert report["sound"] == all(one["result"] != "fail" for one in report["findings"])
    return found, status


def only(found, check):
    assert len(found[check]) == 1, found[check]
    return found[check][0]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def settings(home):
    """A port nobody has, so that no other server of this machine matters."""
    path = pathlib.Path(home.data, "config.yaml")
    path.write_text(f"serve: {{port: {free_port()}}}\n")
    os.chmod(home.data, 0o700)
    return path


def test_a_sound_machine(home, settings):
    before = sorted(os.listdir(home.data))
    found, status = findings(home)
    assert status == 0
    assert [check for check in found if any(one[0] == "fail" for one in found[check])] == []
    assert "SQLite 3." in only(found, "version")[1]
    assert "ran a command in it" in only(found, "sandbox")[1]
    assert only(found, "git")[0] == only(found, "walls")[0] == "ok"
    assert only(found, "libcrypto")[:2] == ("ok", "hashes values over 4096 bytes")
    assert "does not exist yet" in only(found, "database")[1]
    assert "mode 700" in only(found, "data folder")[1]
    assert sorted(os.listdir(home.data)) == before


def test_lines_for_people(home, settings):
    status, output, _ = home.cli("doctor")
    lines = output.splitlines()
    assert status == 0
    assert all(line.split()[0] in ("ok", "warn") for line in lines[:-1] if not line.startswith(" "))
    assert lines[-1].endswith(" 0 failures")
    assert "\033" not in output


def test_no_folder_yet(home):
    folder = os.path.join(home.path, "never")
    status, output, errors = home.cli("--home", folder, "doctor")  # given twice: refused
    assert status == 2 and "twice" in errors
    os.rmdir(os.path.join(home.data, "definitions"))
    os.rmdir(home.data)
    found, _ = findings(home)
    assert "the first start creates it" in only(found, "data folder")[1]
    assert not os.path.exists(home.data)


def test_with_a_database_and_with_a_server(home, settings):
    assert home.cli("run", "two-steps")[0] == 0
    found, status = findings(home)
    assert status == 0
    assert only(found, "database")[1].startswith("1 runs, 5 events")
    assert only(found, "owner")[1].startswith("none")
    server = home.begin("serve")
    address = server.line().split("listening on ")[1].strip()
    found, status = findings(home)
    assert status == 0
    assert f"pid {server.pid} at {address}" in only(found, "owner")[1]
    assert only(found, "port") == ("ok", f"{address} is this data folder's server", None)
    assert only(found, "database")[0] == "ok"


def test_a_port_somebody_else_has(home, settings):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        other.setblocking(True)
        taken = threading.Thread(target=lambda: other.accept()[0].close())
        taken.start()
        settings.write_text(f"serve: {{port: {port}}}\n")
        found, _ = findings(home)
        taken.join()
    result, text, fix = only(found, "port")
    assert result == "warn" and "in use by another program" in text and "serve.port" in fix


def test_wrong_settings(home, settings):
    settings.write_text("serve:\n  port: x\n  prot: 1\n")
    found, status = findings(home, BATON_NOBODY="1")
    assert status == 1
    results = [(result, text) for result, text, _ in found["settings"]]
    assert results[0][0] == "fail" and f"{settings}:2:9: serve.port must be" in results[0][1]
    assert results[1][0] == "fail" and f"{settings}:3:3: unknown setting serve.prot" in results[1][1]
    assert results[2] == ("warn", "the environment variable BATON_NOBODY does not name a setting")


def test_the_folders_mode(home, settings):
    os.chmod(home.data, 0o755)
    result, text, fix = only(findings(home)[0], "data folder")
    assert (result, "other users can read it" in text, fix) == ("warn", True, f"chmod 700 '{home.data}'")


def test_a_file_in_the_folders_place(home, settings):
    settings.unlink()
    os.rmdir(os.path.join(home.data, "definitions"))
    os.rmdir(home.data)
    pathlib.Path(home.data).write_text("x")
    found, status = findings(home)
    assert status == 1 and only(found, "data folder")[0] == "fail"


def test_a_broken_database(home, settings):
    assert home.cli("run", "two-steps")[0] == 0
    path = pathlib.Path(home.data, "baton.db")
    path.write_bytes(b"this is no database" * 1000)
    found, status = findings(home)
    result, text, fix = only(found, "database")
    assert status == 1 and result == "fail" and "baton db check" in fix


def test_programs_that_are_missing_or_old(home, settings):
    folder = pathlib.Path(home.path, "bin")
    folder.mkdir()
    found, status = findings(home, PATH=str(folder))
    assert status == 1
    assert only(found, "git")[0] == "fail" and "apt install git" in only(found, "git")[2]
    assert only(found, "sandbox")[0] == "fail" and "bubblewrap" in only(found, "sandbox")[2]


def test_isolation_off_is_said(home, settings):
    found, status = findings(home, BATON_TOOLS_ISOLATION="off")
    assert status == 0
    assert [one[0] for one in found["sandbox"]] == ["warn", "ok"]


def test_a_server_for_others_without_a_key(home, settings):
    found, status = findings(home, BATON_SERVE_HOST="0.0.0.0")
    assert status == 1
    assert only(found, "keys")[0] == "fail" and "baton key create" in only(found, "keys")[2]


def test_secrets_resolve_or_not_and_are_never_shown(home, settings):
    secrets = pathlib.Path(home.data, "secrets")
    secrets.mkdir(mode=0o700)
    (secrets / "good").write_text("sk-secret-1\n")
    (secrets / "good").chmod(0o600)
    (secrets / "open").write_text("sk-secret-2\n")
    (secrets / "open").chmod(0o644)
    home.define("name: a\nagents:\n  - {llm: {api_key: 'file:good'}}\n  - {api_key: 'file:open'}\n"
                "  - {api_key: 'file:../config.yaml'}\n  - {api_key: 'env:OPENAI_API_KEY'}\n"
                "  - {api_key: 'env:MY_OWN'}\n  - {api_key: 'env:GROQ_API_KEY'}\n")
    settings.write_text(settings.read_text() + "api_key: file:good\n")
    env = {"OPENAI_API_KEY": "sk-secret-3", "MY_OWN": "sk-secret-4"}
    found, _ = findings(home, **env)
    assert found["secrets"].pop()[:2] == ("ok", "keys of models in this environment: OPENAI_API_KEY")
    assert [(result, text.split(" of ")[0]) for result, text, _ in found["secrets"]] == [
        ("ok", "file:good"), ("ok", "file:good"), ("warn", "file:open"), ("warn", "file:../config.yaml"),
        ("ok", "env:OPENAI_API_KEY"), ("warn", "env:MY_OWN"), ("warn", "env:GROQ_API_KEY")]
    texts = [text for _, text, _ in found["secrets"]]
    assert texts[0] == "file:good of api_key is available"
    assert "definitions/a.yaml" in texts[1]
    assert "chmod 600" in texts[2] and "leaves the folder" in texts[3]
    assert "add MY_OWN to secrets.allow" in texts[5] and "not set" in texts[6]
    assert home.cli("config", "set", "secrets.allow", "MY_OWN", **env)[0] == 0
    status, output, errors = home.cli("doctor", **env)
    assert "env:MY_OWN of definitions/a.yaml is available" in output
    assert "sk-secret" not in output + errors + str(found)
