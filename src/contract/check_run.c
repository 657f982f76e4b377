/* contract/check_run.c -- what the rows of contracts/run.def cannot say. */
#include "contract/run.h"

/* RFC 6901: nothing, or parts that each begin with a slash. */
static void check_pointer(struct check *check, const char *field, struct str pointer)
{
	if (pointer.size > 0 && pointer.at[0] != '/')
		check_fail(check, field, "must be a JSON pointer: empty, or beginning with /");
}

void run_json_condition_check(const struct run_json_condition *value, struct check *check)
{
	check_pointer(check, "at", value->at);
}

void run_json_operation_check(const struct run_json_operation *value, struct check *check)
{
	int given = has(value, get) + has(value, pick) + has(value, drop) + has(value, rename) +
		    has(value, merge) + has(value, wrap) + has(value, filter) + has(value, map) +
		    has(value, check);
	if (given != 1)
		check_fail(check, NULL,
			   "an operation is exactly one of get, pick, drop, rename, merge, wrap, "
			   "filter, map and check, not %d of them",
			   given);
	if (has(value, get))
		check_pointer(check, "get", value->get);
}

void run_http_send_inputs_check(const struct run_http_send_inputs *value, struct check *check)
{
	if (has(value, body) && has(value, json))
		check_fail(check, "json", "a request has a body or json, not both");
}
