/* tests/unit/views/play_unwind.c -- a sample run with a failure that is caught, finally steps, and a cancel
 * after which finally steps run.  The engine accepts every event of it: test_retell.c. */
#include <stddef.h>

#include "sample_run.h"

static const char graph_text[] =
	"{'name': 'unwind', 'inputs': [], 'outputs': [], 'rules': 2, 'nodes': "
	"[{'name': 'safe', 'kind': 'try', 'join': 'all', 'class': 'idempotent',"
	" 'depends_on': [], 'inputs': {}, 'reads': [], 'body': [{'name': "
	"'work', 'kind': 'tool', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'fetch'}, "
	"{'name': 'mend', 'kind': 'tool', 'join': 'all', 'class': 'idempotent',"
	" 'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'fetch', "
	"'section': 'catch'}, {'name': 'tidy', 'kind': 'tool', 'join': 'all', "
	"'class': 'idempotent', 'depends_on': [], 'inputs': {}, 'reads': [], "
	"'tool': 'fetch', 'section': 'finally'}]}, {'name': 'guard', 'kind': "
	"'try', 'join': 'all', 'class': 'idempotent', 'depends_on': ['safe'], "
	"'inputs': {}, 'reads': ['safe'], 'body': [{'name': 'hold', 'kind': "
	"'tool', 'join': 'all', 'class': 'idempotent', 'depends_on': [], "
	"'inputs': {}, 'reads': [], 'tool': 'fetch'}, {'name': 'free', 'kind': "
	"'tool', 'join': 'all', 'class': 'idempotent', 'depends_on': [], "
	"'inputs': {}, 'reads': [], 'tool': 'fetch', 'section': 'finally'}]}, "
	"{'name': 'last', 'kind': 'tool', 'join': 'all', 'class': 'pure', "
	"'depends_on': ['guard'], 'inputs': {}, 'reads': [], 'tool': 'echo'}]}";

static const struct play_line lines[] = {
	{ "run.created", 0,
	  "{'name': 'unwind', 'definition': "
	  "'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', "
	  "'inputs': {'is': {}}, 'by': 'ada', 'v': 2}",
	  "running" },
	{ "step.entered", 0, "{'step': 'safe', 'v': 2}", "running" },
	{ "tool.requested", 3,
	  "{'v': 2, 'step': 'safe/work', 'effect': "
	  "'11111111-2222-4333-8444-555555555701', 'tool': 'fetch', 'class': "
	  "'idempotent', 'inputs': {'is': {'for': 'safe/work'}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'safe/work', 'effect': "
	  "'11111111-2222-4333-8444-555555555701', 'outcome': 'failed', 'fault': "
	  "{'code': 'tool_failed', 'text': 'no such page'}}",
	  "running" },
	{ "tool.requested", 3,
	  "{'v': 2, 'step': 'safe/mend', 'effect': "
	  "'11111111-2222-4333-8444-555555555702', 'tool': 'fetch', 'class': "
	  "'idempotent', 'inputs': {'is': {'for': 'safe/mend'}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'safe/mend', 'effect': "
	  "'11111111-2222-4333-8444-555555555702', 'outcome': 'ok', 'output': "
	  "{'is': {'mended': true}}}",
	  "running" },
	{ "tool.requested", 3,
	  "{'v': 2, 'step': 'safe/tidy', 'effect': "
	  "'11111111-2222-4333-8444-555555555703', 'tool': 'fetch', 'class': "
	  "'idempotent', 'inputs': {'is': {'for': 'safe/tidy'}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'safe/tidy', 'effect': "
	  "'11111111-2222-4333-8444-555555555703', 'outcome': 'ok', 'output': "
	  "{'is': {'tidy': 1}}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'safe', 'outcome': 'ok', 'output': {'is': {'mended': true}}, "
	  "'v': 2}",
	  "running" },
	{ "step.entered", 0, "{'step': 'guard', 'v': 2}", "running" },
	{ "tool.requested", 3,
	  "{'v': 2, 'step': 'guard/hold', 'effect': "
	  "'11111111-2222-4333-8444-555555555704', 'tool': 'fetch', 'class': "
	  "'idempotent', 'inputs': {'is': {'for': 'guard/hold'}}}",
	  "running" },
	{ "run.cancelling", 700, "{'by': 'ada', 'reason': 'enough', 'v': 2}", "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'guard/hold', 'effect': "
	  "'11111111-2222-4333-8444-555555555704', 'outcome': 'cancelled', "
	  "'fault': {'code': 'cancelled', 'text': 'it was told to stop'}}",
	  "running" },
	{ "run.unwinding", 0, "{'due_at': '2026-01-01T02:00:00Z', 'v': 2}", "running" },
	{ "tool.requested", 3,
	  "{'v': 2, 'step': 'guard/free', 'effect': "
	  "'11111111-2222-4333-8444-555555555705', 'tool': 'fetch', 'class': "
	  "'idempotent', 'inputs': {'is': {'for': 'guard/free'}}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'guard/free', 'effect': "
	  "'11111111-2222-4333-8444-555555555705', 'outcome': 'ok', 'output': "
	  "{'is': {'freed': true}}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'guard', 'outcome': 'cancelled', 'fault': {'code': "
	  "'cancelled', 'text': 'the run was cancelled'}, 'v': 2}",
	  "running" },
	{ "run.finished", 0,
	  "{'outcome': 'cancelled', 'fault': {'code': 'cancelled', 'text': 'the "
	  "run was cancelled'}, 'v': 2}",
	  "cancelled" },
};

const struct play play_unwind = { "-unwind", graph_text, lines, sizeof(lines) / sizeof(lines[0]) };
