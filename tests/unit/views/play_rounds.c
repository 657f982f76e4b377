/* tests/unit/views/play_rounds.c -- a sample run whose steps have used up their rounds, one of each way to
 * end.  The engine accepts every event of it: test_retell.c. */
#include <stddef.h>

#include "sample_run.h"

static const char graph_text[] =
	"{'name': 'rounds', 'inputs': [], 'outputs': [], 'rules': 2, "
	"'nodes': [{'name': 'say', 'kind': 'tool', 'join': 'all', 'class': "
	"'pure', 'depends_on': [], 'inputs': {}, 'reads': [], 'tool': "
	"'echo', 'until': 'false', 'max': 1, 'on_limit': 'continue'}, "
	"{'name': 'fetch', 'kind': 'tool', 'join': 'all', 'class': "
	"'idempotent', 'depends_on': [], 'inputs': {}, 'reads': [], "
	"'tool': 'fetch', 'until': 'false', 'max': 1, 'on_limit': "
	"'continue'}, {'name': 'pause', 'kind': 'wait', 'join': 'all', "
	"'class': 'idempotent', 'depends_on': [], 'inputs': {}, 'reads': "
	"[], 'wait_us': 5000000, 'until': 'false', 'max': 1, 'on_limit': "
	"'continue'}, {'name': 'ask', 'kind': 'human', 'join': 'all', "
	"'class': 'idempotent', 'depends_on': [], 'inputs': {}, 'reads': "
	"[], 'question': 'Good?', 'until': 'false', 'max': 1, 'on_limit': "
	"'continue'}, {'name': 'again', 'kind': 'loop', 'join': 'all', "
	"'class': 'idempotent', 'depends_on': [], 'inputs': {}, 'reads': "
	"[], 'body': [{'name': 'try', 'kind': 'tool', 'join': 'all', "
	"'class': 'pure', 'depends_on': [], 'inputs': {}, 'reads': [], "
	"'tool': 'echo'}], 'until': 'false', 'max': 1, 'on_limit': "
	"'continue'}, {'name': 'strict', 'kind': 'human', 'join': 'all', "
	"'class': 'idempotent', 'depends_on': [], 'inputs': {}, 'reads': "
	"[], 'question': 'Sure?', 'until': 'false', 'max': 1, 'on_limit': "
	"'fail'}]}";

static const struct play_line lines[] = {
	{ "run.created", 0,
	  "{'name': 'rounds', 'definition': "
	  "'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543'"
	  ", 'inputs': {'is': {}}, 'by': 'ada', 'v': 2}",
	  "running" },
	{ "tool.requested", 3,
	  "{'v': 2, 'step': 'fetch', 'effect': "
	  "'11111111-2222-4333-8444-555555555801', 'tool': 'fetch', 'class': "
	  "'idempotent', 'inputs': {'is': {}}}",
	  "running" },
	{ "timer.requested", 0,
	  "{'v': 2, 'step': 'pause', 'effect': "
	  "'11111111-2222-4333-8444-555555555802', 'due_at': "
	  "'2026-01-01T00:00:05.003Z'}",
	  "running" },
	{ "human.requested", 0,
	  "{'v': 2, 'step': 'ask', 'effect': "
	  "'11111111-2222-4333-8444-555555555803', 'kind': 'approval', "
	  "'question': 'Good?', 'inputs': {'is': {}}, 'revision': "
	  "'0000000000000000000000000000000000000000000000000000000000000007'"
	  "}",
	  "running" },
	{ "step.entered", 0, "{'v': 2, 'step': 'again'}", "running" },
	{ "human.requested", 0,
	  "{'v': 2, 'step': 'strict', 'effect': "
	  "'11111111-2222-4333-8444-555555555804', 'kind': 'approval', "
	  "'question': 'Sure?', 'inputs': {'is': {}}, 'revision': "
	  "'0000000000000000000000000000000000000000000000000000000000000007'"
	  "}",
	  "running" },
	{ "step.computed", 5,
	  "{'v': 2, 'step': 'say', 'output': {'is': {'n': 2}}, 'next': "
	  "{'limit_reached': true}}",
	  "running" },
	{ "tool.finished", 40,
	  "{'v': 2, 'step': 'fetch', 'effect': "
	  "'11111111-2222-4333-8444-555555555801', 'outcome': 'ok', "
	  "'output': {'is': {'k': 1}}, 'next': {'limit_reached': true}}",
	  "running" },
	{ "human.finished", 90,
	  "{'v': 2, 'step': 'ask', 'effect': "
	  "'11111111-2222-4333-8444-555555555803', 'outcome': 'ok', "
	  "'decision': 'approve', 'by': 'ada', 'next': {'limit_reached': "
	  "true}}",
	  "running" },
	{ "human.finished", 90,
	  "{'v': 2, 'step': 'strict', 'effect': "
	  "'11111111-2222-4333-8444-555555555804', 'outcome': 'ok', "
	  "'decision': 'approve', 'by': 'ada', 'fault': {'code': "
	  "'limit_reached', 'text': 'the condition does not hold after 1 "
	  "rounds: false; raise loop_max'}}",
	  "running" },
	{ "step.computed", 5, "{'v': 2, 'step': 'again/try', 'output': {'is': {}}}", "running" },
	{ "step.left", 0,
	  "{'v': 2, 'step': 'again', 'outcome': 'ok', 'output': {'is': {}}, "
	  "'next': {'limit_reached': true}}",
	  "running" },
	{ "timer.finished", 4900,
	  "{'v': 2, 'step': 'pause', 'effect': "
	  "'11111111-2222-4333-8444-555555555802', 'outcome': 'ok', 'next': "
	  "{'limit_reached': true}}",
	  "running" },
	{ "run.finished", 0,
	  "{'v': 2, 'outcome': 'failed', 'fault': {'code': 'limit_reached', "
	  "'text': 'step strict: the condition does not hold'}}",
	  "failed" },
};

const struct play play_rounds = { "-rounds", graph_text, lines, sizeof(lines) / sizeof(lines[0]) };
