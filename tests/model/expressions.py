"""The subset of the expression language (expr.h) that the model uses: paths, comparisons, and, or, not, whole numbers.

Python parses the text, because the grammars agree in this subset; this module evaluates it: paths are null-safe, and an expression
that cannot be evaluated raises Unknown.
"""
import ast
import copy
import json
import re

WHOLE = 2 ** 63


class Unknown(Exception):
    """The expression cannot be evaluated."""


def equal(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unknown
    return value


def ordered(a, b):
    if not (isinstance(a, str) and isinstance(b, str)):
        number(a), number(b)
    return (a > b) - (a < b)


def contains(a, b):
    if isinstance(b, list):
        return any(equal(a, item) for item in b)
    if isinstance(a, str) and isinstance(b, (dict, str)):
        return a in b
    raise Unknown


def arithmetic(operator, a, b):
    if isinstance(operator, ast.Add) and type(a) is type(b) and isinstance(a, (str, list)):
        return a + b
    number(a), number(b)
    if isinstance(operator, ast.Mod) and b == 0:
        raise Unknown
    result = {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b,
              ast.Mod: lambda: a % b}[type(operator)]()
    if isinstance(result, int) and not -WHOLE <= result < WHOLE:
        raise Unknown
    return result


COMPARE = {
    ast.Eq: equal, ast.Is: equal, ast.NotEq: lambda a, b: not equal(a, b), ast.IsNot: lambda a, b: not equal(a, b),
    ast.In: contains, ast.NotIn: lambda a, b: not contains(a, b),
    ast.Lt: lambda a, b: ordered(a, b) < 0, ast.LtE: lambda a, b: ordered(a, b) <= 0,
    ast.Gt: lambda a, b: ordered(a, b) > 0, ast.GtE: lambda a, b: ordered(a, b) >= 0,
}


def look(value, key):
    """Null-safe: a mapping's key or a list's index, else null."""
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]
    return None


def evaluate(tree, names):
    if isinstance(tree, ast.Constant):
        return tree.value
    if isinstance(tree, ast.Name):
        return {"true": True, "false": False, "null": None}[tree.id] if tree.id in ("true", "false", "null") else names(tree.id)
    if isinstance(tree, ast.Attribute):
        return look(evaluate(tree.value, names), tree.attr)
    if isinstance(tree, ast.Subscript):
        return look(evaluate(tree.value, names), evaluate(tree.slice, names))
    if isinstance(tree, ast.List):
        return [evaluate(item, names) for item in tree.elts]
    if isinstance(tree, ast.BoolOp):
        for side in tree.values:
            value = evaluate(side, names)
            if bool(value) == isinstance(tree.op, ast.Or):
                break
        return value
    if isinstance(tree, ast.UnaryOp):
        value = evaluate(tree.operand, names)
        return not value if isinstance(tree.op, ast.Not) else -number(value)
    if isinstance(tree, ast.Compare):
        return COMPARE[type(tree.ops[0])](evaluate(tree.left, names), evaluate(tree.comparators[0], names))
    return arithmetic(tree.op, evaluate(tree.left, names), evaluate(tree.right, names))


HOLE = re.compile(r"\$\{([^}]*)\}")


def compute(text, names):
    return evaluate(ast.parse(HOLE.sub(r"(\1)", text).strip(), mode="eval").body, names)


def attempt(text, names):
    """Its value, or Unknown."""
    try:
        return compute(text, names)
    except Unknown:
        return Unknown


def holds(text, names):
    value = attempt(text, names)
    if value is Unknown:
        return re.search(r"!=|\bnot in\b|\bis not\b", text) is not None
    return bool(value)


def render(template, names):
    def hole(text):
        value = attempt(text, names)
        return None if value is Unknown else value

    def inside(match):
        value = hole(match.group(1))
        return value if isinstance(value, str) else "" if value is None else json.dumps(value, separators=(",", ":"))

    if isinstance(template, dict):
        return {key: render(value, names) for key, value in template.items()}
    if isinstance(template, list):
        return [render(value, names) for value in template]
    if not isinstance(template, str):
        return template
    whole = HOLE.fullmatch(template)
    return hole(whole.group(1)) if whole else HOLE.sub(inside, template)


# ---- names ----------------------------------------------------------------------------------------------------------

WORDS = {"succeeded": "success", "waiting_human": "running", "cancelled": "failed"}  # of the runtime vocabulary


class Names:
    """Resolves names in a body.  `closing`: an activation that has its result but is not final yet."""

    def __init__(self, body, variables, closing):
        self.variables, self.closing, self.around, self.given = variables, closing, [body], {}
        while self.around[-1].owner and self.around[-1].owner.given is None:
            self.around.append(self.around[-1].owner.body)
        if self.around[-1].owner:  # undo steps see nothing around them but what they were given
            self.given = self.around[-1].owner.given

    def __call__(self, word):
        if word == "steps":
            return {**self.given.get("steps", {}),
                    **{name: self.step(body, name) for body in reversed(self.around) for name in body.nodes}}
        if word in self.variables:
            return self.variables[word]
        for body in self.around:
            if word == "error" and body.part != "steps":
                return body.error()
            if body.item is not None and word in (body.owner.node.get("as", "item"), "index"):
                return body.item if word == "index" else body.owner.items[body.item]
        return self.given.get(word)

    def frozen(self):
        """Everything that can be read now, for undo steps that run later."""
        return copy.deepcopy({word: self(word) for word in ("steps", "item", "index", "error", "state")})

    def step(self, body, name):
        if self.closing and self.closing.body is body and self.closing.node["name"] == name:
            return {"outputs": self.closing.output, "status": "success", "error": None}
        final = body.last(name)
        shown = final or next((step for step in reversed(body.steps) if step.node["name"] == name), None)
        return {"outputs": final and final.output, "status": shown and WORDS.get(shown.state, shown.state),
                "error": {"code": final.fault} if final and final.fault else None}
