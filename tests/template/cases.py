"""The templates that both programs render: a list written by hand, and combinations made of parts."""
import itertools

DATA = {
    "name": "Ada Lovelace", "empty": "", "zero": 0, "one": 1, "n": 7, "f": 2.5, "neg": -3, "big": 1234567890123,
    "t": True, "no": False, "nil": None, "text": "the quick brown fox\njumps over\n\nthe lazy dog", "html": "<b>\"Q&A\"</b>",
    "uni": "Füße über Ärger", "list": [3, 1, 2], "words": ["pear", "Apple", "fig", "apple"], "mixed": [1, "a", None, True, 2.5],
    "nested": [[1, 2], [3, [4]]], "nothing": [], "map": {"b": 2, "a": 1, "C": 3}, "blank": {},
    "users": [{"name": "Bob", "age": 30, "tags": ["x", "y"], "active": True},
              {"name": "alice", "age": 25, "tags": [], "active": False},
              {"name": "Carol", "age": 30, "tags": ["z"], "active": True}],
    "deep": {"a": {"b": {"c": "found"}}, "items": [1, 2]},
    "tree": [{"n": "a", "c": [{"n": "b", "c": []}, {"n": "c", "c": [{"n": "d", "c": []}]}]}],
    "quote": "it's", "both": "a'b\"c", "code": "x\ty\\z",
}

FILES = {
    "part.md": "[part {{ name }} {{ x|default('-') }}]",
    "sets.md": "{% set inner = 5 %}{{ inner }}",
    "loops.md": "{% for i in list %}{{ i }};{% endfor %}",
    "folder/deep.md": "deep {% include 'part.md' %}",
    "line.md": "one line\n",
    "broken.md": "{% if %}",
    "uses_macro.md": "{{ greet('x') }}",
}

# Each is a template; both programs must print the same text, or both must fail.
WRITTEN = r'''
Hello {{ name }}!
{{ name|upper }} {{ name|lower }} {{ name|title }} {{ name|capitalize }}
{{ missing }}|{{ missing|default("none") }}|{{ missing is defined }}
{{ missing.attribute }}
{{ nil }} {{ t }} {{ no }} {{ zero }} {{ f }} {{ neg }} {{ big }}
{{ list }} {{ map }} {{ nested }} {{ mixed }}
{{ quote }} {{ [quote] }} {{ [both] }} {{ [code] }} {{ [uni] }}
{{ deep.a.b.c }} {{ deep["a"]["b"].c }} {{ deep.a.x }}{{ deep.a.b.c.d }}
{{ list[0] }} {{ list[-1] }} {{ list[5] }} {{ name[0] }} {{ name[-1] }}
{{ list[1:] }} {{ list[:-1] }} {{ list[::-1] }} {{ name[2:5] }} {{ name[::-1] }} {{ name[::2] }} {{ list[5:2] }}
{{ 1 + 2 }} {{ 7 - 10 }} {{ 3 * 4 }} {{ 7 / 2 }} {{ 8 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 2 ** 10 }}
{{ 2.5 + 1 }} {{ 2.5 * 2 }} {{ 7.5 // 2 }} {{ -7.5 // 2 }} {{ 7.5 % 2 }} {{ -7.5 % 2 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }}
{{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 1 + 2 ~ 3 }} {{ "a" ~ 1 + 2 }} {{ 2 * 3 + 4 }} {{ 2 + 3 * 4 }} {{ (2 + 3) * 4 }}
{{ 1 < 2 }} {{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ "a" == 'a' }} {{ 1 != 2 }} {{ t == 1 }} {{ nil == none }}
{{ 1 in list }} {{ 9 in list }} {{ 9 not in list }} {{ "quick" in text }} {{ "a" in map }} {{ "z" not in map }}
{{ not t }} {{ not missing }} {{ t and no }} {{ t or no }} {{ empty or "x" }} {{ 0 or [] or {} }} {{ 1 and 2 }} {{ not 1 == 2 }}
{{ "yes" if t else "no" }} {{ "yes" if no else "no" }} {{ "only" if no }}|{{ 1 if no else 2 if no else 3 }}
{{ "a" "b" 'c' }} {{ "tab\tnew\nline \\ \" \x41 \u00e9" }} {{ 'it\'s' }} {{ "\d" }}
{{ 1_000 }} {{ 0x1f }} {{ 0b101 }} {{ 0o17 }} {{ 1e3 }} {{ 1.5e-3 }} {{ 12.50 }}
{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}
{{ (1, 2) }} {{ (1,) }} {{ () }} {{ 1, 2 }} {{ [1, [2, 3],] }} {{ {"a": 1, 'b': [2]} }} {{ {} }} {{ {1: "x"}[1] }}
{{ {'a': {'b': 1}}['a']['b'] }} {{ {"a": {}} }}
{{ 1e16 }} {{ 1e15 }} {{ 123456789.123 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1.0 }} {{ 100.0 }} {{ 1e22 }} {{ 0.1 + 0.2 }} {{ -0.0 }}
{% if t %}yes{% endif %}{% if no %}no{% else %}else{% endif %}{% if no %}1{% elif zero %}2{% elif n %}3{% else %}4{% endif %}
{% for x in list %}{{ x }}{% endfor %}
{% for x in nothing %}{{ x }}{% else %}empty{% endfor %}{% for x in missing %}{% else %}undefined{% endfor %}
{% for x in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}
{% for x in list %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}
{% for x in list %}{{ loop.cycle("odd", "even") }} {% endfor %}
{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {% endfor %}
{% for u in users if u.active %}{{ loop.index }}/{{ loop.length }} {{ u.name }};{% endfor %}
{% for u in users if u.age > 100 %}{{ u.name }}{% else %}nobody{% endfor %}
{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}
{% for k in map %}{{ k }}{% endfor %} {% for c in "abc" %}{{ c }}.{% endfor %}
{% for a, b in [(1, 2), [3, 4]] %}{{ a }}-{{ b }} {% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}
{% for x in 5 %}{{ x }}{% endfor %}
{% for x in nil %}{{ x }}{% endfor %}
{% for n in tree recursive %}{{ loop.depth }}{{ n.n }}{% if n.c %}({{ loop(n.c) }}){% endif %}{% endfor %}
{% for x in list %}{% for y in list %}{{ loop.index }}{{ x }}{{ y }} {% endfor %}{% endfor %}
{% set x = 1 %}{{ x }}{% set x = x + 1 %}{{ x }}
{% set x = 0 %}{% for i in list %}{% set x = i %}{{ x }}{% endfor %}{{ x }}
{% for i in list %}{% if loop.first %}{% set seen = i %}{% endif %}{{ seen }}{% endfor %}
{% set ns = namespace(total=0, s="") %}{% for i in list %}{% set ns.total = ns.total + i %}{% set ns.s = ns.s ~ i %}{% endfor %}{{ ns.total }} {{ ns.s }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}
{% set body %}block {{ name }}{% endset %}[{{ body }}]{% set up | upper %}abc{% endset %}{{ up }}{% set w | upper | trim %} ab {% endset %}{{ w }}
{% set map.x = 1 %}
{% if t %}{% set q = 1 %}{% else %}{% set q = 2 %}{% endif %}{{ q }}
{% macro greet(who, greeting="Hello") %}{{ greeting }} {{ who }}!{% endmacro %}{{ greet("A") }} {{ greet("B", "Hi") }} {{ greet(greeting="Yo", who="C") }} {{ greet() }}
{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, 2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}
{% macro box(title) %}[{{ title }}: {{ caller() }}]{% endmacro %}{% call box("T") %}inner {{ name }}{% endcall %}
{% macro each(items) %}{% for i in items %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) each(list) %}<{{ x }}>{% endcall %}
{% macro nocaller() %}x{% endmacro %}{% call nocaller() %}y{% endcall %}
{% macro fact(n) %}{% if n <= 1 %}1{% else %}{{ n * (fact(n - 1)|int) }}{% endif %}{% endmacro %}{{ fact(5) }}
{% set g = 5 %}{% macro m() %}{{ g }}{% endmacro %}{{ m() }}{% set g = 6 %}{{ m() }}
{{ m }}{% macro m() %}x{% endmacro %}{{ m() }}
{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}
{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}
{% filter upper %}some {{ name }}{% endfilter %}{% filter replace("a", "b")|trim %} aaa {% endfilter %}
{% raw %}{{ not rendered }} {% if %}{% endraw %} {%- raw -%} {{ x }} {%- endraw -%} end
{# a comment #}text{# {{ x }} {% if %} #}
a {#- trim -#} b
a   {{- name -}}   b
a   {%- if t -%}   b   {%- endif -%}   c
{%+ if t +%} x {%+ endif +%}
{% include "part.md" %}
{% set x = "here" %}{% include "part.md" %}{% include "part.md" without context %}{% include "part.md" with context %}
{% include "missing.md" %}
{% include "missing.md" ignore missing %}ok
{% include ["missing.md", "part.md"] %}
{% include "folder/deep.md" %}
{% include "sets.md" %}{{ inner }}
{% for x in list %}{% include "part.md" %}{% endfor %}
{% set f = "line.md" %}[{% include f %}]
{% include "broken.md" %}
{% macro greet(x) %}hi {{ x }}{% endmacro %}{% include "uses_macro.md" %}
{{ range(3)|list }} {{ range(1, 4)|list }} {{ range(10, 0, -3)|list }} {{ range(3) }} {{ range(0, 10, 2) }} {{ range(0)|list }}
{{ range(1, 2, 0) }}
{{ dict(a=1, b=2) }} {{ dict(map, z=9) }}
{{ name is string }} {{ n is number }} {{ n is integer }} {{ f is float }} {{ t is boolean }} {{ map is mapping }} {{ list is sequence }} {{ list is iterable }} {{ nil is none }}
{{ missing is undefined }} {{ n is odd }} {{ n is even }} {{ n is divisibleby 7 }} {{ n is divisibleby(2) }} {{ n is not odd }}
{{ n is eq 7 }} {{ n is ne 7 }} {{ n is lt 8 }} {{ n is le 7 }} {{ n is gt 7 }} {{ n is ge 7 }} {{ n is in [7] }} {{ 1 is in list }} {{ n is equalto 7 }} {{ n is greaterthan 2 }} {{ n is lessthan 2 }}
{{ t is true }} {{ no is false }} {{ 1 is true }} {{ t is sameas true }} {{ "abc" is lower }} {{ "ABC" is upper }} {{ "aBc" is lower }} {{ "" is lower }}
{{ name is mapping }} {{ map is sequence }} {{ name is sequence }} {{ n is iterable }} {{ t is number }} {{ t is integer }} {{ "x" is escaped }} {{ "upper" is filter }} {{ "odd" is test }}
{{ x is defined and y is defined }} {{ n is odd and n > 3 }} {{ n is defined or z }}
{{ missing is string }} {{ missing is sequence }} {{ missing is iterable }} {{ missing is mapping }} {{ missing is number }} {{ missing is none }}
{{ "a" is odd }}
{{ missing + 1 }}
{{ 1 + missing }}
{{ "a" + 1 }}
{{ "a" + "b" }} {{ [1] + [2] }} {{ (1,) + (2,) }} {{ "ab" * 3 }} {{ [0] * 3 }} {{ 3 * "x" }} {{ "x" * 0 }}
{{ [1] + (2,) }}
{{ nil + 1 }}
{{ map + map }}
{{ 1 / 0 }}
{{ 1 % 0 }}
{{ 1 // 0.0 }}
{{ 1 < "a" }}
{{ missing < 1 }}
{{ nil < 1 }}
{{ [1, 2] < [1, 3] }} {{ (1, 2) < (1, 3) }} {{ "a" < "b" }} {{ "B" < "a" }}
{{ 1 in "abc" }}
{{ 1 in 5 }}
{{ 1 in missing }} {{ missing in list }} {{ missing == missing2 }} {{ missing == none }} {{ missing != 1 }}
{{ -missing }}
{{ -"a" }}
{{ +n }} {{ -n }} {{ -n|abs }} {{ -5|abs }} {{ - 5 }}
{{ missing() }}
{{ n() }}
{{ name.upper() }} {{ name.lower() }} {{ " x ".strip() }} {{ "xxaxx".strip("x") }} {{ "  a".lstrip() }}| {{ "a  ".rstrip() }}|
{{ "a,b,c".split(",") }} {{ " a  b ".split() }} {{ "a,b,c".split(",", 1) }} {{ "a b c".split(None, 1) }} {{ ",".join(["a", "b"]) }} {{ "a\nb\n".splitlines() }}
{{ name.startswith("Ada") }} {{ name.endswith("x") }} {{ name.replace("a", "o") }} {{ name.replace("a", "o", 1) }} {{ name.find("Love") }} {{ name.find("zz") }} {{ name.count("a") }}
{{ "hello world".title() }} {{ "they're bill's".title() }} {{ "hELLO".capitalize() }} {{ "123".isdigit() }} {{ "12a".isdigit() }} {{ "".isdigit() }}
{{ map.get("a") }} {{ map.get("zz") }} {{ map.get("zz", "d") }} {{ map.keys()|list }} {{ map.values()|list }} {{ map.items()|list }}
{{ map.keys() }} {{ map.values() }} {{ map.items() }}
{{ list.index(1) }} {{ list.count(1) }}
{{ list.index(99) }}
{{ ",".join([1, 2]) }}
{{ name.nope() }}
{{ n.upper() }}
{{ "".join([]) }} {{ "abc".split("") }}
{{ list|first }} {{ list|last }} {{ nothing|first }}|{{ nothing|last }}| {{ name|first }} {{ name|last }} {{ map|first }} {{ missing|first }}
{{ list|length }} {{ name|length }} {{ map|count }} {{ uni|length }} {{ missing|length }} {{ nothing|length }}
{{ n|length }}
{{ list|sort }} {{ list|sort(reverse=true) }} {{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ words|sort(true) }}
{{ users|sort(attribute="age")|map(attribute="name")|join(",") }} {{ users|sort(attribute="age,name")|map(attribute="name")|join(",") }} {{ users|sort(attribute="age", reverse=true)|map(attribute="name")|join(",") }}
{{ mixed|sort }}
{{ map|dictsort }} {{ map|dictsort(true) }} {{ map|dictsort(by="value") }} {{ map|dictsort(reverse=true) }} {{ map|dictsort(false, "value", true) }}
{{ map|dictsort(by="x") }}
{{ list|dictsort }}
{{ words|unique|list }} {{ words|unique(true)|list }} {{ users|unique(attribute="age")|map(attribute="name")|list }} {{ [1, 1.0, true, 2]|unique|list }}
{{ list|reverse|list }} {{ name|reverse }} {{ map|reverse|list }}
{{ list|join(", ") }} {{ list|join }} {{ users|join(",", attribute="name") }} {{ name|join("-") }} {{ mixed|join("/") }}
{{ list|sum }} {{ users|sum(attribute="age") }} {{ list|sum(start=10) }} {{ nothing|sum }} {{ [1.5, 2]|sum }} {{ [[1], [2]]|sum(start=[]) }}
{{ words|sum }}
{{ list|min }} {{ list|max }} {{ words|min }} {{ words|max }} {{ nothing|min }}| {{ users|max(attribute="age") }} {{ words|max(case_sensitive=true) }}
{{ list|map("string")|list }} {{ words|map("upper")|join(",") }} {{ users|map(attribute="name")|list }} {{ users|map(attribute="nope", default="-")|list }} {{ words|map("replace", "p", "q")|list }} {{ users|map(attribute="tags.0")|list|length }}
{{ list|map("nope")|list }}
{{ list|map|list }}
{{ list|select("odd")|list }} {{ list|reject("odd")|list }} {{ mixed|select|list }} {{ mixed|reject|list }} {{ list|select("gt", 1)|list }} {{ list|select("in", [1, 2])|list }}
{{ users|selectattr("active")|map(attribute="name")|list }} {{ users|rejectattr("active")|map(attribute="name")|list }} {{ users|selectattr("age", "eq", 30)|map(attribute="name")|list }} {{ users|selectattr("age", "lt", 30)|list|length }}
{{ list|select("nope")|list }}
{{ users|groupby("age") }}
{% for age, us in users|groupby("age") %}{{ age }}:{{ us|map(attribute="name")|join(",") }};{% endfor %}
{% for g in users|groupby("age") %}{{ g.grouper }}={{ g.list|length }};{% endfor %}
{{ words|groupby(0) }} {{ [{"k": "A"}, {"k": "a"}]|groupby("k") }} {{ [{"k": "A"}, {"k": "a"}]|groupby("k", case_sensitive=true) }} {{ [{"k": 1}, {}]|groupby("k", default=0) }}
{{ list|batch(2)|list }} {{ list|batch(2, "x")|list }} {{ range(7)|slice(3)|list }} {{ range(7)|slice(3, "-")|list }} {{ range(3)|slice(5)|list }}
{{ map|items|list }} {{ missing|items|list }}
{{ list|items|list }}
{{ list|list }} {{ name|list }} {{ map|list }} {{ n|list }}
{{ "42"|int }} {{ "x"|int }} {{ "x"|int(7) }} {{ "3.9"|int }} {{ 3.9|int }} {{ -3.9|int }} {{ "ff"|int(0, 16) }} {{ "0x1f"|int(0, 16) }} {{ t|int }} {{ nil|int }} {{ " 5 "|int }} {{ "1_000"|int }} {{ "1e3"|int }} {{ list|int }} {{ ""|int }}
{{ "1.5"|float }} {{ "x"|float }} {{ "x"|float(2.5) }} {{ 3|float }} {{ "1e3"|float }} {{ nil|float }} {{ ".5"|float }} {{ "5."|float }} {{ " -2 "|float }}
{{ missing|int }}
{{ missing|float }}
{{ n|string }} {{ list|string }} {{ nil|string }} {{ f|string ~ "x" }}
{{ 2.5|round }} {{ 3.5|round }} {{ 2.567|round(2) }} {{ 2.1|round(0, "ceil") }} {{ 2.9|round(method="floor") }} {{ 42|round }} {{ 1234.5|round(-2) }} {{ 1.005|round(2) }} {{ 2.675|round(2) }} {{ 0.5|round }} {{ 1250|round(-2) }}
{{ 2.5|round(0, "nope") }}
{{ "x"|round }}
{{ neg|abs }} {{ -2.5|abs }} {{ t|abs }}
{{ "x"|abs }}
{{ text|truncate(20) }} {{ text|truncate(20, true) }} {{ text|truncate(20, true, "") }} {{ "short"|truncate(10) }} {{ "a bit over it"|truncate(10) }} {{ "a bit over it"|truncate(10, leeway=0) }} {{ "nospacesinthislongtext"|truncate(10) }}
{{ text|truncate(2) }}
{{ text|indent }} {{ text|indent(2, true) }} {{ text|indent(2, blank=true) }} {{ text|indent("> ", true) }} {{ "a\n"|indent }}| {{ ""|indent(first=true) }}|
{{ 42|indent }}
{{ text|wordcount }} {{ uni|wordcount }} {{ ""|wordcount }} {{ "a-b c_d"|wordcount }}
{{ text|wordwrap(10) }} {{ text|wordwrap(12, wrapstring="|") }} {{ "abcdefghijklmnop"|wordwrap(5) }} {{ "abcdefghijklmnop qr"|wordwrap(5, false) }} {{ "a b  c   d"|wordwrap(4) }} {{ "aaa bbbbbbbbb cc"|wordwrap(5) }} {{ "a well-known half-baked x-y idea"|wordwrap(8) }} {{ "well-known"|wordwrap(6, break_on_hyphens=false) }}
{{ name|center(20) }}| {{ name|center(21) }}| {{ "ab"|center(5) }}| {{ "abc"|center(6) }}| {{ name|center(3) }}|
{{ " x "|trim }}| {{ "xxaxx"|trim("x") }} {{ 5|trim }}
{{ name|replace("a", "<") }} {{ name|replace("a", "o", 1) }} {{ name|replace("", "-") }} {{ 121|replace(1, 3) }} {{ "aaa"|replace("a", "b", 0) }}
{{ html|e }} {{ html|escape }} {{ html|e|e }} {{ html|safe }} {{ 5|e }} {{ nil|e }} {{ html|safe|e }}
{{ html|striptags }} {{ "<!-- c --> a  <i>b</i>\n c &lt;x&gt; &amp;"|striptags }} {{ "a < b"|striptags }}
{{ map|tojson }} {{ list|tojson }} {{ mixed|tojson }} {{ html|tojson }} {{ uni|tojson }} {{ quote|tojson }} {{ map|tojson(2) }} {{ nested|tojson(indent=1) }} {{ blank|tojson(2) }} {{ nothing|tojson(2) }} {{ 1.0|tojson }} {{ "a\tb\n"|tojson }} {{ {1: 2}|tojson }} {{ (1, 2)|tojson }}
{{ missing|tojson }}
{{ "a b/c?d=é"|urlencode }} {{ map|urlencode }} {{ [("a", "b c"), ("d", 1)]|urlencode }} {{ 5|urlencode }} {{ "~._-"|urlencode }}
{{ "%s is %d"|format(name, n) }} {{ "%5d|%-5d|%05d|%+d"|format(n, n, n, n) }} {{ "%.2f %e %g"|format(f, f, f) }} {{ "%x %X %o %#x"|format(255, 255, 8, 255) }} {{ "%r %s"|format(name, list) }} {{ "100%%"|format }} {{ "%(a)s-%(b)s"|format(a=1, b=2) }} {{ "%10s|%-10s|%.3s"|format("abc", "abc", "abcdef") }} {{ "%c%c"|format("x", 65) }}
{{ "%s"|format }}
{{ "%d"|format("x") }}
{{ "%s"|format(1, 2) }}
{{ "%z"|format(1) }}
{{ "%s and %s" % (1, 2) }} {{ "%s" % name }} {{ "%d%%" % n }} {{ "%(a)s" % {"a": 5} }}
{{ n|default(5) }} {{ nil|default(5) }} {{ nil|default(5, true) }} {{ empty|default("x", true) }} {{ empty|default("x") }}| {{ missing|d }}| {{ missing|d(3) }} {{ deep.zz|default("dz") }}
{{ deep.zz.yy|default("dz") }}
{{ uni|upper }} {{ uni|lower }} {{ uni|title }} {{ "straße"|upper }} {{ "ÀÉÎ"|lower }} {{ "привет мир"|title }} {{ "ΑΒΓ"|lower }}
{{ "foo-bar (baz) [q]"|title }} {{ "foo bar"|capitalize }} {{ 5|upper }} {{ nil|upper }}
{{ list|upper }}
{{ x|nope }}
{{ x is nope }}
{{ x
{{ x }
{% if x %}
{% if %}x{% endif %}
{% endif %}
{% for x in %}{% endfor %}
{% for in list %}{% endfor %}
{% for x list %}{% endfor %}
{% set %}
{% set 1 = 2 %}
{% set none = 2 %}
{% nope %}
{% else %}
{% macro %}{% endmacro %}
{% macro m(a, b=1, c) %}{% endmacro %}
{% call x %}{% endcall %}
{% include %}
{% raw %}
{# open
{{ "open }}
{{ 1 + }}
{{ (1 }}
{{ [1 }}
{{ {1 }}
{{ a b }}
{{ a. }}
{{ a.1 }}
{{ |upper }}
{{ a| }}
{{ a|1 }}
{{ a is }}
{{ 1) }}
{{ } }}
{{ ! }}
{{ $ }}
{{ a ? b }}
{{ a == }}
{{ f(a=1, 2) }}
{{ name|upper(1) }}
{{ name|replace("a") }}
{{ name|center(nope=1) }}
{{ n is divisibleby }}
{{ n is odd(1) }}
{{}}
{{ }}
{%%}
{% %}
{{ n is odd is even }}
{{ x if }}
{{ not }}
{% filter nope %}{% endfilter %}
{% with %}{{ n }}{% endwith %}
{% if t and n > 3 and "a" in map %}ok{% endif %}
{{ [n, f]|sum|round(1)|string ~ "!" }}
{{ users[0].tags|join(",") }} {{ users[0]["name"] }} {{ users[1].tags|first }}| {{ users[-1].name }} {{ users.0.name }} {{ deep["items"] }}
{{ [1, 2, 3][1] }} {{ "abc"[1] }} {{ (1, 2)[0] }} {{ {"a": [1, {"b": 2}]}.a[1].b }}
{{ list[missing] }} {{ list["x"] }} {{ map[1] }} {{ map[none] }} {{ nil.x }} {{ n.x }} {{ name.x }} {{ nil[0] }}
{{ missing[0] }}
{{ missing[1:2] }}
{{ map[1:2] }}
{{ list[1.5] }} {{ list[true] }} {{ name[1:"x"] }}
{{ list[::0] }}
a{{ "\n" }}b
{{ "{{ name }}" }} {{ "{% if %}" }} {{ '{#' }}
}} %} #} { { x } } {x} { % x % }
{ {{ n }} }
{{- n -}}
line one
{{ "a" if t }}{{ "b" if no }}{{ ("c" if no) is defined }}
{% for i in range(3) %}{% for j in range(i) %}{{ i }}{{ j }} {% endfor %}{% else %}x{% endfor %}
{% for x in words|sort %}{{ x }}{{ "," if not loop.last }}{% endfor %}
{% for x in list|select("odd") %}{{ loop.index }}{{ x }}{{ loop.last }};{% endfor %}
{% if list|select("gt", 100) %}truthy{% endif %}
{{ (list|select("odd")|list)[0] }}
{{ list|select("odd")|length }}
{% set g = list|map("string") %}{{ g|join }}{{ g|join }}|
{% set g = list|map("string") %}{{ g|first }}{{ g|join }}
{{ (list|map("string"))[0] }}|
{{ list|map("string") is sequence }} {{ list|map("string") is iterable }} {{ range(3) is sequence }} {{ map.items() is sequence }}
{{ ns }}{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}{{ ns.b }}
{% set ns = namespace({"a": 1}, b=2) %}{{ ns.a }}{{ ns.b }}
{{ loop }}|{% for x in [1] %}{{ loop.nope }}{% endfor %}
{% for x in list %}{{ loop(x) }}{% endfor %}
{% for x in list %}{{ loop.cycle() }}{% endfor %}
{% for item in list %}{% for item in words %}{{ item[0] }}{% endfor %}{{ item }}{% endfor %}{{ item }}
{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}deep{% endmacro %}{{ a() }}
{% macro loopy(n) %}{% for i in range(n) %}{{ loop.index }}{% endfor %}{% endmacro %}{% for i in range(3) %}{{ loopy(i) }}{{ loop.index }};{% endfor %}
{% macro m(x) %}{% set x = x ~ "!" %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m(5) }}{{ x }}
{% if n == 7 -%}
   trimmed
{%- endif %}
{% for x in list -%}
  {{ x }},
{%- endfor %}
{%- set q = 3 -%}  {{ q }}
{{ 5 is string or 5 is number }} {{ not 5 is string }} {{ 5 is not string }} {{ "a" in "abc" is true }}
{{ 1 if n > 3 and n < 10 else 0 }} {{ (1 if t else 2) + 1 }} {{ [1 if t else 2] }}
{{ true and 1 or 2 }} {{ 1 == 1 and 2 == 2 }} {{ 1 < 2 and not 2 < 1 }} {{ "a" ~ "b" == "ab" }} {{ 1 ~ 2 == "12" }}
{{ n == 7.0 }} {{ 1.0 in [1] }} {{ "1" == 1 }} {{ [1, 2] == [1, 2] }} {{ (1, 2) == [1, 2] }} {{ {"a": 1} == {"a": 1.0} }} {{ map == {"a": 1, "b": 2, "C": 3} }}
{{ 9223372036854775807 }} {{ -9223372036854775807 }} {{ 4611686018427387904 + 1 }}
{{ 10 // 3 * 3 + 10 % 3 }} {{ 2 + 3 ~ 4 + 5 }} {{ 6 / 3 }} {{ 7 // 2.0 }} {{ 1 / 3 }} {{ 2 / 3 }} {{ 10 / 4 }} {{ 1e300 * 1e10 }}
{{ "a" < 1 if no else "lazy" }} {{ no and 1 / 0 }} {{ t or 1 / 0 }}
{{ [missing] }} {{ {"a": missing} }}
{{ missing ~ "x" }} {{ missing|upper }}| {{ missing|string }}| {{ missing|join }}| {{ missing|list }} {{ missing|sort }} {{ missing|trim }}|
{{ missing|sum }} {{ missing|reverse|list }} {{ missing|map("upper")|list }} {{ missing|select|list }} {{ missing|unique|list }} {{ missing|last }}| {{ missing|min }}|
{{ missing|round }}
{{ missing|abs }}
{{ missing|dictsort }}
{{ missing|truncate }}|{{ missing|wordcount }}|{{ missing|title }}|{{ missing|e }}|{{ missing|urlencode }}|{{ missing|striptags }}|{{ missing|center(3) }}|
'''.strip("\n").split("\n")

# Templates of several lines: (source, options).
LONG = [
    ("line\n", {}), ("line\n\n", {}), ("\n", {}), ("", {}), ("a\r\nb\rc\n", {}),
    ("{% if t %}\nyes\n{% endif %}\nend\n", {}),
    ("{% if t %}\nyes\n{% endif %}\nend\n", {"trim_blocks": True}),
    ("  {% if t %}\n  yes\n  {% endif %}\nend\n", {"lstrip_blocks": True}),
    ("  {% if t %}\n  yes\n  {% endif %}\nend\n", {"trim_blocks": True, "lstrip_blocks": True}),
    ("x {% if t %}\n  {{ n }}\n  {%+ endif %}\nend\n", {"trim_blocks": True, "lstrip_blocks": True}),
    ("{% if t +%}\nyes\n{% endif +%}\n\nend", {"trim_blocks": True}),
    ("  {# c #}\n  x\n", {"trim_blocks": True, "lstrip_blocks": True}),
    ("  {# c #}  {# d #}\n  x\n", {"trim_blocks": True, "lstrip_blocks": True}),
    ("  {% raw %}\n  {{ x }}\n  {% endraw %}\n  y\n", {"trim_blocks": True, "lstrip_blocks": True}),
    ("  {%- raw -%}\n  {{ x }}\n  {%- endraw -%}\n  y\n", {}),
    ("a\n\n{%- if t %} b{% endif -%}\n\nc", {}), ("a\n  {{- n }}\n  {{ n -}}\n b", {}),
    ("{% for x in list %}\n- {{ x }}\n{% endfor %}\n", {}),
    ("{% for x in list %}\n- {{ x }}\n{% endfor %}\n", {"trim_blocks": True}),
    ("{% for x in list -%}\n- {{ x }}\n{% endfor -%}\nend", {}),
    ("{% macro m(a) %}\n[{{ a }}]\n{% endmacro %}\n{{ m(1) }}\n", {}),
    ("{{ n }}\n{{ n }}\n\n{{ n }}", {"trim_blocks": True}),
    ("\t{% set x = 1 %}\t{{ x }}\n\t{% if x %}\n\tz\n\t{% endif %}\n", {"lstrip_blocks": True}),
    ("{%- for u in users %}\n{{ u.name }}:\n{%- for t in u.tags %} {{ t }}{% else %} none{% endfor %}\n{%- endfor %}\n", {}),
    ("You are {{ name }}.\n\n{% if users %}Team:\n{% for u in users if u.active %}{{ loop.index }}. {{ u.name }} ({{ u.age }})\n"
     "{% endfor %}{% else %}Alone.\n{% endif %}\nAnswer as JSON: {\"ok\": true}\n", {}),
    ("{{ missing }}", {"strict": True}), ("{{ missing|default(1) }}", {"strict": True}), ("{% if missing %}{% endif %}", {"strict": True}),
    ("{{ missing is defined }}", {"strict": True}), ("{% for x in missing %}{% endfor %}", {"strict": True}),
    ("{{ missing == 1 }}", {"strict": True}), ("{{ deep.zz }}", {"strict": True}), ("{{ [missing] }}", {"strict": True}),
    ("{{ missing ~ 'x' }}", {"strict": True}), ("{{ deep.zz|default('d') }}", {"strict": True}), ("{{ 'x' if no }}", {"strict": True}),
    ("{{ not missing }}", {"strict": True}), ("{{ missing or 1 }}", {"strict": True}), ("{{ missing|length }}", {"strict": True}),
    ("{% set x = missing %}ok", {"strict": True}), ("{{ missing|upper }}", {"strict": True}), ("{{ 1 in missing }}", {"strict": True}),
    ("{% macro m(a) %}x{% endmacro %}{{ m() }}", {"strict": True}), ("{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}", {"strict": True}),
    ("{{ nothing|first }}", {"strict": True}), ("{{ missing|list }}", {"strict": True}), ("{{ missing|map('upper')|list }}", {"strict": True}),
]


def generated():
    """Combinations: every value through every filter without arguments, every test, every pair of operands."""
    values = ["missing", "nil", "t", "zero", "n", "f", "empty", "name", "html", "list", "nothing", "words", "nested", "mixed", "map", "blank",
              "users", "(1, 2)", "range(3)", "text", "uni"]
    filters = ["abs", "capitalize", "center", "count", "default", "dictsort", "e", "first", "float", "int", "items|list", "join", "last", "length",
               "list", "lower", "map('string')|list", "max", "min", "reject|list", "reverse|list", "round", "select|list", "sort", "string",
               "striptags", "sum", "title", "tojson", "trim", "truncate", "unique|list", "upper", "urlencode", "wordcount", "batch(2)|list",
               "slice(2)|list", "indent", "replace('a', 'b')", "join(',')"]
    for value, name in itertools.product(values, filters):
        yield "[{{ %s|%s }}]" % (value, name)
    tests = ["boolean", "defined", "even", "odd", "false", "true", "float", "integer", "iterable", "lower", "upper", "mapping", "none", "number",
             "sequence", "string", "undefined", "divisibleby 3", "eq 7", "in list", "callable", "escaped"]
    for value, name in itertools.product(values, tests):
        yield "{{ %s is %s }}" % (value, name)
    operands = ["missing", "nil", "t", "n", "f", "neg", "name", "list", "(1, 2)", "map", "zero"]
    operators = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
    for left, operator, right in itertools.product(operands, operators, operands):
        if operator == "%" and left == "name":
            continue  # the text of a format's error is all that differs, and it is tested by hand
        yield "{{ %s %s %s }}" % (left, operator, right)
    for left, right in itertools.product(["n", "f", "neg", "2", "zero", "-2"], ["0", "1", "2", "3", "-1", "0.5"]):
        if right == "0.5" and left in ("neg", "-2"):
            continue  # a complex number
        yield "{{ %s ** %s }}" % (left, right)
    bounds = ["", "0", "1", "-1", "5", "-5"]
    for start, stop, step in itertools.product(bounds, bounds, ["", ":1", ":2", ":-1", ":-2"]):
        yield "{{ list[%s:%s%s] }} {{ name[%s:%s%s] }}" % (start, stop, step, start, stop, step)
    for open_sign, close_sign, block in itertools.product(["", "-", "+"], ["", "-", "+"], ["if t", "set x = 1", "# c #", "raw"]):
        end = {"if t": "{%% %sendif %%}" % "", "raw": "{% endraw %}"}.get(block, "")
        tag = "{#%s c %s#}" % (open_sign, close_sign) if block[0] == "#" else "{%%%s %s %s%%}" % (open_sign, block, close_sign)
        yield "a \n  %s \n b%s\n c" % (tag, end)
    for number in (0.1, 1e-5, 123456.789, 1e15, 1e16, 1e17, 5e-324, 1.7976931348623157e308, 3.0, 2.5e-7, 0.30000000000000004, 1 / 3):
        yield "{{ %r }} {{ %r|round(3) }} {{ '%%.3f' | format(%r) }} {{ '%%g' | format(%r) }} {{ -%r }}" % ((number,) * 5)
    for precision, value in itertools.product(range(0, 5), (0.125, 2.5, 1.45, 1e-3, 99.9995, -2.5)):
        yield "{{ %r|round(%d) }}" % (value, precision)
