/* cli/event_line.c -- formats one event as a line of text.
 *
 * The members of the event's body are looked up by name, because the server may be newer than this
 * program and send unknown members and unknown events.
 */
#include "cli/event_line.h"

#include "base/terminal_text.h"
#include "base/time.h"
#include "cli/output.h"

static void add_member(const struct json *data, const char *name, const char *before,
		       struct buf *line)
{
	struct str text = json_text(json_member(data, str_from_c(name)));
	if (text.size == 0)
		return;
	buf_add_format(line, "  %s", before);
	buf_add(line, text);
}

/* The members of an event that say more than its type. */
static void add_members(const struct run_event *event, struct buf *line)
{
	const struct json *data = event->data;
	bool answers = str_equal(event->type, S("human.finished"));
	add_member(data, answers ? "decision" : "outcome", "", line);
	const struct json *attempt = json_member(data, S("attempt"));
	if (attempt != NULL && attempt->kind == JSON_INT && attempt->as.integer > 1)
		buf_add_format(line, "  attempt %lld", (long long)attempt->as.integer);
	if (str_equal(event->type, S("run.signalled")))
		add_member(data, "name", "", line);
	add_member(data, "signal", "for ", line);
	add_member(data, "from", "from ", line);
	add_member(data, "agent", "by ", line);
	add_member(data, "to", "for ", line);
	add_member(data, "subject", "", line);
	add_member(data, "by", "by ", line);
	add_member(data, "comment", "", line);
	add_member(data, "reason", "", line);
	add_member(json_member(data, S("fault")), "text", "", line);
	add_member(json_member(data, S("next")), "retry_at", "retry at ", line);
}

void event_line_add(const struct run_event *event, bool advice, struct buf *out)
{
	char at[TIME_TEXT_SIZE];
	const struct json *data = event->data;
	AUTO(buf) line = { 0 };
	buf_add_format(&line, STR_FMT "  %-16.*s  " STR_FMT, STR_ARG(time_text(event->at, at)),
		       STR_ARG(event->type), STR_ARG(json_text(json_member(data, S("step")))));
	add_members(event, &line);
	terminal_text_add(buf_str(&line), 0, out);
	buf_add_char(out, '\n');
	if (!str_equal(event->type, S("human.requested")))
		return;
	cli_block_add("    | ", json_text(json_member(data, S("question"))), out);
	if (!advice)
		return;
	bool unknown = str_equal(json_text(json_member(data, S("kind"))), S("outcome_unknown"));
	buf_add_format(out, "    answer with: baton %s ", unknown ? "settle" : "approve");
	terminal_text_add(json_text(json_member(data, S("effect"))), 0, out);
	buf_add_char(out, '\n');
}
