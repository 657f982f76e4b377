"""What the program prints about itself, read by tools that are not ours.

The documents that the contract tests keep for every entity are put through the program and then
through ajv and tsc: what a schema or a type promises must be what the engine takes and gives.
"""
import json
import pathlib
import re
import subprocess

import pytest

from baton import PATIENCE_S

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GOLDEN = ROOT / "tests/golden"
DOCUMENTS = sorted((ROOT / "tests/unit").glob("contract_*/documents/*.json"))


def read(what, path, text=None):
    """What read.mjs prints."""
    done = subprocess.run(["node", str(HERE / "read.mjs"), what, str(path)], input=text, text=True, cwd=HERE,
                          capture_output=True, timeout=PATIENCE_S * 4)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def complaints(what, path, text=None):
    """What the readers of read.mjs say: a list, empty when all is well."""
    return read(what, path, text)


def tsc(folder, *names):
    done = subprocess.run([str(HERE / "node_modules/.bin/tsc"), "--strict", "--noEmit", "--skipLibCheck", "--target", "es2022", "--lib", "es2022",
                           "--module", "es2022", "--moduleResolution", "bundler", *names],
                          cwd=folder, text=True, capture_output=True, timeout=PATIENCE_S * 4)
    return done.stdout + done.stderr


def documents():
    """(type, document) of every document that the contract tests keep."""
    for path in DOCUMENTS:
        yield path.stem, json.loads(path.read_text())


@pytest.fixture(scope="session")
def checked(baton):
    """(type, document, what the program prints of it) of each of them."""
    return [(name, document, baton("contract", "check", name, text=json.dumps(document)).stdout)
            for name, document in documents()]


def references(tree):
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from references(value)


def resolve(tree, reference):
    assert reference.startswith("#/"), reference
    for step in reference[2:].split("/"):
        tree = tree[step.replace("~1", "/").replace("~0", "~")]
    return tree


# ---- the documents ---------------------------------------------------------------------------


def test_openapi_is_valid(described, tmp_path):
    (tmp_path / "openapi.json").write_text(described("openapi"))
    assert complaints("openapi", tmp_path / "openapi.json") == []


def test_the_openapi_reader_would_say_so(described, tmp_path):
    tree = json.loads(described("openapi"))
    del tree["info"]["title"]
    (tmp_path / "openapi.json").write_text(json.dumps(tree))
    assert complaints("openapi", tmp_path / "openapi.json") != []


@pytest.mark.parametrize("what", ["openapi", "schema"])
def test_every_reference_leads_somewhere(described, what):
    tree = json.loads(described(what))
    found = list(references(tree))
    assert len(found) > 100
    for reference in found:
        assert isinstance(resolve(tree, reference), dict), reference


def test_schema_is_valid_2020_12(described, tmp_path):
    (tmp_path / "schema.json").write_text(described("schema"))
    assert complaints("schema", tmp_path / "schema.json") == []


def test_openapi_and_schema_hold_the_same_types(described):
    openapi, schema = json.loads(described("openapi")), json.loads(described("schema"))
    moved = json.loads(described("openapi").replace("#/components/schemas/", "#/$defs/"))
    assert list(openapi["components"]["schemas"]) == list(schema["$defs"])
    assert moved["components"]["schemas"] == schema["$defs"]


def test_operations_have_names_roles_and_answers(described):
    tree = json.loads(described("openapi"))
    operations = [one for path in tree["paths"].values() for one in path.values()]
    names = [one["operationId"] for one in operations]
    assert len(set(names)) == len(names)
    assert {one["x-role"] for one in operations} <= set(tree["info"]["x-roles"])
    assert all("default" in one["responses"] and len(one["responses"]) > 1 for one in operations)
    start = tree["paths"]["/api/run"]["post"]
    assert start["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/runtime.WorkflowRunRequest.Input"}
    assert sorted(start["responses"]) == ["200", "202", "default"]
    assert [one["name"] for one in tree["paths"]["/api/runs/{id}"]["get"]["parameters"]] == ["id", "view"]


def test_typescript_passes_tsc_strict(described, tmp_path):
    (tmp_path / "types.ts").write_text(described("typescript"))
    assert tsc(tmp_path, "types.ts") == ""


def test_types_refuse_what_is_wrong(described, tmp_path):
    (tmp_path / "types.ts").write_text(described("typescript"))
    (tmp_path / "use.ts").write_text('import { run } from "./types";\n'
                                     'export const bad: run.Fault = { code: 1, text: "", more: 2 };\n')
    assert "TS2322" in tsc(tmp_path, "use.ts")


def test_reference_page_has_every_type_once(described):
    page = described("markdown")
    for name in json.loads(described("schema"))["$defs"]:
        if not name.endswith(".Input"):
            assert page.count(f"\n### {name}\n") == 1, name


def test_states_are_drawn(described):
    page = described("states")
    assert page.count("stateDiagram-v2") == 2
    assert "  waiting_human --> failed : human.finished (reject, timeout)\n" in page
    assert "  [*] --> queued\n" in page and "  skipped --> [*]\n" in page
    assert all(line.count(":") <= 1 for line in page.splitlines() if "-->" in line)


def test_what_cannot_be_described(baton):
    assert "openapi, schema, workflow-schema, typescript" in baton("describe", "nonsense", status=2).stderr


def test_openapi_is_served_as_printed(home, described):
    server = home.serve()
    answer = server.get("/openapi.json")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body == json.loads(described("openapi"))
    assert server.get("/openapi.json").body == answer.body


# ---- the documents of every entity -----------------------------------------------------------


def test_documents_pass_the_program_and_the_schema(checked, described, tmp_path):
    """A document is taken as X.Input says, and printed as X says."""
    defs = json.loads(described("schema"))["$defs"]
    taken, printed = [], []
    for name, document, out in checked:
        taken.append({"name": f"{name}.Input" if f"{name}.Input" in defs else name, "document": document})
        printed.append({"name": name, "document": json.loads(out)})
    assert len(printed) > 150
    (tmp_path / "schema.json").write_text(described("schema"))
    assert complaints("documents", tmp_path / "schema.json", json.dumps(taken)) == []
    assert complaints("documents", tmp_path / "schema.json", json.dumps(printed)) == []


def test_printed_documents_fit_their_typescript_types(checked, described, tmp_path):
    lines = [f"export const d{number}: {name} = {out};" for number, (name, _, out) in enumerate(checked)]
    modules = sorted({name.split(".")[0] for name, _, _ in checked})
    (tmp_path / "types.ts").write_text(described("typescript"))
    (tmp_path / "use.ts").write_text(f'import {{ {", ".join(modules)} }} from "./types";\n' + "\n".join(lines))
    assert tsc(tmp_path, "use.ts") == ""


# ---- no promised name is missing -------------------------------------------------------------


def test_every_promised_name_exists(described):
    schemas = json.loads(described("openapi"))["components"]["schemas"]
    missing = []
    lines = (GOLDEN / "contract-names.txt").read_text().splitlines()
    for line in lines:
        component, kind, *name = line.split(" ", 2)
        schema = schemas.get(component)
        if schema is None:
            missing.append(component)
        elif name and name[0] not in schema.get("properties" if kind == "field" else "enum", ()):
            missing.append(line)
    assert len(lines) > 1000
    assert sorted(set(missing)) == []


# ---- contract list, show, check --------------------------------------------------------------

GOOD = {"name": "hello", "steps": [{"name": "one", "tool": "echo"}]}
BAD = '{"name": "hello",\n "stepz": [],\n "steps": [{"name": "1 2", "tool": 5}]}'


def test_contract_list(baton, described):
    plain = baton("contract", "list").stdout.splitlines()
    rows = json.loads(baton("contract", "list", "--json").stdout)
    wanted = [name for name in json.loads(described("schema"))["$defs"] if not name.endswith(".Input")]
    assert [row["name"] for row in rows] == wanted
    assert [line.split()[0] for line in plain] == wanted
    assert {row["kind"] for row in rows} <= {"entity", "enum", "union"}


def test_contract_show(baton, described):
    assert "### run.Definition\n" in baton("contract", "show", "run.Definition").stdout
    shown = json.loads(baton("contract", "show", "run.Definition", "--json").stdout)
    assert shown == json.loads(described("schema"))["$defs"]["run.Definition"]


def test_contract_show_of_an_unknown_name(baton):
    assert "did you mean run.Definition?" in baton("contract", "show", "run.Definitoin", status=4).stderr
    assert "did you mean run.Definition?" in baton("contract", "show", "Definition", status=4).stderr
    assert "see baton contract list" in baton("contract", "show", "qqqqqqqqqqqqqqqq", status=4).stderr


def test_contract_check_prints_the_document_with_defaults(baton):
    out = json.loads(baton("contract", "check", "run.Definition", text=json.dumps(GOOD)).stdout)
    assert out == {"name": "hello", "strict": False, "inputs": {}, "outputs": {}, "agents": {}, "experimental": False,
                   "steps": [{"name": "one", "tool": "echo", "depends_on": [], "produces": [], "consumes": [], "inputs": {}, "outputs": {},
                              "join": "all", "next": [], "continue_on_error": False, "read_only": False}]}


def test_contract_check_reads_json_and_yaml_files(baton, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(GOOD))
    (tmp_path / "a.yaml").write_text("name: hello\nsteps:\n- {name: one, tool: echo}\n")
    (tmp_path / "noname").write_text("name: hello\nsteps:\n- {name: one, tool: echo}\n")
    printed = {baton("contract", "check", "run.Definition", str(tmp_path / name)).stdout
               for name in ("a.json", "a.yaml", "noname")}
    printed.add(baton("contract", "check", "run.Definition", "-", text=json.dumps(GOOD)).stdout)
    assert len(printed) == 1


def test_contract_check_tells_every_problem_with_its_place(baton):
    done = baton("contract", "check", "run.Definition", text=BAD, status=2)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    assert lines[0] == '2:2 /stepz: is not a field of run.Definition; did you mean "steps"?'
    assert lines[1].startswith("3:21 /steps/0/name: ")
    assert lines[2].startswith("3:36 /steps/0/tool: must be ")


def test_contract_check_tells_problems_as_json(baton):
    told = json.loads(baton("contract", "check", "run.Definition", "--json", text=BAD, status=2).stdout)
    assert told["hidden"] == 0
    assert [one["pointer"] for one in told["problems"]] == ["/stepz", "/steps/0/name", "/steps/0/tool"]
    assert told["problems"][0]["line"] == 2 and told["problems"][0]["column"] == 2


@pytest.mark.parametrize("text", ['{"name": ', "a: [1"])
def test_contract_check_of_what_is_not_well_formed(baton, text):
    assert baton("contract", "check", "run.Definition", text=text, status=2).stderr.count("\n") == 1
    told = json.loads(baton("contract", "check", "run.Definition", "--json", text=text, status=2).stdout)
    assert [one["pointer"] for one in told["problems"]] == [""]


def test_contract_check_reads_an_old_profile_and_prints_a_new_one(baton, tmp_path):
    old = {"name": "work", "driver": "cli", "tracker": "none", "working_dir": "/srv/repo"}
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(old))
    done = baton("contract", "check", "pipeline.Profile", str(path))
    assert done.returncode == 0, done.stderr
    new = json.loads(done.stdout)
    assert (new["name"], new["tracker"], new["repo_root"]) == ("work", "noop", "/srv/repo")
    assert {agent["driver"] for agent in new["agents"].values()} == {"claude"}
    assert "driver" not in new and "old format" in done.stderr
    path.write_text(done.stdout)
    again = baton("contract", "check", "pipeline.Profile", str(path))
    assert (again.returncode, again.stdout, again.stderr) == (0, done.stdout, "")


def test_contract_check_tells_what_is_wrong_with_an_old_profile(baton, tmp_path):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"name": "work", "driver": "clay"}))
    done = baton("contract", "check", "pipeline.Profile", str(path), status=2)
    assert '/driver: "clay" is not one of cli, api' in done.stderr
    assert done.stdout == ""


def test_contract_usage(baton):
    baton("contract", status=2)
    baton("contract", "check", status=2)
    baton("contract", "show", "run.Definition", "more", status=2)
    baton("contract", "check", "run.Definition", "no-such-file.json", status=4)
    assert "is not a document type" in baton("contract", "check", "run.Join", text="x", status=2).stderr


# ---- settings --------------------------------------------------------------------------------


def test_settings_are_those_of_the_rows(baton, described):
    rows = [re.split(r"(?<!\\)\|", line) for line in described("config").splitlines() if line.startswith("| `")]
    names = [row[1].strip(" `") for row in rows]
    assert names == re.findall(r'^SETTING\(\w+, *"([^"]+)"', (ROOT / "contracts/config.def").read_text(), re.M)
    listed = {item["name"]: item for item in json.loads(baton("config", "list", "--json").stdout)}
    assert list(listed) == names
    for _, name, allowed, _, environment, _, text, _ in rows:
        name = name.strip(" `")
        assert allowed.strip() and listed[name]["text"] == text.strip()
        # Tokens and addresses of trackers have the names that other programs know.
        own = name.startswith("tracker.") and re.fullmatch("[A-Z_]+", environment.strip(" `"))
        assert own or environment.strip(" `") == "BATON_" + name.upper().replace(".", "_")
