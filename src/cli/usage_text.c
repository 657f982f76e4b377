/* cli/usage_text.c -- sums of usage as text. */
#include "cli/usage_text.h"

#include "cli/server_request.h"

/* False for null. */
static bool dollars(const struct json *sum, const char *name, double *out)
{
	const struct json *number = json_member(sum, str_from_c(name));
	if (number == NULL || (number->kind != JSON_INT && number->kind != JSON_REAL))
		return false;
	*out = number->kind == JSON_INT ? (double)number->as.integer : number->as.real;
	return true;
}

/* Cents are enough for a dollar, not for a turn. */
static void add_dollars(double amount, struct buf *out)
{
	double size = amount < 0 ? -amount : amount;
	buf_add_format(out, size == 0 ? "$%.0f" : size < 1 ? "$%.6f" : "$%.2f", amount);
}

void usage_text_cost(const struct json *sum, struct buf *out)
{
	double cost;
	if (!dollars(sum, "cost_usd", &cost)) {
		buf_add(out, S("?"));
		return;
	}
	add_dollars(cost, out);
	if (cli_number(sum, "unpriced_turns") > 0)
		buf_add(out, S("+?"));
}

void usage_text_add(const struct json *sum, struct buf *out)
{
	double saved;
	long long turns = cli_number(sum, "turns");
	long long unpriced = cli_number(sum, "unpriced_turns");
	usage_text_cost(sum, out);
	buf_add_format(out, ", %lld turn%s, %lld input and %lld output tokens", turns,
		       turns == 1 ? "" : "s", cli_number(sum, "input_tokens"),
		       cli_number(sum, "output_tokens"));
	if (dollars(sum, "saved_usd", &saved) && saved != 0) {
		buf_add(out, S(", the cache saved "));
		add_dollars(saved, out);
	}
	if (unpriced > 0)
		buf_add_format(out, "; the cost of %lld turn%s is not known", unpriced,
			       unpriced == 1 ? "" : "s");
}

bool usage_text_dollars(struct cli *cli, const char *text, double *out_dollars)
{
	const struct json *json;
	struct error unread;
	if (!json_read(str_from_c(text), &cli->arena, &json, &unread) ||
	    (json->kind != JSON_INT && json->kind != JSON_REAL))
		return false;
	double dollars = json->kind == JSON_INT ? (double)json->as.integer : json->as.real;
	if (dollars < 0)
		return false;
	*out_dollars = dollars;
	return true;
}

bool usage_text_budget(struct cli *cli, bool *out_given, double *out_dollars, struct error *error)
{
	const char *text = cli_value(cli, "--budget", 0);
	*out_given = text != NULL;
	return text == NULL || usage_text_dollars(cli, text, out_dollars) ||
	       fail(error, ERROR_USAGE, "--budget must be an amount of dollars, not \"%s\"", text);
}
