/* tests/unit/views/play_long.c -- the long sample run: admission queue, agent turn, skipped step,
 * attempts, rounds, items, branches, sub-run, a signal during a pause, an outcome that a person
 * settles, an escalated and modified question, and a body that is open when the run is cancelled.
 * The engine accepts every event of it: test_retell.c. */
#include <stddef.h>

#include "sample_run.h"

static const char graph_text[] =
	"{'name': 'long', 'inputs': [], 'outputs': [], 'nodes': ["
	"{'name': 'plan', 'kind': 'agent', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': [], 'inputs': {}, 'reads': [], 'agent': {'name': 'writer', "
	"'driver': 'script', 'model': 'small', 'system': 'You write.'}},"
	"{'name': 'polish', 'kind': 'tool', 'join': 'all', 'class': 'pure', "
	"'depends_on': ['plan'], 'inputs': {}, 'reads': [], 'tool': 'echo', 'when': "
	"'false'},"
	"{'name': 'note', 'kind': 'tool', 'join': 'all', 'class': 'pure', 'depends_on': "
	"['polish'], 'inputs': {}, 'reads': [], 'tool': 'echo', 'when': 'true'},"
	"{'name': 'flaky', 'kind': 'tool', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['note'], 'inputs': {}, 'reads': [], 'tool': 'fetch', 'retry': "
	"{'max_retries': 2, 'base_delay_us': 1000000, 'max_delay_us': 60000000}},"
	"{'name': 'improve', 'kind': 'loop', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['flaky'], 'inputs': {}, 'reads': [], 'until': 'false', 'max': 2, "
	"'body': [{'name': 'draft', 'kind': 'tool', 'join': 'all', 'class': "
	"'idempotent', 'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'fetch'}]},"
	"{'name': 'each', 'kind': 'map', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['flaky'], 'inputs': {}, 'reads': [], 'over': ['a', 'b'], 'body': "
	"[{'name': 'x', 'kind': 'tool', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'fetch'}, {'name': 'y', "
	"'kind': 'tool', 'join': 'all', 'class': 'pure', 'depends_on': ['x'], 'inputs': "
	"{}, 'reads': [], 'tool': 'echo'}]},"
	"{'name': 'behind', 'kind': 'tool', 'join': 'all', 'class': 'pure', "
	"'depends_on': ['each'], 'inputs': {}, 'reads': [], 'tool': 'echo'},"
	"{'name': 'both', 'kind': 'parallel', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['improve'], 'inputs': {}, 'reads': [], 'body': [{'name': 'left', "
	"'kind': 'tool', 'join': 'all', 'class': 'pure', 'depends_on': [], 'inputs': {}, "
	"'reads': [], 'tool': 'echo'}, {'name': 'right', 'kind': 'tool', 'join': 'all', "
	"'class': 'pure', 'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'echo'}]},"
	"{'name': 'child', 'kind': 'subrun', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['both'], 'inputs': {}, 'reads': [], 'graph': {'name': 'report', "
	"'inputs': [], 'nodes': [{'name': 'one', 'kind': 'tool', 'join': 'all', 'class': "
	"'pure', 'depends_on': [], 'inputs': {}, 'reads': [], 'tool': 'echo'}], "
	"'outputs': []}},"
	"{'name': 'go', 'kind': 'wait', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['child'], 'inputs': {}, 'reads': [], 'signal': 'go'},"
	"{'name': 'pay', 'kind': 'tool', 'join': 'all', 'class': 'once', 'depends_on': "
	"['go'], 'inputs': {}, 'reads': [], 'tool': 'transfer'},"
	"{'name': 'ask', 'kind': 'human', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['pay'], 'inputs': {}, 'reads': [], 'question': 'Close the "
	"books?', 'timeout_us': 3600000000, 'levels': [{'to': 'lead'}]},"
	"{'name': 'closing', 'kind': 'parallel', 'join': 'all', 'class': 'idempotent', "
	"'depends_on': ['ask'], 'inputs': {}, 'reads': [], 'body': [{'name': 'stop', "
	"'kind': 'tool', 'join': 'all', 'class': 'idempotent', 'depends_on': [], "
	"'inputs': {}, 'reads': [], 'tool': 'fetch'}, {'name': 'then', 'kind': 'tool', "
	"'join': 'all', 'class': 'pure', 'depends_on': ['stop'], 'inputs': {}, 'reads': "
	"[], 'tool': 'echo'}]},"
	"{'name': 'never', 'kind': 'tool', 'join': 'all', 'class': 'pure', 'depends_on': "
	"['closing'], 'inputs': {}, 'reads': [], 'tool': 'echo'}"
	"]}";

static const struct play_line lines[] = {
	{ "run.created", 0,
	  "{'name': 'long', 'definition': "
	  "'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', 'inputs': "
	  "{'is': {'topic': 'tea'}}, 'by': 'ada', 'queued': true, 'parent': "
	  "'11111111-2222-4333-8444-555555555699', 'retention_days': 30, 'v': 2}",
	  "queued" },
	{ "run.started", 250, "{'v': 2}", "running" },
	{ "turn.requested", 1,
	  "{'step': 'plan', 'effect': '11111111-2222-4333-8444-555555555601', 'driver': "
	  "'script', 'model': 'small', 'request': {'is': {'system': 'You write.', "
	  "'messages': []}}, 'v': 2}",
	  "running" },
	{ "turn.finished", 900,
	  "{'step': 'plan', 'effect': '11111111-2222-4333-8444-555555555601', 'outcome': "
	  "'ok', 'output': {'is': {'text': 'first tea, then more'}}, 'usage': "
	  "{'input_tokens': 20, 'output_tokens': 5}, 'v': 2}",
	  "running" },
	{ "step.skipped", 0, "{'step': 'polish', 'reason': 'condition', 'v': 2}", "running" },
	{ "step.started", 0, "{'step': 'note', 'v': 2}", "running" },
	{ "step.computed", 3, "{'step': 'note', 'output': {'is': {'text': 'noted'}}, 'v': 2}",
	  "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'flaky', 'effect': '11111111-2222-4333-8444-555555555602', "
	  "'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'for': 'flaky'}}}",
	  "running" },
	{ "tool.finished", 200,
	  "{'v': 2, 'step': 'flaky', 'effect': '11111111-2222-4333-8444-555555555602', "
	  "'outcome': 'failed', 'fault': {'code': 'tool_failed', 'text': 'exit status 7: "
	  "try later'}, 'next': {'retry_at': '2026-01-12T09:30:02.000Z'}}",
	  "running" },
	{ "tool.requested", 646,
	  "{'v': 2, 'step': 'flaky', 'effect': '11111111-2222-4333-8444-555555555602', "
	  "'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'for': 'flaky'}}, "
	  "'attempt': 2}",
	  "running" },
	{ "tool.restarted", 300,
	  "{'step': 'flaky', 'effect': '11111111-2222-4333-8444-555555555602', 'attempt': "
	  "3, 'v': 2}",
	  "running" },
	{ "tool.finished", 50,
	  "{'v': 2, 'step': 'flaky', 'effect': '11111111-2222-4333-8444-555555555602', "
	  "'outcome': 'ok', 'output': {'is': {'page': 1}}}",
	  "running" },
	{ "step.entered", 0, "{'step': 'improve', 'v': 2}", "running" },
	{ "step.entered", 0, "{'step': 'each', 'items': {'is': ['a', 'b']}, 'count': 2, 'v': 2}",
	  "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'improve/draft', 'effect': "
	  "'11111111-2222-4333-8444-555555555603', 'tool': 'fetch', 'class': 'idempotent', "
	  "'inputs': {'is': {'for': 'improve/draft'}}}",
	  "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'each[0]/x', 'effect': '11111111-2222-4333-8444-555555555604', "
	  "'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'for': 'each[0]/x'}}}",
	  "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'each[1]/x', 'effect': '11111111-2222-4333-8444-555555555605', "
	  "'tool': 'fetch', 'class': 'idempotent', 'inputs': {'is': {'for': 'each[1]/x'}}}",
	  "running" },
	{ "tool.finished", 100,
	  "{'v': 2, 'step': 'each[0]/x', 'effect': '11111111-2222-4333-8444-555555555604', "
	  "'outcome': 'ok', 'output': {'is': {'page': 'a'}}}",
	  "running" },
	{ "step.computed", 1, "{'step': 'each[0]/y', 'output': {'is': {'text': 'a'}}, 'v': 2}",
	  "running" },
	{ "tool.finished", 100,
	  "{'v': 2, 'step': 'improve/draft', 'effect': "
	  "'11111111-2222-4333-8444-555555555603', 'outcome': 'ok', 'output': {'is': "
	  "{'text': 'rough'}}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'improve', 'outcome': 'ok', 'output': {'is': {'text': 'rough'}}, "
	  "'next': {'again': true}, 'v': 2}",
	  "running" },
	{ "step.entered", 0, "{'step': 'improve#2', 'v': 2}", "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'improve#2/draft', 'effect': "
	  "'11111111-2222-4333-8444-555555555606', 'tool': 'fetch', 'class': 'idempotent', "
	  "'inputs': {'is': {'for': 'improve#2/draft'}}}",
	  "running" },
	{ "tool.finished", 100,
	  "{'v': 2, 'step': 'each[1]/x', 'effect': '11111111-2222-4333-8444-555555555605', "
	  "'outcome': 'failed', 'fault': {'code': 'tool_failed', 'text': 'exit status 4: "
	  "gone'}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'each', 'outcome': 'failed', 'output': {'is': [{'text': 'a'}, null]}, "
	  "'fault': {'code': 'tool_failed', 'text': 'each[1]/x: exit status 4: gone'}, "
	  "'v': 2}",
	  "running" },
	{ "tool.finished", 100,
	  "{'v': 2, 'step': 'improve#2/draft', 'effect': "
	  "'11111111-2222-4333-8444-555555555606', 'outcome': 'ok', 'output': {'is': "
	  "{'text': 'fine'}}}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'improve#2', 'outcome': 'ok', 'output': {'is': {'text': 'fine'}}, 'v': "
	  "2}",
	  "running" },
	{ "step.entered", 0, "{'step': 'both', 'v': 2}", "running" },
	{ "step.computed", 1, "{'step': 'both/left', 'output': {'is': {'text': 'l'}}, 'v': 2}",
	  "running" },
	{ "step.computed", 1, "{'step': 'both/right', 'output': {'is': {'text': 'r'}}, 'v': 2}",
	  "running" },
	{ "step.left", 0,
	  "{'step': 'both', 'outcome': 'ok', 'output': {'is': {'left': {'text': 'l'}, "
	  "'right': {'text': 'r'}}}, 'v': 2}",
	  "running" },
	{ "subrun.requested", 0,
	  "{'step': 'child', 'effect': '11111111-2222-4333-8444-555555555607', 'name': "
	  "'report', 'definition': "
	  "'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', 'inputs': "
	  "{'is': {'of': 'tea'}}, 'v': 2}",
	  "running" },
	{ "subrun.finished", 5000,
	  "{'step': 'child', 'effect': '11111111-2222-4333-8444-555555555607', 'outcome': "
	  "'ok', 'output': {'is': {'pages': 3}}, 'v': 2}",
	  "running" },
	{ "timer.requested", 0,
	  "{'step': 'go', 'effect': '11111111-2222-4333-8444-555555555608', 'signal': "
	  "'go', 'v': 2}",
	  "running" },
	{ "run.paused", 1000, "{'by': 'ada', 'reason': 'lunch', 'v': 2}", "paused" },
	{ "run.signalled", 1000,
	  "{'name': 'go', 'data': {'is': {'when': 'now'}}, 'by': 'bob', 'v': 2}", "paused" },
	{ "timer.finished", 0,
	  "{'step': 'go', 'effect': '11111111-2222-4333-8444-555555555608', 'outcome': "
	  "'ok', 'output': {'is': {'when': 'now'}}, 'v': 2}",
	  "paused" },
	{ "run.resumed", 2000, "{'by': 'ada', 'v': 2}", "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555609', "
	  "'tool': 'transfer', 'class': 'once', 'inputs': {'is': {'for': 'pay'}}}",
	  "running" },
	{ "tool.finished", 400,
	  "{'v': 2, 'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555609', "
	  "'outcome': 'unknown', 'fault': {'code': 'outcome_unknown', 'text': 'the program "
	  "ended in between'}}",
	  "running" },
	{ "human.requested", 0,
	  "{'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555610', 'kind': "
	  "'outcome_unknown', 'question': 'Step pay may or may not have happened.', "
	  "'inputs': {'is': {'for': 'pay'}}, 'revision': "
	  "'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', 'v': 2}",
	  "waiting_human" },
	{ "human.finished", 9000,
	  "{'step': 'pay', 'effect': '11111111-2222-4333-8444-555555555610', 'outcome': "
	  "'ok', 'decision': 'happened', 'comment': 'seen on the statement', 'by': 'bob', "
	  "'value': {'is': {'booked': true}}, 'v': 2}",
	  "running" },
	{ "human.requested", 0,
	  "{'step': 'ask', 'effect': '11111111-2222-4333-8444-555555555611', 'kind': "
	  "'approval', 'question': 'Close the books?', 'inputs': {'is': {'year': 2025}}, "
	  "'revision': '0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', "
	  "'due_at': '2026-01-12T10:30:21.153Z', 'v': 2}",
	  "waiting_human" },
	{ "human.escalated", 3600000,
	  "{'step': 'ask', 'effect': '11111111-2222-4333-8444-555555555611', 'level': 1, "
	  "'to': 'lead', 'v': 2}",
	  "waiting_human" },
	{ "human.finished", 60000,
	  "{'step': 'ask', 'effect': '11111111-2222-4333-8444-555555555611', 'outcome': "
	  "'ok', 'decision': 'modify', 'by': 'lead', 'value': {'is': {'decision': "
	  "'modify', 'comment': '', 'by': 'lead', 'value': {'year': 2024}}}, 'v': 2}",
	  "running" },
	{ "step.entered", 0, "{'step': 'closing', 'v': 2}", "running" },
	{ "tool.requested", 0,
	  "{'v': 2, 'step': 'closing/stop', 'effect': "
	  "'11111111-2222-4333-8444-555555555612', 'tool': 'fetch', 'class': 'idempotent', "
	  "'inputs': {'is': {'for': 'closing/stop'}}}",
	  "running" },
	{ "run.cancelling", 700, "{'by': 'ada', 'reason': 'enough', 'v': 2}", "running" },
	{ "tool.finished", 30,
	  "{'v': 2, 'step': 'closing/stop', 'effect': "
	  "'11111111-2222-4333-8444-555555555612', 'outcome': 'cancelled', 'fault': "
	  "{'code': 'cancelled', 'text': 'it was told to stop'}}",
	  "running" },
	{ "run.finished", 0,
	  "{'outcome': 'cancelled', 'fault': {'code': 'cancelled', 'text': 'called off by "
	  "ada: enough'}, 'v': 2}",
	  "cancelled" },
};

const struct play play_long = { "-long", graph_text, lines, sizeof(lines) / sizeof(lines[0]) };
