/* cli/run_lookup.c -- finds a run by its id, the first digits of its id, or @last. */
#include "cli/run_lookup.h"

#include <string.h>

#include "cli/server_request.h"

enum { CANDIDATES_SHOWN = 4, PARENTS_MOST = 64 };

bool run_name_parse(const char *text, const char *what, struct run_name *out_name,
		    struct error *error)
{
	struct run_name name = { .text = text, .newest = strcmp(text, "@last") == 0 };
	if (!name.newest && !uuid_prefix_parse(str_from_c(text), &name.first, &name.last))
		return fail(error, ERROR_USAGE,
			    "%s must be an id, at least its first %d digits, or @last, not \"%s\"",
			    what, UUID_PREFIX_LEAST, text);
	*out_name = name;
	return true;
}

bool run_name_fits(const struct run_name *name, struct str id)
{
	struct uuid uuid;
	return uuid_parse(id, &uuid) &&
	       memcmp(uuid.bytes, name->first.bytes, sizeof(uuid.bytes)) >= 0 &&
	       memcmp(uuid.bytes, name->last.bytes, sizeof(uuid.bytes)) <= 0;
}

void run_name_candidate_add(struct str id, struct str about, size_t count, struct buf *list)
{
	if (count < CANDIDATES_SHOWN)
		buf_add_format(list, "%s" STR_FMT " (" STR_FMT ")", count == 0 ? "" : ", ",
			       STR_ARG(id), STR_ARG(str_head(about, 40)));
	else if (count == CANDIDATES_SHOWN)
		buf_add(list, S(" and others"));
}

static bool take_run(const struct json *run, struct run_name *name, struct error *error)
{
	struct uuid id;
	if (!uuid_parse(cli_text(run, "run_id"), &id))
		return fail(error, ERROR_INTERNAL, "the server sent a run without an id");
	name->first = name->last = id;
	name->newest = false;
	return true;
}

/* The newest run, or the run that has started it. */
static bool find_newest(struct cli *cli, struct run_name *name, bool *out_lost, struct error *error)
{
	const struct json *answer;
	if (!cli_request(cli, "GET", S("/api/runs?limit=1"), S(""), &answer, out_lost, error))
		return false;
	if (json_item(answer, 0) == NULL)
		return fail(error, ERROR_NOT_FOUND, "there are no runs yet");
	if (!take_run(json_item(answer, 0), name, error))
		return false;
	for (int i = 0; i < PARENTS_MOST; i++) {
		struct str target = cli_run_target(cli, &name->first, "/steps");
		if (!cli_request(cli, "GET", target, S(""), &answer, out_lost, error))
			return false;
		struct uuid parent;
		if (!uuid_parse(cli_text(answer, "parent"), &parent))
			return true;
		name->first = name->last = parent;
	}
	return true;
}

static bool find_by_prefix(struct cli *cli, struct run_name *name, bool *out_lost,
			   struct error *error)
{
	const struct json *runs;
	struct str target = cli_query(cli, S("/api/runs?limit=10"), "id_prefix", name->text);
	if (!cli_request(cli, "GET", target, S(""), &runs, out_lost, error))
		return false;
	if (json_item(runs, 0) == NULL)
		return fail(error, ERROR_NOT_FOUND, "no run has an id that begins with %s",
			    name->text);
	if (json_item(runs, 1) == NULL)
		return take_run(json_item(runs, 0), name, error);
	AUTO(buf) list = { 0 };
	for (size_t i = 0; json_item(runs, i) != NULL; i++)
		run_name_candidate_add(cli_text(json_item(runs, i), "run_id"),
				       cli_text(json_item(runs, i), "workflow"), i, &list);
	return fail(error, ERROR_USAGE,
		    "several runs have ids that begin with %s; add digits: " STR_FMT, name->text,
		    STR_ARG(buf_str(&list)));
}

int run_name_find(struct cli *cli, struct run_name *name)
{
	struct error error;
	bool lost = false;
	if (!name->newest && uuid_equal(&name->first, &name->last))
		return 0;
	if (name->newest ? find_newest(cli, name, &lost, &error)
			 : find_by_prefix(cli, name, &lost, &error))
		return 0;
	return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
}
