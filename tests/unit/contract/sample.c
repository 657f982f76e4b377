/* tests/unit/contract/sample.c -- the tables of sample.def and its hooks. */
#include "sample.h"

void sample_presence_compute(struct sample_presence *value)
{
	SET(value, length, (int64_t)value->must.size);
}

void sample_checked_check(const struct sample_checked *value, struct check *check)
{
	if (value->low > value->high)
		check_fail(check, "low", "must not be above high, %d", (int)value->high);
	if (value->low == value->high)
		check_fail(check, NULL, "is empty");
}

#define CONTRACT_MODULE sample
#define CONTRACT_FILE   "tests/unit/contract/sample.def"
#include "contract/tables.h"
