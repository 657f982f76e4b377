/* contract/describe_vocabularies.c -- the reference page of contracts/event_types.def: what produces each event type
 * of each vocabulary. */
#include "contract/describe.h"

static const struct scenario_line {
	const char *name, *text;
} scenarios[] = {
#define SCENARIO(name_, text_) { #name_, text_ },
#include "contracts/event_types.def"
};

/* A scenario that has no row does not compile. */
enum {
#define SCENARIO(name_, text_) SCENARIO_##name_,
#include "contracts/event_types.def"
	SCENARIO_COUNT,
};

static const struct type_line {
	const char *view, *type, *by;
	int scenario; /* -1 = none */
} types[] = {
#define PRODUCED(view_, type_, scenario_) { #view_, type_, NULL, SCENARIO_##scenario_ },
#define PLANNED(view_, type_, by_)        { #view_, type_, "planned: " by_, -1 },
#define LIVE(view_, type_, text_)         { #view_, type_, "never stored: " text_, -1 },
#include "contracts/event_types.def"
};

void describe_vocabularies(struct buf *out)
{
	buf_add(out, S("# Event types of the vocabularies\n\nWhat produces each event type.\n\n"
		       "| scenario | what happens |\n|---|---|\n"));
	for (size_t i = 0; i < COUNT(scenarios); i++)
		buf_add_format(out, "| `%s` | %s |\n", scenarios[i].name, scenarios[i].text);
	buf_add(out, S("\n| view | event type | produced by |\n|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(types); i++) {
		const struct type_line *line = &types[i];
		buf_add_format(out, "| %s | `%s` | ", line->view, line->type);
		if (line->scenario >= 0)
			buf_add_format(out, "`%s` |\n", scenarios[line->scenario].name);
		else
			buf_add_format(out, "%s |\n", line->by);
	}
}
