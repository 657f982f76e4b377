/* tests/unit/views/play_retried.c -- the retried sample run: one branch of a container fails, the run
 * ends, is retried, continues inside the container and succeeds. */
#include <stddef.h>

#include "sample_run.h"

static const char graph_text[] =
	"{'name': 'again', 'inputs': [], 'outputs': [], 'kept_steps': 10000, 'n"
	"odes': [{'name': 'a', 'kind': 'tool', 'join': 'all', 'class': 'idempot"
	"ent', 'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'fetch'}, {"
	"'name': 'both', 'kind': 'parallel', 'join': 'all', 'class': 'idempoten"
	"t', 'depends_on': ['a'], 'inputs': {}, 'reads': [], 'body': [{'name': "
	"'left', 'kind': 'tool', 'join': 'all', 'class': 'idempotent', 'depends"
	"_on': [], 'inputs': {}, 'reads': [], 'tool': 'fetch'}, {'name': 'right"
	"', 'kind': 'tool', 'join': 'all', 'class': 'idempotent', 'depends_on':"
	" [], 'inputs': {}, 'reads': [], 'tool': 'fetch'}]}, {'name': 'after', "
	"'kind': 'tool', 'join': 'all', 'class': 'pure', 'depends_on': ['both']"
	", 'inputs': {}, 'reads': [], 'tool': 'echo'}]}";

static const struct play_line lines[] = {
	{ "run.created", 0,
	  "{'name': 'again', 'definition': '0f4636c78f65d3639ece5a064b5ae753e3408"
	  "614a14fb18ab4d7540d2c248543', 'inputs': {'is': {}}, 'by': 'ada', 'v': "
	  "2}",
	  "running" },
	{ "tool.requested", 5,
	  "{'v': 2, 'step': 'a', 'effect': '11111111-2222-4333-8444-555555555701'"
	  ", 'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'for': 'a'"
	  "}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'a', 'effect': '11111111-2222-4333-8444-555555555701'"
	  ", 'outcome': 'ok', 'output': {'is': {'n': 1}}}",
	  "running" },
	{ "step.entered", 0, "{'step': 'both', 'v': 2}", "running" },
	{ "tool.requested", 5,
	  "{'v': 2, 'step': 'both/left', 'effect': '11111111-2222-4333-8444-55555"
	  "5555702', 'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'f"
	  "or': 'both/left'}}}",
	  "running" },
	{ "tool.requested", 5,
	  "{'v': 2, 'step': 'both/right', 'effect': '11111111-2222-4333-8444-5555"
	  "55555703', 'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'"
	  "for': 'both/right'}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'both/left', 'effect': '11111111-2222-4333-8444-55555"
	  "5555702', 'outcome': 'ok', 'output': {'is': {'n': 2}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'both/right', 'effect': '11111111-2222-4333-8444-5555"
	  "55555703', 'outcome': 'failed', 'fault': {'code': 'tool_failed', 'text"
	  "': 'exit status 7'}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'both', 'outcome': 'failed', 'output': {'is': {'left': {'n': "
	  "2}, 'right': null}}, 'fault': {'code': 'tool_failed', 'text': 'step bo"
	  "th/right: exit status 7'}, 'v': 2}",
	  "running" },
	{ "run.finished", 0,
	  "{'outcome': 'failed', 'fault': {'code': 'tool_failed', 'text': 'step b"
	  "oth: step both/right: exit status 7'}, 'v': 2}",
	  "failed" },
	{ "run.retried", 60000, "{'by': 'bob', 'reason': 'it is back', 'v': 2}", "running" },
	{ "tool.requested", 5,
	  "{'v': 2, 'step': 'both/right#2', 'effect': '11111111-2222-4333-8444-55"
	  "5555555704', 'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': "
	  "{'for': 'both/right#2'}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'both/right#2', 'effect': '11111111-2222-4333-8444-55"
	  "5555555704', 'outcome': 'ok', 'output': {'is': {'n': 4}}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'both', 'outcome': 'ok', 'output': {'is': {'left': {'n': 2}, "
	  "'right': {'n': 4}}}, 'v': 2}",
	  "running" },
	{ "step.computed", 2, "{'step': 'after#2', 'output': {'is': {}}, 'v': 2}", "running" },
	{ "run.finished", 0, "{'outcome': 'ok', 'outputs': {'is': {}}, 'v': 2}", "succeeded" },
};

const struct play play_retried = { "-retried", graph_text, lines,
				   sizeof(lines) / sizeof(lines[0]) };
