/* llm/model_gate.c -- lanes of providers and breakers of models.
 *
 * Both are few, so they are found by walking a list.  One that nobody uses is forgotten when there
 * are too many; with it goes the memory of failures, which only means that the model is asked.
 */
#include "llm/model_gate.h"

#include <stdlib.h>

#include "base/limits.h"
#include "os/failpoint.h"

struct model_lane {
	struct model_lane *next;
	struct arena arena;
	struct str url;
	size_t inside, waiting;
	struct model_ticket *first, *last; /* those who wait */
};

struct model_breaker {
	struct model_breaker *next;
	struct arena arena;
	struct str url, model;
	size_t users;
	int64_t failures;
	int64_t open_until; /* us, monotonic; 0 = closed */
	bool probed;        /* a probe is under way */
};

struct model_gates {
	struct platform *platform;
	size_t most;
	struct model_lane *lanes;       /* the newest first */
	struct model_breaker *breakers; /* the newest first */
	uint64_t opened;
};

struct model_gates *model_gates_new(struct platform *platform, size_t most)
{
	struct model_gates *gates = calloc(1, sizeof(*gates));
	require(gates != NULL);
	gates->platform = platform;
	gates->most = most;
	return gates;
}

static void lane_free(struct model_lane *lane)
{
	arena_done(&lane->arena);
	free(lane);
}

static void breaker_free(struct model_breaker *breaker)
{
	arena_done(&breaker->arena);
	free(breaker);
}

void model_gates_free(struct model_gates *gates)
{
	if (gates == NULL)
		return;
	while (gates->lanes != NULL) {
		struct model_lane *lane = gates->lanes;
		gates->lanes = lane->next;
		lane_free(lane);
	}
	while (gates->breakers != NULL) {
		struct model_breaker *breaker = gates->breakers;
		gates->breakers = breaker->next;
		breaker_free(breaker);
	}
	free(gates);
}

/* ---- lanes --------------------------------------------------------------------------- */

/* Forgets the oldest unused one when there are too many. */
static void forget_lane(struct model_gates *gates)
{
	struct model_lane **oldest = NULL;
	size_t count = 0;
	for (struct model_lane **at = &gates->lanes; *at != NULL; at = &(*at)->next, count++)
		if ((*at)->inside == 0 && (*at)->waiting == 0)
			oldest = at;
	if (count < LIMIT_MODEL_GATES || oldest == NULL)
		return;
	struct model_lane *lane = *oldest;
	*oldest = lane->next;
	lane_free(lane);
}

static struct model_lane *find_lane(struct model_gates *gates, struct str url)
{
	for (struct model_lane *lane = gates->lanes; lane != NULL; lane = lane->next)
		if (str_equal(lane->url, url))
			return lane;
	forget_lane(gates);
	struct model_lane *lane = calloc(1, sizeof(*lane));
	require(lane != NULL);
	lane->url = str_copy(&lane->arena, url);
	lane->next = gates->lanes;
	gates->lanes = lane;
	return lane;
}

static void forget_breaker(struct model_gates *gates)
{
	struct model_breaker **oldest = NULL;
	size_t count = 0;
	for (struct model_breaker **at = &gates->breakers; *at != NULL; at = &(*at)->next, count++)
		if ((*at)->users == 0)
			oldest = at;
	if (count < LIMIT_MODEL_GATES || oldest == NULL)
		return;
	struct model_breaker *breaker = *oldest;
	*oldest = breaker->next;
	breaker_free(breaker);
}

static struct model_breaker *find_breaker(struct model_gates *gates, struct str url,
					  struct str model)
{
	for (struct model_breaker *breaker = gates->breakers; breaker != NULL;
	     breaker = breaker->next)
		if (str_equal(breaker->model, model) && str_equal(breaker->url, url))
			return breaker;
	forget_breaker(gates);
	struct model_breaker *breaker = calloc(1, sizeof(*breaker));
	require(breaker != NULL);
	breaker->url = str_copy(&breaker->arena, url);
	breaker->model = str_copy(&breaker->arena, model);
	breaker->next = gates->breakers;
	gates->breakers = breaker;
	return breaker;
}

bool model_gate_enter(struct model_gates *gates, struct model_ticket *ticket, struct str url,
		      struct str model)
{
	struct model_lane *lane = find_lane(gates, url);
	ticket->lane = lane;
	ticket->breaker = find_breaker(gates, url, model);
	ticket->breaker->users++;
	ticket->probes = false;
	if (lane->inside < gates->most && lane->first == NULL) {
		lane->inside++;
		ticket->waits = false;
		return true;
	}
	ticket->next = NULL;
	ticket->waits = true;
	if (lane->last != NULL)
		lane->last->next = ticket;
	else
		lane->first = ticket;
	lane->last = ticket;
	lane->waiting++;
	return false;
}

static void unqueue(struct model_lane *lane, struct model_ticket *ticket)
{
	struct model_ticket **at = &lane->first, *before = NULL;
	while (*at != ticket) {
		before = *at;
		at = &before->next;
	}
	*at = ticket->next;
	if (lane->last == ticket)
		lane->last = before;
	lane->waiting--;
	ticket->next = NULL;
	ticket->waits = false;
}

/* The callback comes from a timer, because the one who leaves may be anywhere. */
static void let_in(struct model_gates *gates, struct model_lane *lane)
{
	struct model_ticket *ticket = lane->first;
	if (ticket == NULL || lane->inside >= gates->most)
		return;
	unqueue(lane, ticket);
	lane->inside++;
	platform_timer_start(gates->platform, 0, ticket->entered, ticket->context,
			     ticket->argument);
}

/* ---- breakers ------------------------------------------------------------------------ */

static int64_t open_us(void)
{
	return FAILPOINT_LIMIT("model.open_ms", LIMIT_BREAKER_OPEN_MS) * 1000;
}

bool model_gate_pass(struct model_gates *gates, struct model_ticket *ticket, int64_t *out_rest_us)
{
	struct model_breaker *breaker = ticket->breaker;
	int64_t now = platform_mono_us(gates->platform);
	if (breaker->open_until == 0)
		return true;
	if (now < breaker->open_until) {
		*out_rest_us = breaker->open_until - now;
		return false;
	}
	if (breaker->probed) {
		*out_rest_us = open_us();
		return false;
	}
	breaker->probed = ticket->probes = true;
	return true;
}

static void breaker_learn(struct model_gates *gates, struct model_breaker *breaker, bool probe,
			  enum model_outcome outcome)
{
	if (probe)
		breaker->probed = false;
	switch (outcome) {
	case MODEL_ANSWERED:
		breaker->failures = 0;
		breaker->open_until = 0;
		break;
	case MODEL_FAILED:
		breaker->failures++;
		if (!probe &&
		    (breaker->failures < LIMIT_BREAKER_FAILURES || breaker->open_until != 0))
			break;
		breaker->open_until = platform_mono_us(gates->platform) + open_us();
		gates->opened++;
		break;
	case MODEL_UNASKED:
		break;
	}
}

void model_gate_leave(struct model_gates *gates, struct model_ticket *ticket,
		      enum model_outcome outcome)
{
	struct model_lane *lane = ticket->lane;
	if (lane == NULL)
		return;
	breaker_learn(gates, ticket->breaker, ticket->probes, outcome);
	ticket->breaker->users--;
	if (ticket->waits)
		unqueue(lane, ticket);
	else
		lane->inside--;
	ticket->lane = NULL;
	ticket->breaker = NULL;
	ticket->probes = false;
	let_in(gates, lane);
}

struct model_counts model_gates_counts(const struct model_gates *gates)
{
	struct model_counts counts = { .opened = gates->opened };
	int64_t now = platform_mono_us(gates->platform);
	for (const struct model_lane *lane = gates->lanes; lane != NULL; lane = lane->next) {
		counts.inside += lane->inside;
		counts.waiting += lane->waiting;
	}
	for (const struct model_breaker *breaker = gates->breakers; breaker != NULL;
	     breaker = breaker->next)
		counts.open += now < breaker->open_until;
	return counts;
}
