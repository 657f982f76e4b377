/* tests/unit/views/play_mail.c -- a sample run with two agents, one of which sends a message that the other
 * reads. */
#include <stddef.h>

#include "sample_run.h"

#define NODE "'join': 'any', 'class': 'idempotent', 'depends_on': [], 'inputs': {}, 'reads': []"
#define CALLS                                                                                      \
	"{'name': 'send_message', 'kind': 'mailbox', 'tool': 'send_message', " NODE "}, {'name': " \
	"'read_messages', 'kind': 'mailbox', 'tool': 'read_messages', " NODE "}"
#define MESSAGE "11111111-2222-4333-8444-555555555801"

static const char graph_text[] =
	"{'name': 'mail', 'inputs': [], 'outputs': [], 'rules': 2, 'nodes': [{'name': 'a', 'kind': "
	"'session', " NODE ", 'body': [{'name': 'turn', 'kind': 'agent', " NODE
	", 'agent': {'name': "
	"'ada', 'driver': 'script', 'model': 'm', 'system': ''}}, " CALLS
	"]}, {'name': 'b', 'kind': 'session', " NODE
	", 'body': [{'name': 'turn', 'kind': 'agent', " NODE ", 'agent': {'name': 'bob', 'driver': "
	"'script', 'model': 'm', 'system': ''}}, " CALLS "]}]}";

static const struct play_line lines[] = {
	{ "run.created", 0,
	  "{'name': 'mail', 'definition': "
	  "'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543', "
	  "'inputs': {'is': {}}, 'by': 'ada', 'v': 2}",
	  "running" },
	{ "step.entered", 0, "{'step': 'a', 'opening': {'is': {}}, 'v': 2}", "running" },
	{ "step.entered", 0, "{'step': 'b', 'opening': {'is': {}}, 'v': 2}", "running" },
	{ "message.sent", 5,
	  "{'step': 'a[1]/send_message', 'id': '" MESSAGE "', 'type': 'task', 'from': 'ada', 'to': "
	  "'bob', 'thread': '" MESSAGE "', 'subject': 'port', 'content': {'is': 'Which?'}, 'v': 2}",
	  "running" },
	{ "message.read", 5,
	  "{'step': 'b[1]/read_messages', 'agent': 'bob', 'messages': ['" MESSAGE "'], 'v': 2}",
	  "running" },
};

const struct play play_mail = { "-mail", graph_text, lines, sizeof(lines) / sizeof(lines[0]) };
