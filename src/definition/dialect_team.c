/* definition/dialect_team.c -- team files: read and checked, and not started.
 *
 * The agents of a team hand work to each other by rules that the engine does not have yet.  A graph that
 * only looks like the team would do something else, so a file without mistakes is refused with the reason.
 */
#include "contract/task_types.h"
#include "definition/dialect.h"

const struct json *dialect_team_translate(struct compiler *c, const struct json *tree,
					  struct str text)
{
	const struct contract_source source = { .json = tree, .text = text };
	const struct task_team_config *team =
		task_team_config_parse(&source, c->arena, c->problems);
	const struct json *place = json_member(tree, S("name"));
	if (team != NULL)
		problems_add(c->problems, S("/name"), place->line, place->column,
			     "the team " STR_FMT
			     " has no mistakes, but teams cannot be started yet; write its work as "
			     "a graph workflow (docs/graphs.md)",
			     STR_ARG(team->name));
	return NULL;
}
