"""A model of the state that the nodes of a graph workflow share, written from docs/graphs.md."""
import copy
import json

EMPTY = {"overwrite": None, "append": [], "union": [], "merge": {}, "add": 0}
BUILT_IN = ("next_action", "current_agent", "routing_key", "metadata")


class Unfit(Exception):
    """A value that does not fit its reducer."""


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def reduce(how, old, new):
    if how == "overwrite":
        return new
    if how in ("append", "union") and (old is None or isinstance(old, list)):
        items = list(old or [])
        for item in new if isinstance(new, list) else [new]:
            if how == "append" or not any(same(item, one) for one in items):
                items.append(item)
        return items
    if how == "merge" and (old is None or isinstance(old, dict)) and isinstance(new, dict):
        return {**(old or {}), **new}
    if how == "add" and (old is None or is_number(old)) and is_number(new):
        return (old or 0) + new
    raise Unfit(how)


def begin(rows, inputs):
    task = inputs.get("task")
    state = {"messages": [{"role": "user", "content": task}] if task else [], "next_action": None, "current_agent": "", "routing_key": None,
             "metadata": {}}
    for row in rows["fields"]:
        state[row["name"]] = copy.deepcopy(inputs[row["name"]] if row["name"] in inputs else row.get("initial", EMPTY[row["reducer"]]))
    return state


def said(state, role, content):
    state["messages"].append({"role": role, "content": content})


def update(rows, state, values):
    for name in ("messages", *BUILT_IN):
        if name not in values:
            continue
        if name in ("messages",):
            good = isinstance(values[name], list) and all(
                isinstance(one, dict) and one.get("role") in ("user", "assistant", "tool", "system") and isinstance(one.get("content"), str)
                for one in values[name])
            if not good:
                raise Unfit(name)
            state[name] += values[name]
        elif name == "metadata":
            state[name] = reduce("merge", state[name], values[name])
        elif isinstance(values[name], str) or values[name] is None and name != "current_agent":
            state[name] = values[name]
        else:
            raise Unfit(name)
    for row in rows["fields"]:
        if row["name"] in values:
            state[row["name"]] = reduce(row["reducer"], state[row["name"]], values[row["name"]])


def text_of(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def apply(rows, state, node, output):
    kind, members = node["kind"], output if isinstance(output, dict) else {}
    if kind in ("agent", "session"):
        text = members["text"] if isinstance(members.get("text"), str) else ""
        said(state, "assistant", text)
        state["current_agent"] = (node["body"][0] if kind == "session" else node)["agent"]["name"]
        if "routes" in node:
            state["routing_key"] = text.strip(" \t\r\n") if text.strip(" \t\r\n") in node["routes"] else None
        update(rows, state, members["json"] if isinstance(members.get("json"), dict) else {})
    elif kind in ("tool", "subrun"):
        texts = [members[key] for key in ("text", "stdout") if isinstance(members.get(key), str)]
        if texts or output is not None:
            said(state, "tool", texts[0] if texts else text_of(output))
        update(rows, state, members)
    elif kind == "human":
        said(state, "user", members.get("comment") or members.get("decision") or "")
        if "routes" in node:
            state["routing_key"] = members.get("decision", "")
        if "value" in members and not isinstance(members["value"], dict):
            raise Unfit("value")
        update(rows, state, members.get("value", {}))
    elif kind == "condition" and "routes" in node and members.get("value") is not None:
        value = members["value"]
        state["routing_key"] = value if isinstance(value, str) else text_of(value)
    elif kind == "parallel":
        for inner in node["body"]:
            if members.get(inner["name"]) is not None:
                apply(rows, state, inner, members[inner["name"]])


def after(rows, state, node, output):
    """The state after a result; Unfit when the node fails because of it."""
    state = copy.deepcopy(state)
    apply(rows, state, node, output)
    if "routes" in node and "*" not in node["routes"] and (state["routing_key"] or "") not in node["routes"]:
        raise Unfit("routing_key")
    return state
