"""Parses `baton describe listing`, and finds the breaking changes between two listings.

A line has a kind, a name and words; a word is `flag` or `key=value`.  The value of a key in PLAIN is a plain
word, any other value is JSON.  No two lines have the same kind and name.
"""
import collections
import json
import re

Line = collections.namedtuple("Line", "kind name words text")
Type = collections.namedtuple("Type", "kind name words members")  # members: {name: Line}
Broken = collections.namedtuple("Broken", "why old new")  # texts of lines; None where there is none
Difference = collections.namedtuple("Difference", "broken added")

PLAIN = {"arguments", "body", "class", "environment", "flag", "gives", "id", "letter", "generated", "option", "retry", "role", "takes",
         "value"}
OWNERS = {"field": "entity", "value": "enum", "value_alias": "enum", "case": "union"}
WORD = re.compile(r"([^ =]+)(=?)")
PLAIN_VALUE = re.compile(r"[^ ]*")


def words_of(text):
    """The words behind a name: {flag: True, key: value}."""
    words, at = {}, 0
    while at < len(text):
        key, equals = WORD.match(text, at).groups()
        at += len(key) + len(equals)
        if not equals:
            words[key] = True
        elif key in PLAIN:
            words[key] = PLAIN_VALUE.match(text, at).group()
            at += len(words[key])
        else:
            words[key], at = json.JSONDecoder().raw_decode(text, at)
        if text[at:at + 1] not in ("", " "):
            raise ValueError(f"not a word: {text[at:]}")
        at += 1
    return words


def parse(text):
    """Every line, in order."""
    lines = []
    for line in text.splitlines():
        kind, name, *rest = line.split(" ", 2)
        lines.append(Line(kind, name, words_of(rest[0] if rest else ""), line))
    names = collections.Counter((line.kind, line.name) for line in lines)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ValueError(f"more than one line for {twice[0]}")
    return lines


def types(lines):
    """{wire name: Type}; the line of a member follows the line of its owner."""
    found, owner = {}, None
    for line in lines:
        if line.kind in OWNERS.values():
            owner = found[line.name] = Type(line.kind, line.name, line.words, {})
        elif line.kind in OWNERS:
            if owner.kind != OWNERS[line.kind] or not line.name.startswith(owner.name + "."):
                raise ValueError(f"not behind its {OWNERS[line.kind]}: {line.text}")
            kind = "alias " if line.kind == "value_alias" else ""
            owner.members[kind + line.name[len(owner.name) + 1:]] = line
    return found


def type_of(line):
    """(shape, wire name) of a field's value: ("list", "string"); ("const", None) of a constant."""
    if "const" in line.words:
        return "const", None
    shape, _, name = next(iter(line.words)).rpartition("(")
    return (shape, name[:-1]) if shape else ("one", name)


def read_types(lines):
    """Wire names of the types that the program reads from people and old stores, including nested types."""
    known = types(lines)
    todo = [line.words[key] for line in lines for key in ("takes", "body") if key in line.words]
    found = set()
    while todo:
        name = todo.pop()
        if name not in known or name in found:
            continue
        found.add(name)
        for line in known[name].members.values():
            if line.kind == "field":
                todo.append(type_of(line)[1])
            elif line.kind == "case":
                todo.append(next(iter(line.words)))
    return found


def compare(old, new):
    """The changes that break clients of `old`, and the new lines.

    A removed or changed line breaks clients.  A new line does not, with one exception: a new required field
    of an input type, because documents without it are rejected.
    """
    old, new = parse(old), parse(new)
    before, after = ({(line.kind, line.name): line for line in lines} for lines in (old, new))
    broken = [Broken("is gone", line.text, None) if key not in after else
              Broken("is changed", line.text, after[key].text)
              for key, line in before.items() if key not in after or after[key].text != line.text]
    known, read = types(old), read_types(new)
    added = [line for key, line in after.items() if key not in before]
    for owner in types(new).values():
        for line in owner.members.values():
            if line in added and owner.name in known and owner.name in read and "required" in line.words:
                broken.append(Broken("is required, and older documents do not have it", None, line.text))
    return Difference(broken, [line.text for line in added])


def report(broken):
    """Lines for people: like a diff, each with its reason."""
    lines = []
    for one in broken:
        lines += [f"{(one.old or one.new).split(' ', 2)[1]} {one.why}"]
        lines += [f"  - {one.old}"] if one.old else []
        lines += [f"  + {one.new}"] if one.new else []
    return lines
