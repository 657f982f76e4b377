"""The listing is what the program promises: OpenAPI, JSON Schema and TypeScript must say the same.

Each of the three is read by a reader that is not ours where there is one (TypeScript by its own
compiler) and compared with the listing line by line.  The expected form is written here from the
listing alone, so a mistake in one of the program's printers shows.
"""
import copy
import json
import re

import pytest

import contract_listing as listing
from test_describe import ROOT, read

GOLDEN = ROOT / "tests/golden/contract.txt"
JSON_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean", "object": "object"}
FORMATS = {"time": {"format": "date-time"}, "uuid": {"format": "uuid"}, "hash": {"pattern": "^[0-9a-fA-F]{64}$"},
           "secret": {"pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"}}
SCALARS = {"string", "any", *JSON_TYPES, *FORMATS}
PRESENCE = ("required", "optional", "default", "generated", "computed")


def presence(line):
    return next((word for word in PRESENCE if word in line.words), "const" if "const" in line.words else "nullable")


def is_nullable(line):
    return "nullable" in line.words or "computed" in line.words


def must_be_there(line, taken):
    if taken:
        return presence(line) == "required" and "const" not in line.words
    return presence(line) != "optional"


class Contract:
    """The types of a listing, and which of them have a form of their own for what is taken."""

    def __init__(self, text):
        self.lines = listing.parse(text)
        self.types = listing.types(self.lines)
        self.differing = {name for name in self.types if self.differs(name, set())}

    def differs(self, name, seen):
        if name not in self.types or name in seen:
            return False
        seen.add(name)
        for line in self.types[name].members.values():
            if line.kind == "field":
                if "const" in line.words or presence(line) not in ("required", "optional"):
                    return True
                if self.differs(listing.type_of(line)[1], seen):
                    return True
            elif line.kind == "case" and self.differs(next(iter(line.words)), seen):
                return True
        return False

    def forms(self):
        """(type, whether it is the form that is taken) of everything that has a name."""
        for one in self.types.values():
            yield one, False
            if one.name in self.differing:
                yield one, True


@pytest.fixture(scope="session")
def contract(described):
    return Contract(described("listing"))


# ---- JSON Schema -----------------------------------------------------------------------------


class Schemas:
    """What JSON Schema must say of each type."""

    def __init__(self, contract, prefix):
        self.contract, self.prefix = contract, prefix

    def name(self, name, taken):
        return f"{name}.Input" if taken and name in self.contract.differing else name

    def reference(self, name, taken):
        return {"$ref": self.prefix + self.name(name, taken)}

    def value(self, name, words, nullable, taken, one=True):
        if name == "any":
            return {}
        if name in self.contract.types:
            reference = self.reference(name, taken)
            return {"anyOf": [reference, {"type": "null"}]} if nullable else reference
        plain = JSON_TYPES.get(name, "string")
        said = {"type": [plain, "null"] if nullable else plain, **FORMATS.get(name, {})}
        for word, keyword in (("min", "minimum"), ("above", "exclusiveMinimum"), ("max", "maximum"),
                              ("pattern", "pattern")):
            if word in words:
                said[keyword] = words[word]
        return {**said, **self.size(words, "Length")} if one else said

    @staticmethod
    def size(words, what):
        return {small + what: words[word] for word, small in (("shortest", "min"), ("longest", "max")) if word in words}

    def field(self, line, taken):
        words = line.words
        shape, name = listing.type_of(line)
        if shape == "const":
            said = {"type": "string", "const": words["const"]}
        elif shape == "one":
            said = self.value(name, words, is_nullable(line), taken)
        else:
            plain = "array" if shape == "list" else "object"
            said = {"type": [plain, "null"] if is_nullable(line) else plain,
                    "items" if shape == "list" else "additionalProperties": self.value(name, words, False, taken, False),
                    **self.size(words, "Items" if shape == "list" else "Properties")}
            if "unique" in words:
                said["uniqueItems"] = True
        if "default" in words:
            said["default"] = words["default"]
        if "computed" in words:
            said["readOnly"] = True
        if "deprecated" in words:
            said["deprecated"] = True
        if "alias" in words:
            said["x-oldName"] = words["alias"]
        return said

    def entity(self, one, taken, tag=None):
        fields = {name: self.field(line, taken) for name, line in one.members.items()}
        required = [name for name, line in one.members.items() if must_be_there(line, taken)]
        if tag:
            fields = {tag[0]: {"type": "string", "const": tag[1]}, **fields}
            required.insert(0, tag[0])
        return {"type": "object", "properties": fields, "additionalProperties": "closed" not in one.words,
                **({"required": required} if required else {})}

    def case(self, one, tag, line, taken):
        entity = self.contract.types.get(next(iter(line.words)))
        key = one.words.get("tag")
        if entity is None:
            return {"type": "object", **({"required": [key]} if key else {})}
        if key and key not in entity.members:
            return self.entity(entity, taken, (key, tag))
        return {**self.reference(entity.name, taken), **({"required": [key]} if key else {})}

    def type(self, one, taken):
        if one.kind == "entity":
            return self.entity(one, taken)
        if one.kind == "union":
            return {"anyOf": [self.case(one, tag, line, taken) for tag, line in one.members.items()]}
        old = {name[len("alias "):]: line.words["value"] for name, line in one.members.items()
               if line.kind == "value_alias"}
        return {"type": "string", "enum": [name for name, line in one.members.items() if line.kind == "value"],
                **({"x-oldValues": old} if old else {})}

    def all(self):
        return {self.name(one.name, taken): self.type(one, taken) for one, taken in self.contract.forms()}


def without_texts(tree, named=False):
    """A schema without what it says to people; the members of `properties` are names, not keywords."""
    if isinstance(tree, list):
        return [without_texts(one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    texts = () if named else ("description", "x-enumDescriptions", "x-rules")
    return {key: value if key in ("default", "const", "enum", "x-oldValues") and not named
            else without_texts(value, key == "properties" and not named)
            for key, value in tree.items() if key not in texts}


def differences(wanted, found, place=""):
    """Every place where two trees are not the same; lists of plain values are compared as sets."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted({*wanted, *found}):
            if key not in found or key not in wanted:
                yield f"{place}/{key}: {'only listed' if key in wanted else 'not listed'}"
            else:
                yield from differences(wanted[key], found[key], f"{place}/{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and place.endswith("/required"):
        if sorted(wanted) != sorted(found):
            yield f"{place}: listed {wanted}, found {found}"
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, pair in enumerate(zip(wanted, found)):
            yield from differences(*pair, f"{place}/{number}")
    elif wanted != found or isinstance(wanted, bool) != isinstance(found, bool):
        yield f"{place}: listed {wanted!r}, found {found!r}"


def schema_differences(contract, tree):
    return list(differences(Schemas(contract, "#/$defs/").all(), without_texts(tree["$defs"], True)))


def test_json_schema_says_what_is_listed(contract, described):
    assert len(contract.types) > 400
    assert schema_differences(contract, json.loads(described("schema"))) == []


def test_openapi_types_say_what_is_listed(contract, described):
    found = json.loads(described("openapi"))["components"]["schemas"]
    assert list(differences(Schemas(contract, "#/components/schemas/").all(), without_texts(found, True))) == []


@pytest.mark.parametrize("path, value", [
    ("run.DefinitionStep/properties/name/type", "integer"),
    ("run.DefinitionStep/properties/name/maxLength", 129),
    ("run.DefinitionStep/properties/name/pattern", "^a$"),
    ("run.DefinitionStep/required", []),
    ("run.DefinitionInput.Input/properties/type/default", "integer"),
    ("run.DefinitionInput/properties/more", {}),
    ("run.Join/enum", ["all"]),
    ("run.Definition/additionalProperties", True),
    ("task.Part/anyOf", []),
    ("more.Type", {})])
def test_another_json_schema_would_be_found(contract, described, path, value):
    tree = json.loads(described("schema"))
    at = tree["$defs"]
    *steps, last = path.split("/")
    for step in steps:
        at = at[step]
    assert at.get(last) != value
    at[last] = value
    found = schema_differences(contract, tree)
    assert found and all(one.startswith(f"/{path}") for one in found)


# ---- OpenAPI's paths -------------------------------------------------------------------------


def operations(contract):
    """What OpenAPI must say of each route: {(method, path): operation without texts}."""
    schemas = Schemas(contract, "#/components/schemas/")
    found = {}

    def content(words, taken=False):
        if "media" in words:
            return {"content": {words["media"]: {}}}
        if "gives" not in words and "takes" not in words:
            return {}
        shape, _, name = words["takes" if taken else "gives"].rpartition("(")
        value = schemas.value(name.rstrip(")"), {}, False, taken)
        media = "text/event-stream" if shape == "events" else "application/json"
        return {"content": {media: {"schema": {"type": "array", "items": value} if shape == "list" else value}}}

    for line in contract.lines:
        if line.kind == "route":
            method, path = line.name.split(":", 1)
            one = found[method.lower(), path] = {
                "operationId": line.words["id"], "x-role": line.words["role"], "parameters": [],
                "responses": {str(line.words["status"]): content(line.words),
                              "default": {"$ref": "#/components/responses/Problem"}}}
            if "no_key" in line.words:
                one["security"] = []
            if "takes" in line.words:
                one["requestBody"] = {"required": True, **content({"takes": line.words["takes"]}, True)}
            for name in re.findall(r"/\{([^}]*)\}", path):
                one["parameters"].append({"name": name, "in": "path", "required": True,
                                          "schema": schemas.value("uuid" if name == "id" else "string", {}, False, False)})
        elif line.kind == "query":
            one["parameters"].append({"name": line.name.rpartition("?")[2], "in": "query", "required": False,
                                      "schema": schemas.value(listing.type_of(line)[1], {}, False, False)})
        elif line.kind == "answer":
            response = one["responses"].setdefault(str(line.words["status"]), {})
            response.setdefault("content", {}).update(content(line.words).get("content", {}))
            if not response["content"]:
                del response["content"]
    return {f"{method} {path}": one for (method, path), one in found.items()}


def printed_operations(tree):
    found = {}
    for path, methods in tree["paths"].items():
        for method, one in methods.items():
            one = {key: value for key, value in one.items() if key != "summary"}
            one.setdefault("parameters", [])
            found[f"{method} {path}"] = without_texts(one)
    return found


def test_openapi_routes_say_what_is_listed(contract, described):
    wanted = operations(contract)
    assert len(wanted) > 70
    assert list(differences(wanted, printed_operations(json.loads(described("openapi"))))) == []


def test_another_route_would_be_found(contract, described):
    tree = json.loads(described("openapi"))
    for change in ({"x-role": "admin"}, {"operationId": "other"}, {"parameters": []}, {"responses": {}}):
        spoilt = copy.deepcopy(tree)
        spoilt["paths"]["/api/runs/{id}"]["get"].update(change)
        assert list(differences(operations(contract), printed_operations(spoilt))) != []


# ---- TypeScript ------------------------------------------------------------------------------


class TypeScript:
    """What TypeScript must say of each type, as its own compiler reads it."""

    def __init__(self, contract):
        self.contract = contract

    def name(self, name, taken):
        module, _, rest = name.partition(".")
        rest = rest.replace(".", "_")
        return f"{module}.{rest}_Input" if taken and name in self.contract.differing else f"{module}.{rest}"

    def value(self, name, taken):
        if name in self.contract.types:
            return self.name(name, taken)
        return {"integer": "number", "number": "number", "boolean": "boolean", "any": "unknown",
                "object": "{ [key: string]: unknown }"}.get(name, "string")

    def field(self, line, taken):
        shape, name = listing.type_of(line)
        if shape == "const":
            said = json.dumps(line.words["const"], ensure_ascii=False)
        else:
            said = self.value(name, taken)
            said = {"one": said, "list": f"{said}[]", "map": f"{{ [key: string]: {said} }}"}[shape]
            if is_nullable(line) and (shape, name) != ("one", "any"):
                said += " | null"
        return {"type": said, "optional": not must_be_there(line, taken),
                **({"default": line.words["default"]} if "default" in line.words else {}),
                **({"deprecated": True} if "deprecated" in line.words else {})}

    def case(self, one, tag, line, taken):
        entity = next(iter(line.words))
        if entity == "object":
            return self.value("object", taken)
        if "tag" not in one.words:
            return self.name(entity, taken)
        return f"({self.name(entity, taken)} & {{ {one.words['tag']}: {json.dumps(tag)} }})"

    def type(self, one, taken):
        if one.kind == "entity":
            return {"members": {name: self.field(line, taken) for name, line in one.members.items()},
                    "open": "closed" not in one.words}
        if one.kind == "union":
            return {"cases": [self.case(one, tag, line, taken) for tag, line in one.members.items()]}
        return {"cases": [json.dumps(name) for name, line in one.members.items() if line.kind == "value"]}

    def all(self):
        return {self.name(one.name, taken): self.type(one, taken) for one, taken in self.contract.forms()}


def test_typescript_says_what_is_listed(contract, described, tmp_path):
    (tmp_path / "types.ts").write_text(described("typescript"))
    assert list(differences(TypeScript(contract).all(), read("typescript", tmp_path / "types.ts"))) == []


def test_another_typescript_would_be_found(contract, described, tmp_path):
    """Each change is made once, all of them are read in one go, and each is found where it is."""
    text = described("typescript")
    changes = {
        ("interface DefinitionStep {", "    name: string;\n", "    name: number;\n"): "/run.DefinitionStep/members/name/type",
        ("interface Artifact {", "    name: string;\n", "    name?: string;\n"): "/run.Artifact/members/name/optional",
        ("interface Agent {", "    name: string;\n", ""): "/run.Agent/members/name: only listed",
        ("interface DefinitionInput {", '@default "string"', '@default "integer"'): "/run.DefinitionInput/members/type/default",
        ("type Join =", '    | "all"\n', ""): "/run.Join/cases",
        ("namespace runtime {", "    [key: string]: unknown;\n", ""): "/open"}
    for place, old, new in changes:
        head, rest = text.split(place, 1)
        assert old in rest, place
        text = head + place + rest.replace(old, new, 1)
    (tmp_path / "types.ts").write_text(text)
    found = list(differences(TypeScript(contract).all(), read("typescript", tmp_path / "types.ts")))
    assert len(found) == len(changes)
    for place in changes.values():
        assert sum(place in one for one in found) == 1, (place, found)


# ---- pages for people ------------------------------------------------------------------------


@pytest.mark.parametrize("page, kind, shown", [
    ("states", "state", "| `{last}` |"), ("events", "event", "| `{name}` |"), ("errors", "error", "| `{name}` |"),
    ("config", "setting", "| `{name}` |"), ("commands", "command", "baton {words}"), ("commands", "option", "{last}")])
def test_a_page_shows_every_name_that_is_listed(contract, described, page, kind, shown):
    text = described(page)
    names = [line.name for line in contract.lines if line.kind == kind]
    assert len(names) > 10
    for name in names:
        assert shown.format(name=name, last=re.split(r"[.:]", name)[-1], words=name.replace(":", " ")) in text, name


# ---- the golden ------------------------------------------------------------------------------


def test_the_program_keeps_what_the_golden_promises(described):
    found = listing.compare(GOLDEN.read_text(), described("listing"))
    assert found.broken == [], "\n".join(["the program breaks a promise; if that is meant: make describe",
                                         *listing.report(found.broken)])


SMALL = """entity a.X closed
field a.X.one string required
entity a.Y closed
field a.Y.one integer default=3 min=1
enum a.E
value a.E.all
route POST:/a id=a role=viewer takes=a.X status=200 gives=a.Y
"""


@pytest.mark.parametrize("more", [
    "entity a.Z closed\nfield a.Z.one string required\n", "route GET:/b id=b role=viewer status=204\n",
    "event a.b body=a.Z info kept\n"])
def test_what_is_new_breaks_nothing(more):
    found = listing.compare(SMALL, SMALL + more)
    assert found.broken == [] and found.added == more.splitlines()


@pytest.mark.parametrize("line, breaks", [
    ("field a.X.two string optional", False), ("field a.X.two string default=\"a b\"", False),
    ("field a.X.two string required", True), ("field a.X.two a.E required", True)])
def test_a_new_field_of_what_is_read_may_be_left_out(line, breaks):
    found = listing.compare(SMALL, SMALL.replace("entity a.Y", f"{line}\nentity a.Y"))
    assert bool(found.broken) == breaks and found.added == [line]


def test_a_new_field_of_what_is_only_printed_may_be_required():
    assert listing.compare(SMALL, SMALL.replace("enum a.E", "field a.Y.two string required\nenum a.E")).broken == []


@pytest.mark.parametrize("number", range(len(SMALL.splitlines())))
def test_a_line_that_is_gone_or_changed_is_found(number):
    lines = SMALL.splitlines()
    if not lines[number].startswith(("entity", "enum")):
        gone = listing.compare(SMALL, "\n".join(lines[:number] + lines[number + 1:]))
        assert [(one.why, one.old) for one in gone.broken] == [("is gone", lines[number])]
    lines[number] += " other"
    assert listing.report(listing.compare(SMALL, "\n".join(lines)).broken)[1:] == [
        f"  - {SMALL.splitlines()[number]}", f"  + {lines[number]}"]


def test_order_is_no_promise():
    first, second = SMALL.split("entity a.Y")
    assert listing.compare(SMALL, f"entity a.Y{second}{first}") == ([], [])


def test_words_of_a_line():
    assert listing.words_of('string default={"a": [1, "b c"]} max=2.5 flag=--home unique pattern="^[ =\\\\]$"') == {
        "string": True, "default": {"a": [1, "b c"]}, "max": 2.5, "flag": "--home", "unique": True,
        "pattern": "^[ =\\]$"}
    with pytest.raises(ValueError):
        listing.words_of("min=1x")
