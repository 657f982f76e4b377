"""Settings: flag over environment over config.yaml over default, and what a wrong one says."""
import fcntl
import json
import os
import pathlib
import re
import subprocess

import pytest
from baton import EXIT, PROGRAM, killed


def write(home, text):
    path = pathlib.Path(home.data, "config.yaml")
    path.write_text(text)
    return path


def read(home):
    return pathlib.Path(home.data, "config.yaml").read_text()


def listed(home, *words, **env):
    status, output, errors = home.cli("config", "list", "--json", *words, **env)
    assert status == 0, errors
    return {item["name"]: item for item in json.loads(output)}


# ---- where a value comes from ------------------------------------------------------------------


def test_every_setting_has_a_value_and_a_source(home):
    settings = listed(home)
    assert settings["home"]["value"] == home.data and settings["home"]["source"] == "flag --home"
    assert (settings["serve.port"]["value"], settings["serve.port"]["source"]) == (8420, "default")
    assert "OPENAI_API_KEY" in settings["secrets.allow"]["value"]
    status, output, _ = home.cli("config", "list")
    assert status == 0
    assert re.search(r"^serve\.port +8420 +default$", output, re.M), output


def test_flag_over_environment_over_file_over_default(home):
    assert listed(home)["log.format"] == listed(home)["log.format"] | {"value": "human", "source": "default"}
    path = write(home, "# why\nlog:\n  format: json\n")
    assert listed(home)["log.format"]["source"] == f"{path}:3"
    assert listed(home)["log.format"]["value"] == "json"
    found = listed(home, BATON_LOG_FORMAT="human")["log.format"]
    assert (found["value"], found["source"]) == ("human", "environment BATON_LOG_FORMAT")
    found = listed(home, "--log", "json", BATON_LOG_FORMAT="human")["log.format"]
    assert (found["value"], found["source"]) == ("json", "flag --log")
    assert home.cli("config", "get", "log.format")[:2] == (0, "json\n")


def test_the_data_folder_is_found_by_its_variable(home):
    done = subprocess.run([PROGRAM, "config", "get", "home"], capture_output=True, text=True,
                          env={"BATON_HOME": "folder", "PATH": os.environ["PATH"]}, cwd=home.path)
    assert (done.returncode, done.stdout) == (0, "folder\n")
    done = subprocess.run([PROGRAM, "config", "get", "home"], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"]}, cwd=home.path)
    assert done.returncode == EXIT["usage"] and "HOME" in done.stderr


def test_the_server_takes_its_port_from_the_file(home):
    write(home, "serve: {port: 0, host: localhost}\n")
    server = home.begin("serve")
    line = server.line()
    assert re.fullmatch(r"listening on http://localhost:[1-9]\d+\n", line), line


def test_tools_take_their_isolation_from_the_file(home):
    outside = pathlib.Path(home.path, "outside")
    outside.write_text("x")
    flow = pathlib.Path(home.path, "flow.yaml")
    flow.write_text(f"name: look\nsteps: [{{name: a, tool: shell, inputs: {{command: 'test -e {outside}'}}}}]\n")
    assert home.cli("run", str(flow))[0] == 1
    write(home, "tools:\n  isolation: off\n")
    assert home.cli("run", str(flow))[0] == 0
    assert home.cli("run", str(flow), BATON_TOOLS_ISOLATION="native")[0] == 1


# ---- a wrong file stops the start ----------------------------------------------------------------


@pytest.mark.parametrize("words", [["serve", "--port", "0"], ["run", "two-steps"], ["runs"], ["db", "stats"]])
def test_a_wrong_file_stops_the_start(home, words):
    path = write(home, "serve:\n  prot: 1\n  port: 70000\n# fine\ntools:\n  isolation: none\n")
    status, output, errors = home.cli(*words)
    assert (status, output) == (EXIT["invalid"], "")
    lines = errors.splitlines()
    assert lines[0].startswith(f"{path}:2:3: unknown setting serve.prot; did you mean serve.port? Expected one of "), errors
    assert lines[1] == f"{path}:3:9: serve.port must be a whole number from 0 to 65535, not 70000"
    assert lines[2] == f"{path}:6:14: tools.isolation must be native or off, not none"
    assert lines[3].endswith("nothing was started [invalid]") and len(lines) == 4
    assert not pathlib.Path(home.data, "baton.db").exists()


@pytest.mark.parametrize("text, place, words", [
    ("serve: [\n", "2:1", ""),
    ("a: b: c\n", "1:5", "mapping values"),
    ("- serve\n", "1:1", "mapping"),
    ("home: /x\n", "1:1", "--home"),
    ("serve: {port: 1}\nserve: {port: 2}\n", "2:1", ""),
    ("x" * 70000, "", "larger than"),
    ("serve: &a\n  port: *a\n", "2:9", ""),
    ("serve:\n  host: \"a\\tb\"\n", "2:9", "control"),
    ("log: {format: true}\n", "1:15", "human or json, not true"),
])
def test_what_a_file_may_not_be(home, text, place, words):
    path = write(home, text)
    status, output, errors = home.cli("runs")
    assert (status, output) == (EXIT["invalid"], ""), errors
    assert (f"{path}:{place}: " in errors or place == "") and words in errors, errors


def test_a_wrong_file_does_not_stop_what_needs_no_settings(home):
    write(home, "serve: {port: x}\n")
    assert home.cli("version")[0] == 0
    assert home.cli("help")[0] == 0
    status, output, errors = home.cli("config", "get", "serve.port")
    assert (status, output) == (0, "8420\n") and "has errors" in errors


def test_a_wrong_value_is_put_right_by_the_command(home):
    write(home, "serve:\n  port: x # mine\n")
    assert home.cli("runs")[0] == EXIT["invalid"]
    assert home.cli("config", "set", "serve.port", "9000")[0] == 0
    assert read(home) == "serve:\n  port: 9000 # mine\n"
    assert home.cli("runs")[0] == 0


def test_a_wrong_variable_is_named(home):
    status, output, errors = home.cli("runs", BATON_SERVE_PORT="many")
    assert (status, output) == (EXIT["invalid"], "")
    assert "BATON_SERVE_PORT" in errors and "a whole number from 0 to 65535, not many" in errors


def test_an_unknown_variable_is_told(home):
    status, _, errors = home.cli("runs", BATON_SERVE_PROT="1")
    assert status == 0
    assert "BATON_SERVE_PROT does not name a setting" in errors


def test_a_wrong_flag_is_named(home):
    status, output, errors = home.cli("serve", "--port", "x")
    assert (status, output) == (EXIT["usage"], "") and "--port" in errors


# ---- changing the file ---------------------------------------------------------------------------


def test_set_keeps_comments_and_order(home):
    write(home, "# my settings\n\ntools: # t\n  isolation: off   # o\n\n# the doors\nserve:\n  # p\n  port: 1\n# end\n")
    assert home.cli("config", "set", "serve.port", "2")[:2] == (0, "")
    assert home.cli("config", "set", "serve.host", "localhost")[0] == 0
    assert home.cli("config", "set", "log.format", "json")[0] == 0
    assert read(home) == ("# my settings\n\ntools: # t\n  isolation: off   # o\n\n# the doors\nserve:\n  # p\n"
                          "  port: 2\n  host: localhost\n# end\nlog:\n  format: json\n")
    assert home.cli("config", "unset", "tools.isolation")[0] == 0
    assert read(home).startswith("# my settings\n\n\n# the doors\nserve:\n")
    assert listed(home)["tools.isolation"]["source"] == "default"


def test_set_makes_folder_and_file(home):
    os.rmdir(os.path.join(home.data, "definitions"))
    os.rmdir(home.data)
    assert home.cli("config", "set", "serve.port", "7")[0] == 0
    assert read(home) == "serve:\n  port: 7\n"
    assert os.stat(os.path.join(home.data, "config.yaml")).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("words, status, text", [
    (["set", "serve.port", "x"], EXIT["invalid"], "a whole number from 0 to 65535, not x"),
    (["set", "serve.prot", "1"], EXIT["not_found"], "did you mean serve.port?"),
    (["set", "home", "/x"], EXIT["usage"], "--home"),
    (["set", "api_key", "sk-itself"], EXIT["invalid"], "env:NAME or file:NAME"),
    (["set", "tools.isolation", "of"], EXIT["invalid"], "native or off"),
    (["set", "serve.host", "a\nb"], EXIT["invalid"], "control"),
    (["set", "serve.port"], EXIT["usage"], "VALUE is missing"),
    (["unset", "serve.host"], EXIT["not_found"], "not set in the file"),
    (["get", "nothing"], EXIT["not_found"], "baton config list"),
    (["get", ""], EXIT["not_found"], ""),
    (["put", "x"], EXIT["usage"], "list, get, set, unset"),
    ([], EXIT["usage"], "list, get, set, unset"),
])
def test_what_is_not_written(home, words, status, text):
    write(home, "serve:\n  port: 1 # one\n")
    got, output, errors = home.cli("config", *words)
    assert (got, output) == (status, ""), errors
    assert text in errors and "sk-itself" not in errors
    assert read(home) == "serve:\n  port: 1 # one\n"


def test_what_is_written_in_an_unusual_way_is_left_to_the_owner(home):
    text = "x: &a {port: 5}\nserve:\n  <<: *a\n"
    write(home, text)
    status, _, errors = home.cli("config", "unset", "serve.port")
    assert status == EXIT["conflict"] and "by hand" in errors
    assert read(home) == text


def test_set_says_what_wins_over_the_file(home):
    status, _, errors = home.cli("config", "set", "log.format", "json", BATON_LOG_FORMAT="human")
    assert status == 0 and "environment BATON_LOG_FORMAT" in errors


def test_one_at_a_time(home):
    with open(os.path.join(home.data, "config.yaml.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert home.cli("config", "set", "serve.port", "1")[0] == EXIT["locked"]
    assert home.cli("config", "set", "serve.port", "1")[0] == 0


@pytest.mark.parametrize("point, port", [("file.before_rename", 1), ("file.after_rename", 2)])
def test_killed_while_writing(home, point, port):
    write(home, "serve: {port: 1}\n")
    assert killed(home.begin("config", "set", "serve.port", "2", BATON_POINTS=f"{point}=kill"))
    assert read(home) == f"serve: {{port: {port}}}\n"
    assert home.cli("config", "set", "serve.port", "3")[0] == 0
    assert read(home) == "serve: {port: 3}\n"
    assert sorted(os.listdir(home.data)) == ["config.yaml", "config.yaml.lock", "definitions"]


def test_a_secret_is_not_shown(home):
    for words in (["list"], ["list", "--json"], ["get", "api_key"], ["get", "api_key", "--json"]):
        status, output, errors = home.cli("config", *words, BATON_API_KEY="sk-very-secret")
        assert status == 0 and "sk-very" not in output + errors
        assert "(not shown)" in output
    write(home, "api_key: sk-very-secret\n")
    for words in (["runs"], ["doctor"], ["config", "list"]):
        _, output, errors = home.cli(*words)
        assert "sk-very" not in output + errors
