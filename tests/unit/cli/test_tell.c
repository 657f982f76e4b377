/* Events printed as lines. */
#include <criterion/criterion.h>

#include "cli/event_line.h"

static void expect_line(const char *type, const char *data, bool advice, const char *wanted)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	const struct json *json;
	cr_assert(json_read(str_from_c(data), &arena, &json, &error), "%s", error.text);
	struct run_event *event = run_event_new(&arena);
	SET(event, at, INT64_C(1767225600000000));
	SET(event, type, str_from_c(type));
	SET(event, data, json);
	AUTO(buf) out = { 0 };
	event_line_add(event, advice, &out);
	cr_expect(str_equal(buf_str(&out), str_from_c(wanted)), "\n" STR_FMT "instead of\n%s",
		  STR_ARG(buf_str(&out)), wanted);
}

#define AT "2026-01-01T00:00:00Z  "

Test(event_line, outcomes)
{
	expect_line("tool.finished",
		    "{\"step\":\"a\",\"outcome\":\"failed\",\"fault\":{\"text\":\"no\\nway\"},"
		    "\"next\":{\"retry_at\":\"later\"}}",
		    false, AT "tool.finished     a  failed  no way  retry at later\n");
	expect_line("tool.requested", "{\"step\":\"a\",\"attempt\":2}", false,
		    AT "tool.requested    a  attempt 2\n");
	expect_line("human.finished",
		    "{\"step\":\"q\",\"outcome\":\"ok\",\"decision\":\"approve\",\"by\":\"ann\","
		    "\"comment\":\"fine\"}",
		    false, AT "human.finished    q  approve  by ann  fine\n");
	expect_line("human.escalated", "{\"step\":\"q\",\"to\":\"lead\"}", false,
		    AT "human.escalated   q  for lead\n");
	expect_line("run.signalled", "{\"name\":\"word\",\"by\":\"ann\"}", false,
		    AT "run.signalled       word  by ann\n");
	expect_line("run.created", "{\"name\":\"w\",\"by\":\"ann\"}", false,
		    AT "run.created         by ann\n");
	expect_line("run.cancelling", "{\"by\":\"ann\",\"reason\":\"why\"}", false,
		    AT "run.cancelling      by ann  why\n");
}

Test(event_line, a_request_and_the_command_that_answers_it)
{
	expect_line("human.requested",
		    "{\"step\":\"q\",\"effect\":\"E\",\"kind\":\"approval\",\"question\":\"Go?\"}",
		    true, AT "human.requested   q\n    | Go?\n    answer with: baton approve E\n");
	expect_line(
		"human.requested",
		"{\"step\":\"q\",\"effect\":\"E\",\"kind\":\"outcome_unknown\",\"question\":\"Go?\"}",
		true, AT "human.requested   q\n    | Go?\n    answer with: baton settle E\n");
	expect_line("human.requested", "{\"step\":\"q\",\"effect\":\"E\",\"question\":\"Go?\"}",
		    false, AT "human.requested   q\n    | Go?\n");
}

Test(event_line, nothing_in_it_controls_the_terminal)
{
	expect_line("tool.finished",
		    "{\"step\":\"a\",\"outcome\":\"failed\",\"fault\":{\"text\":"
		    "\"\\u001b[2J\\u202eno\"}}",
		    false, AT "tool.finished     a  failed  \\x1b[2J\\u202eno\n");
	expect_line("human.requested",
		    "{\"step\":\"q\",\"effect\":\"E\",\"question\":"
		    "\"Delete \\u202egpj.exe?\\nSecond line\\u001b[1A\"}",
		    false,
		    AT "human.requested   q\n    | Delete \\u202egpj.exe?\n"
		       "    | Second line\\x1b[1A\n");
}
