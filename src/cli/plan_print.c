/* cli/plan_print.c -- prints what a run would do: baton run --dry-run. */
#include "cli/plan_print.h"

#include "cli/output.h"
#include "cli/server_request.h"

static size_t depth_of(struct str id)
{
	size_t depth = 0;
	for (size_t i = 0; i < id.size; i++)
		depth += id.at[i] == '/';
	return depth;
}

static struct str last_name(struct str id)
{
	struct str rest = id, part = id;
	while (str_cut(&rest, '/', &part))
		;
	return part;
}

static double number_of(const struct json *value)
{
	return value == NULL              ? 0
	       : value->kind == JSON_REAL ? value->as.real
	       : value->kind == JSON_INT  ? (double)value->as.integer
					  : 0;
}

static void print_step(const struct json *step)
{
	struct str id = cli_text(step, "step_id"), name = last_name(id), by = cli_text(step, "by");
	struct str type = cli_text(step, "type"), model = cli_text(step, "model");
	const struct json *needs = json_member(step, S("depends_on")), *need;
	const struct json *cost = json_member(step, S("cost_usd"));
	AUTO(buf) line = { 0 };
	buf_add_format(&line, "%4lld  %*s%-20.*s  " STR_FMT, cli_number(step, "stage"),
		       (int)(2 * depth_of(id)), "", STR_ARG(name), STR_ARG(type));
	if (!str_equal(by, type))
		buf_add_format(&line, " " STR_FMT, STR_ARG(by));
	if (model.size > 0)
		buf_add_format(&line, " (" STR_FMT "%s)", STR_ARG(model),
			       cost == NULL ? ", price unknown" : "");
	if (cost != NULL)
		buf_add_format(&line, " about $%.4f", number_of(cost));
	for (size_t i = 0; (need = json_item(needs, i)) != NULL; i++)
		buf_add_format(&line, "%s" STR_FMT, i == 0 ? "  after " : ", ",
			       STR_ARG(last_name(json_text(need))));
	if (cli_text(step, "when").size > 0)
		buf_add_format(&line, "  when " STR_FMT, STR_ARG(cli_text(step, "when")));
	if (cli_is_true(step, "repeats"))
		buf_add(&line, S("  may repeat"));
	cli_line(CLI_RESULT, STR_FMT, STR_ARG(buf_str(&line)));
}

int plan_print(const struct json *plan)
{
	const struct json *steps = json_member(plan, S("steps")), *step;
	const struct json *cost = json_member(plan, S("cost_usd"));
	const struct json *unpriced = json_member(plan, S("unpriced"));
	cli_line(CLI_RESULT, "workflow " STR_FMT ": nothing is started",
		 STR_ARG(cli_text(plan, "workflow")));
	cli_line(CLI_RESULT, "stage step");
	for (size_t i = 0; (step = json_item(steps, i)) != NULL; i++)
		print_step(step);
	if (cli_number(plan, "steps_left_out") > 0)
		cli_line(CLI_RESULT, "%lld more steps", cli_number(plan, "steps_left_out"));
	if (cost != NULL)
		cli_line(CLI_RESULT, "estimated cost: about $%.4f, if each agent takes one turn%s",
			 number_of(cost),
			 json_item(unpriced, 0) != NULL ? "; some prices are unknown" : "");
	else if (json_item(unpriced, 0) != NULL)
		cli_line(CLI_RESULT, "estimated cost: unknown; add prices to prices.yaml");
	return cli_flush();
}
