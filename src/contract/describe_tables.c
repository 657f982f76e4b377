/* contract/describe_tables.c -- reference pages of the other .def files: states, events, errors,
 * config, limits, metrics.
 *
 * Tables are not padded, so that a changed cell does not change other lines.
 */
#include <string.h>

#include "base/error.h"
#include "contract/config_rows.h"
#include "contract/describe.h"
#include "contract/event.h"

/* ---- states ---------------------------------------------------------------------------- */

enum ending { ENDING_LIVE, ENDING_FINAL };

struct state_row {
	const char *machine, *constant, *word, *text;
	enum ending ending;
};

static const struct state_row states[] = {
#define STATE(machine_, constant_, word_, ending_, text_) \
	{ #machine_, #constant_, word_, text_, ENDING_##ending_ },
#define MOVE(machine_, from_, to_, cause_)
#include "contracts/states.def"
#undef STATE
#undef MOVE
};

static const struct move_row {
	const char *machine, *from, *to, *cause;
} moves[] = {
#define STATE(machine_, constant_, word_, ending_, text_)
#define MOVE(machine_, from_, to_, cause_) { #machine_, #from_, #to_, cause_ },
#include "contracts/states.def"
#undef STATE
#undef MOVE
};

static const char *state_word(const char *constant)
{
	for (size_t i = 0; i < COUNT(states); i++)
		if (strcmp(states[i].constant, constant) == 0)
			return states[i].word;
	return constant;
}

/* Mermaid ends a label at a second colon: `a: b` becomes `a (b)`. */
static void put_label(struct buf *out, const char *cause)
{
	struct str rest = str_from_c(cause), head;
	size_t at;
	if (!str_find(rest, S(": "), &at)) {
		buf_add(out, rest);
		return;
	}
	head = str_head(rest, at);
	rest = str_skip(rest, at + 2);
	buf_add_format(out, STR_FMT " (" STR_FMT ")", STR_ARG(head), STR_ARG(rest));
}

static void put_diagram(struct buf *out, const char *machine)
{
	bool first = true;
	buf_add(out, S("```mermaid\nstateDiagram-v2\n"));
	for (size_t i = 0; i < COUNT(states); i++)
		if (strcmp(states[i].machine, machine) == 0 && first) {
			buf_add_format(out, "  [*] --> %s\n", states[i].word);
			first = false;
		}
	for (size_t i = 0; i < COUNT(moves); i++) {
		if (strcmp(moves[i].machine, machine) != 0)
			continue;
		buf_add_format(out, "  %s --> %s : ", state_word(moves[i].from),
			       state_word(moves[i].to));
		put_label(out, moves[i].cause);
		buf_add_char(out, '\n');
	}
	for (size_t i = 0; i < COUNT(states); i++)
		if (strcmp(states[i].machine, machine) == 0 && states[i].ending == ENDING_FINAL)
			buf_add_format(out, "  %s --> [*]\n", states[i].word);
	buf_add(out, S("```\n"));
}

static void put_machine(struct buf *out, const char *machine)
{
	buf_add_format(out, "\n## %s\n\n", machine);
	put_diagram(out, machine);
	buf_add(out, S("\n| state | final | meaning |\n|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(states); i++)
		if (strcmp(states[i].machine, machine) == 0)
			buf_add_format(out, "| `%s` | %s | %s |\n", states[i].word,
				       states[i].ending == ENDING_FINAL ? "yes" : "no",
				       states[i].text);
}

void describe_states(struct buf *out)
{
	buf_add(out, S("# States\n\nA transition that is not drawn is impossible.\n"));
	for (size_t i = 0; i < COUNT(states); i++) {
		bool seen = false;
		for (size_t j = 0; j < i; j++)
			seen = seen || strcmp(states[j].machine, states[i].machine) == 0;
		if (!seen)
			put_machine(out, states[i].machine);
	}
	describe_active_run(out);
}

/* ---- events ---------------------------------------------------------------------------- */

#define EVENT(constant_, name_, body_, level_, persistence_, text_) type_function body_##_type;
#include "contracts/events.def"
#undef EVENT

static const struct event_line {
	const char *name, *text, *level, *persistence;
	type_function *body;
} events[] = {
#define EVENT(constant_, name_, body_, level_, persistence_, text_) \
	[EVENT_##constant_] = { name_, text_, #level_, #persistence_, body_##_type },
#include "contracts/events.def"
#undef EVENT
};

/* The words for an event in the other vocabularies, in the order of the rows. */
static const struct projection_line {
	enum event_type event;
	const char *view, *word; /* NULL: depends on the body */
} projections[] = {
#define WORD(word_)                  word_
#define BY(function_)                NULL
#define PROJECT(event_, view_, how_) { EVENT_##event_, #view_, how_ },
#include "contracts/projections.def"
#undef PROJECT
#undef WORD
#undef BY
};

static const struct stored_row stored[] = {
#define PROJECT(event_, view_, how_)
#define STORED(name_, source_, text_)                 \
	{ .name = { #name_, sizeof(#name_) - 1 },     \
	  .source = { source_, sizeof(source_) - 1 }, \
	  .text = { text_, sizeof(text_) - 1 } },
#include "contracts/projections.def"
#undef PROJECT
};

const struct stored_row *stored_row_at(size_t index)
{
	return index < COUNT(stored) ? &stored[index] : NULL;
}

static void put_lower(struct buf *out, const char *word)
{
	for (; *word != '\0'; word++)
		buf_add_char(out, (char)(*word >= 'A' && *word <= 'Z' ? *word - 'A' + 'a' : *word));
}

void describe_events(struct buf *out)
{
	buf_add(out, S("# Events\n\nThe event types of a stream. A name is never reused or "
		       "renamed.\n\n| event | body | level | kept | meaning |\n"
		       "|---|---|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(events); i++) {
		buf_add_format(out, "| `%s` | `" STR_FMT "` | ", events[i].name,
			       STR_ARG(events[i].body()->name));
		put_lower(out, events[i].level);
		buf_add(out, S(" | "));
		put_lower(out, events[i].persistence);
		buf_add_format(out, " | %s |\n", events[i].text);
	}
	buf_add(out, S("\n## In the other vocabularies\n\nAn event without a line is not shown in "
		       "that view.\n\n| event | view | word |\n|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(projections); i++) {
		const struct projection_line *line = &projections[i];
		buf_add_format(out, "| `%s` | %s | ", events[line->event].name, line->view);
		if (line->word != NULL)
			buf_add_format(out, "`%s` |\n", line->word);
		else
			buf_add(out, S("depends on the body |\n"));
	}
	buf_add(out,
		S("\n## Projections\n\nWritten in the same commit as the "
		  "events; `baton db rebuild` derives them again.\n\n| projection | derived from | meaning |"
		  "\n|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(stored); i++)
		buf_add_format(out, "| `" STR_FMT "` | " STR_FMT " | " STR_FMT " |\n",
			       STR_ARG(stored[i].name), STR_ARG(stored[i].source),
			       STR_ARG(stored[i].text));
}

/* ---- errors ---------------------------------------------------------------------------- */

static const char *retry_word(enum error_retry retry)
{
	switch (retry) {
	case ERROR_RETRY_FINAL:
		return "no";
	case ERROR_RETRY_AGAIN:
		return "yes";
	case ERROR_RETRY_ASK:
		return "after a person has checked";
	}
	return "";
}

void describe_errors(struct buf *out)
{
	buf_add(out,
		S("# Errors\n\nEach error code with its HTTP status, the command line's exit "
		  "status, and whether a retry can help.\n\n"
		  "| code | status | exit | retry | class | meaning |\n|---|---|---|---|---|---|\n"));
	for (size_t i = 0; i < error_count(); i++) {
		const struct error_row *row = error_row((enum error_code)i);
		buf_add_format(out,
			       "| `" STR_FMT "` | %d | %d | %s | `" STR_FMT "` | " STR_FMT " |\n",
			       STR_ARG(row->name), row->http_status, row->exit_status,
			       retry_word(row->retry), STR_ARG(row->class), STR_ARG(row->text));
	}
}

/* ---- settings -------------------------------------------------------------------------- */

static void put_code(struct buf *out, const char *text)
{
	if (text[0] == '\0')
		buf_add(out, S(" |"));
	else
		buf_add_format(out, " `%s` |", text);
}

void describe_config(struct buf *out)
{
	const struct config_row *row;
	char environment[CONFIG_ENVIRONMENT_SIZE];
	buf_add(out, S("# Settings\n\nA flag overrides the environment, the environment overrides "
		       "`config.yaml` in the data folder, and the file overrides the default.\n\n"
		       "| setting | allowed values | default | environment | flag | meaning |\n"
		       "|---|---|---|---|---|---|\n"));
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		buf_add_format(out, "| `" STR_FMT "` | ", STR_ARG(row->name));
		config_allowed(row, out);
		buf_add(out, S(" |"));
		put_code(out, row->fallback);
		put_code(out, config_environment(row, environment));
		put_code(out, row->flag);
		buf_add_format(out, " " STR_FMT " |\n", STR_ARG(row->text));
	}
}

/* ---- limits and metrics ---------------------------------------------------------------- */

void describe_limits(struct buf *out)
{
	buf_add(out, S("# Limits\n\nEvery limit and its reason.\n\n"
		       "| limit | value | unit | reason |\n|---|---|---|---|\n"));
#define LIMIT(name_, value_, unit_, why_)                                                      \
	buf_add_format(out, "| `%s` | %lld | %s | %s |\n", #name_, (long long)(value_), unit_, \
		       why_);
#include "contracts/limits.def"
#undef LIMIT
}

void describe_metrics(struct buf *out)
{
	buf_add(out, S("# Metrics\n\nThe metrics of GET /metrics.\n\n"
		       "| metric | kind | meaning |\n|---|---|---|\n"));
#define METRIC(name_, kind_, from_, text_) \
	buf_add_format(out, "| `%s` | %s | %s |\n", #name_, #kind_, text_);
#include "contracts/metrics.def"
#undef METRIC
}
