/* cli/command_show.c -- baton show: state of a run, and its steps as a tree. */

#include "base/terminal_text.h"
#include "base/time.h"
#include "cli/server_request.h"
#include "cli/output.h"
#include "cli/run_lookup.h"
#include "cli/run_tree.h"
#include "cli/step_log_print.h"
#include "cli/usage_text.h"
#include "cli/value_text.h"
#include "contract/run_outline_types.h"
#include "os/terminal.h"

enum { LOGS_SHOWN = 3 };

static bool prepare(struct cli *cli, struct error *error)
{
	struct run_name *run = arena_new(&cli->arena, struct run_name);
	cli->state = run;
	return run_name_parse(cli_argument(cli, 0), "RUN", run, error);
}

static void put(struct buf *out, const char *name, struct str text)
{
	buf_add_format(out, "  %-9s  ", name);
	terminal_text_add(text, 0, out);
	buf_add_char(out, '\n');
}

static void put_time(struct buf *out, const char *name, int64_t at)
{
	char text[TIME_TEXT_SIZE];
	put(out, name, time_text(at, text));
}

static void put_id(struct buf *out, const char *name, const struct uuid *id)
{
	char text[UUID_TEXT_SIZE];
	put(out, name, uuid_text(id, text));
}

static void put_facts(struct cli *cli, const struct run_outline *run, struct buf *out)
{
	struct arena *arena = &cli->arena;
	AUTO(buf) took = { 0 };
	terminal_text_add(run->workflow, 0, out);
	buf_add_char(out, '\n');
	put_id(out, "run", &run->run_id);
	put(out, "state",
	    str_format(arena, STR_FMT "%s", STR_ARG(run->state),
		       has(run, unwinding)    ? ", unwinding"
		       : has(run, cancelling) ? ", cancelling"
					      : ""));
	if (has(run, error))
		put(out, "error", run->error);
	if (has(run, workspace_removed))
		put(out, "workspace", S("removed by retention; the run cannot be retried"));
	if (has(run, queue))
		put(out, "queue",
		    str_format(arena, "position %lld of %lld for admission of kind " STR_FMT,
			       (long long)run->queue->position, (long long)run->queue->length,
			       STR_ARG(run->queue->kind)));
	if (has(run, priority))
		put(out, "priority", str_format(arena, "%lld", (long long)run->priority));
	if (has(run, alone))
		put(out, "key", run->alone);
	for (size_t i = 0; has(run, labels) && i < run->labels.count; i++)
		put(out, i == 0 ? "labels" : "",
		    str_format(arena, STR_FMT "=" STR_FMT, STR_ARG(run->labels.at[i].key),
			       STR_ARG(run->labels.at[i].value)));
	for (size_t i = 0; has(run, prompts) && i < run->prompts.count; i++)
		put(out, i == 0 ? "prompts" : "",
		    str_format(arena, STR_FMT " " STR_FMT, STR_ARG(run->prompts.at[i].key),
			       STR_ARG(run->prompts.at[i].value)));
	if (has(run, by))
		put(out, "by", run->by);
	if (has(run, parent))
		put_id(out, "part of", &run->parent);
	put_time(out, "recorded", run->created_at);
	if (has(run, started_at) && run->started_at != run->created_at)
		put_time(out, "started", run->started_at);
	if (has(run, ended_at))
		put_time(out, "ended", run->ended_at);
	if (!has(run, started_at))
		return;
	run_tree_duration(run->started_at, has(run, ended_at) ? run->ended_at : cli->now, &took);
	put(out, has(run, ended_at) ? "took" : "so far", buf_str(&took));
}

static void put_usage(const struct json *usage, struct buf *out)
{
	AUTO(buf) text = { 0 };
	if (usage == NULL)
		return;
	usage_text_add(usage, &text);
	put(out, "usage", buf_str(&text));
}

static void put_values(const struct json *values, const char *title, struct buf *out)
{
	if (values == NULL || values->kind != JSON_OBJECT || values->as.object.count == 0)
		return;
	buf_add_format(out, "\n%s\n", title);
	value_text_add(values, "  ", out);
}

/* Prints the errors of failed steps in full: the tree has only their first line, cut to the width
 * of the terminal. */
static void put_errors(const struct run_outline *run, struct buf *out)
{
	for (size_t i = 0; i < run->steps.count; i++) {
		const struct run_outline_step *step = &run->steps.at[i];
		if (!has(step, error) || !str_equal(step->state, S("failed")))
			continue;
		buf_add_char(out, '\n');
		terminal_text_add(step->step, 0, out);
		buf_add(out, S(" failed:\n"));
		cli_block_add("  | ", step->error, out);
	}
}

/* Prints the newest messages between agents, a line for each. */
static void put_messages(const struct run_outline *run, struct buf *out)
{
	char at[TIME_TEXT_SIZE];
	if (!has(run, messages))
		return;
	buf_add(out, S("\nmessages\n"));
	if (has(run, messages_left_out))
		buf_add_format(out, "  (%lld older messages)\n", (long long)run->messages_left_out);
	for (size_t i = 0; i < run->messages.count; i++) {
		const struct run_outline_message *message = &run->messages.at[i];
		AUTO(buf) line = { 0 };
		buf_add_format(&line, STR_FMT "  " STR_FMT " to " STR_FMT ": ",
			       STR_ARG(time_text(message->at, at)), STR_ARG(message->from),
			       STR_ARG(has(message, to) ? message->to : S("all")));
		if (has(message, subject))
			buf_add_format(&line, "[" STR_FMT "] ", STR_ARG(message->subject));
		buf_add(&line, message->text);
		buf_add(out, S("  "));
		terminal_text_add(buf_str(&line), 0, out);
		buf_add_char(out, '\n');
	}
}

/* The values that a question is about: the arguments of a call that needs approval. */
static void put_asked(struct cli *cli, const struct run_outline *run,
		      const struct run_outline_step *step, struct buf *out)
{
	const struct json *details;
	bool lost;
	struct error error;
	if (!cli_request(cli, "GET", cli_step_target(cli, &run->run_id, step->step, "/details"),
			 S(""), &details, &lost, &error))
		return; /* it has been answered meanwhile */
	const struct json *inputs = json_member(details, S("inputs"));
	if (inputs != NULL && inputs->kind == JSON_OBJECT && inputs->as.object.count > 0)
		value_text_add(inputs, "    ", out);
}

/* Prints the open requests to people, each with the command that answers it. */
static void put_questions(struct cli *cli, const struct run_outline *run, struct buf *out)
{
	char id[UUID_TEXT_SIZE], at[TIME_TEXT_SIZE];
	for (size_t i = 0; i < run->steps.count; i++) {
		const struct run_outline_step *step = &run->steps.at[i];
		if (!has(step, request))
			continue;
		buf_add_char(out, '\n');
		terminal_text_add(step->step, 0, out);
		buf_add_format(out, " asks (" STR_FMT ")",
			       STR_ARG(run_request_kind_name(step->asks)));
		if (has(step, to)) {
			buf_add(out, S(", now "));
			terminal_text_add(step->to, 0, out);
		}
		if (has(step, due_at))
			buf_add_format(out, ", until " STR_FMT,
				       STR_ARG(time_text(step->due_at, at)));
		buf_add(out, S(":\n"));
		cli_block_add("  | ", step->question, out);
		put_asked(cli, run, step, out);
		buf_add_format(out, "  baton %s " STR_FMT "\n",
			       step->asks == RUN_REQUEST_OUTCOME_UNKNOWN ? "settle" : "approve",
			       STR_ARG(uuid_text(&step->request, id)));
	}
}

/* The last lines of the first failed steps. */
static void put_logs(struct cli *cli, const struct run_outline *run, struct buf *out)
{
	size_t shown = 0;
	for (size_t i = 0; i < run->steps.count && shown < LOGS_SHOWN; i++)
		if (run->steps.at[i].kind == RUN_NODE_TOOL &&
		    str_equal(run->steps.at[i].state, S("failed")))
			shown += step_log_add_tail(cli, &run->run_id, run->steps.at[i].step, out);
}

static int run(struct cli *cli)
{
	const struct json *answer, *result;
	struct error error;
	size_t rows;
	struct run_name *name = cli->state;
	int status = run_name_find(cli, name);
	if (status == 0)
		status = cli_call(cli, "GET", cli_run_target(cli, &name->first, "/steps"), S(""),
				  &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	status = cli_call(cli, "GET", cli_run_target(cli, &name->first, ""), S(""), &result);
	if (status != 0)
		return status;
	struct contract_source source = { .json = answer, .lenient = true };
	struct problems problems = { .arena = &cli->arena };
	const struct run_outline *outline = run_outline_parse(&source, &cli->arena, &problems);
	if (outline == NULL) {
		fail(&error, ERROR_INTERNAL,
		     "the server's response is not a run.Outline; is it another version of baton?");
		return cli_fail(cli, &error);
	}
	AUTO(buf) out = { 0 };
	struct tree_style style = { .now = cli->now, .no_spinner = true, .color = cli->color };
	if (cli->interactive && !terminal_size(&rows, &style.columns))
		style.columns = 0;
	put_facts(cli, outline, &out);
	put_usage(json_member(answer, S("usage")), &out);
	buf_add_char(&out, '\n');
	run_tree_print(outline, &style, &out);
	put_values(json_member(result, S("inputs")), "inputs", &out);
	put_values(json_member(result, S("outputs")), "outputs", &out);
	put_errors(outline, &out);
	put_messages(outline, &out);
	put_questions(cli, outline, &out);
	put_logs(cli, outline, &out);
	cli_warnings(answer);
	return cli_print_styled(cli, buf_str(&out));
}

const struct cli_command command_show = {
	.name = "show",
	.text = "Show a run: state, steps, inputs, outputs, errors, open requests, logs",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "RUN", .value_kind = CLI_RUN } },
	.examples = { { "baton show 1f0c", "Show steps with states, attempts, times and errors" },
		      { "baton show 1f0c --json", "Print the same as JSON (run.Outline)" } },
	.prepare = prepare,
	.run = run,
};
