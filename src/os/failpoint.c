/* os/failpoint.c -- failpoints from the environment.
 *
 * failpoint_setup() fills the tables before other threads start; afterwards they are only read, and
 * the counters are atomic.  An invalid BATON_POINTS ends the process immediately: a crash test
 * whose rules were ignored would pass without testing anything.
 */
#include "os/failpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"

enum point_action { POINT_KILLS, POINT_ABORTS, POINT_HOLDS, POINT_IS_FULL, POINT_LIMITS };

struct point {
	struct str name;
	enum point_action action;
	int64_t first, last; /* first and last pass that act, from 1; for a limit: its value */
	atomic_llong passed;
};

bool failpoint_active;
static struct point points[LIMIT_POINTS];
static size_t point_count;
static char *point_rules; /* copy of BATON_POINTS; the names point into it */
static int point_trace = -1, point_gate = -1;
static failpoint_watcher *point_watcher;

static const struct {
	struct str word;
	enum point_action action;
} point_actions[] = {
	{ { "kill", 4 }, POINT_KILLS },   { { "abort", 5 }, POINT_ABORTS },
	{ { "hold", 4 }, POINT_HOLDS },   { { "full", 4 }, POINT_IS_FULL },
	{ { "limit", 5 }, POINT_LIMITS },
};

static void point_refuse(const char *why, struct str what)
{
	fprintf(stderr,
		"BATON_POINTS: " STR_FMT ": %s (name=kill, name=kill@3, name=hold@2-4, "
		"name=full@3-8 or name=limit@5;...)\n",
		STR_ARG(what), why);
	_exit(2);
}

/* Parses "3"; if `range` is set, also "3-8". */
static bool point_parse_passings(struct str text, bool range, int64_t *out_first, int64_t *out_last)
{
	struct str first;
	size_t dash;
	bool two = range && str_find(text, S("-"), &dash);
	first = two ? str_head(text, dash) : text;
	if (!str_to_int(first, out_first) || *out_first < 1)
		return false;
	*out_last = *out_first;
	return !two || (str_to_int(str_skip(text, dash + 1), out_last) && *out_last >= *out_first);
}

static void point_parse(struct str rule)
{
	size_t at;
	if (!str_find(rule, S("="), &at) || at == 0)
		point_refuse("a rule is name=action", rule);
	struct str action = str_skip(rule, at + 1), passings = S("");
	size_t sign;
	bool counted = str_find(action, S("@"), &sign);
	if (counted) {
		passings = str_skip(action, sign + 1);
		action = str_head(action, sign);
	}
	size_t kind = 0;
	while (kind < COUNT(point_actions) && !str_equal(action, point_actions[kind].word))
		kind++;
	if (kind == COUNT(point_actions))
		point_refuse("no such action", rule);
	int64_t first = 1, last = 1;
	bool range = point_actions[kind].action == POINT_IS_FULL ||
		     point_actions[kind].action == POINT_HOLDS;
	if (counted && !point_parse_passings(passings, range, &first, &last))
		point_refuse("no such passing", rule);
	if (point_actions[kind].action == POINT_LIMITS && !counted)
		point_refuse("a limit is a number", rule);
	if (point_actions[kind].action == POINT_HOLDS && point_gate < 0)
		point_refuse("BATON_POINTS_GATE names no gate that can be opened", rule);
	if (point_count == LIMIT_POINTS)
		point_refuse("too many rules", rule);
	points[point_count].name = str_head(rule, at);
	points[point_count].action = point_actions[kind].action;
	points[point_count].first = first;
	points[point_count].last = last;
	atomic_init(&points[point_count].passed, 0);
	point_count++;
}

void failpoint_setup(void)
{
	const char *rules = getenv("BATON_POINTS");
	const char *trace = getenv("BATON_POINTS_TRACE");
	const char *gate = getenv("BATON_POINTS_GATE");
	point_count = 0;
	free(point_rules);
	point_rules = NULL;
	if (point_trace >= 0)
		close(point_trace);
	point_trace = -1;
	if (point_gate >= 0)
		close(point_gate);
	/* O_RDWR: opening and reading do not depend on other processes that open the FIFO. */
	point_gate = gate == NULL ? -1 : open(gate, O_RDWR | O_CLOEXEC);
	if (rules != NULL) {
		/* A copy, because the environment may change later. */
		point_rules = strdup(rules);
		require(point_rules != NULL);
		struct str rest = str_from_c(point_rules), rule;
		while (str_cut(&rest, ';', &rule)) {
			rule = str_trim(rule);
			if (rule.size > 0)
				point_parse(rule);
		}
	}
	if (trace != NULL && trace[0] != '\0') {
		point_trace = open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (point_trace < 0)
			point_refuse("the trace file cannot be opened", str_from_c(trace));
	}
	failpoint_active = point_count > 0 || point_trace >= 0;
}

static void point_write_trace(struct str name)
{
	char line[LIMIT_NAME_BYTES + 1];
	size_t size = name.size < LIMIT_NAME_BYTES ? name.size : LIMIT_NAME_BYTES;
	memcpy(line, name.at, size);
	line[size] = '\n';
	/* One write per line, so that lines of several threads and processes do not mix. */
	if (write(point_trace, line, size + 1) < 0)
		point_refuse("the trace file cannot be written", name);
}

static void point_act(enum point_action action)
{
	char byte;
	switch (action) {
	case POINT_ABORTS:
		abort();
	case POINT_HOLDS:
		while (read(point_gate, &byte, 1) < 0 && errno == EINTR)
			;
		return;
	case POINT_KILLS:
	case POINT_IS_FULL:
	case POINT_LIMITS:
		break;
	}
	kill(getpid(), SIGKILL);
	for (;;)
		pause(); /* wait for the SIGKILL to arrive */
}

void failpoint_watch(failpoint_watcher *watcher)
{
	point_watcher = watcher;
	failpoint_active = watcher != NULL;
}

void failpoint_passed(const char *name)
{
	struct str passed = str_from_c(name);
	if (point_watcher != NULL)
		point_watcher(name);
	if (point_trace >= 0)
		point_write_trace(passed);
	for (size_t i = 0; i < point_count; i++) {
		if (points[i].action == POINT_IS_FULL || points[i].action == POINT_LIMITS ||
		    !str_equal(points[i].name, passed))
			continue;
		int64_t passing = atomic_fetch_add(&points[i].passed, 1) + 1;
		if (passing >= points[i].first && passing <= points[i].last)
			point_act(points[i].action);
	}
}

bool failpoint_full(const char *name)
{
	bool full = false;
	for (size_t i = 0; i < point_count; i++) {
		if (points[i].action != POINT_IS_FULL ||
		    !str_equal(points[i].name, str_from_c(name)))
			continue;
		int64_t passing = atomic_fetch_add(&points[i].passed, 1) + 1;
		full = full || (passing >= points[i].first && passing <= points[i].last);
	}
	return full;
}

int64_t failpoint_limit(const char *name, int64_t limit)
{
	for (size_t i = 0; i < point_count; i++)
		if (points[i].action == POINT_LIMITS && str_equal(points[i].name, str_from_c(name)))
			return points[i].first;
	return limit;
}
