/* cli/event_line.c -- prints one event as a line of text.
 *
 * The members of the event's body are looked up by name, because the server may be newer than this
 * program and send unknown members and unknown events.
 */
#include "cli/event_line.h"

#include "base/time.h"
#include "cli/run_tree.h"

static void add_member(const struct json *data, const char *name, const char *before,
		       struct buf *line)
{
	struct str text = json_text(json_member(data, str_from_c(name)));
	if (text.size == 0)
		return;
	buf_add_format(line, "  %s", before);
	run_tree_plain(text, line);
}

void event_line_print(FILE *to, const struct run_event *event, bool advice)
{
	char at[TIME_TEXT_SIZE];
	const struct json *data = event->data;
	AUTO(buf) line = { 0 };
	buf_add_format(&line, STR_FMT "  %-16.*s  " STR_FMT, STR_ARG(time_text(event->at, at)),
		       STR_ARG(event->type), STR_ARG(json_text(json_member(data, S("step")))));
	bool asks = str_equal(event->type, S("human.requested"));
	bool answers = str_equal(event->type, S("human.finished"));
	add_member(data, answers ? "decision" : "outcome", "", &line);
	const struct json *attempt = json_member(data, S("attempt"));
	if (attempt != NULL && attempt->kind == JSON_INT && attempt->as.integer > 1)
		buf_add_format(&line, "  attempt %lld", (long long)attempt->as.integer);
	if (str_equal(event->type, S("run.signalled")))
		add_member(data, "name", "", &line);
	add_member(data, "signal", "for ", &line);
	add_member(data, "to", "for ", &line);
	add_member(data, "by", "by ", &line);
	add_member(data, "comment", "", &line);
	add_member(data, "reason", "", &line);
	add_member(json_member(data, S("fault")), "text", "", &line);
	add_member(json_member(data, S("next")), "retry_at", "retry at ", &line);
	fprintf(to, STR_FMT "\n", STR_ARG(buf_str(&line)));
	if (!asks)
		return;
	buf_clear(&line);
	run_tree_plain(json_text(json_member(data, S("question"))), &line);
	fprintf(to, "    " STR_FMT "\n", STR_ARG(buf_str(&line)));
	bool unknown = str_equal(json_text(json_member(data, S("kind"))), S("outcome_unknown"));
	if (advice)
		fprintf(to, "    answer with: baton %s " STR_FMT "\n",
			unknown ? "settle" : "approve",
			STR_ARG(json_text(json_member(data, S("effect")))));
}
