/* Lanes of providers and breakers of models, with a simulated clock. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "llm/model_gate.h"

enum { TIMERS = 64 };

static struct scene {
	struct platform system; /* first */
	int64_t now;
	struct {
		platform_callback *callback;
		void *context;
		uint64_t argument;
	} timers[TIMERS];
	size_t timer_count;
	struct model_gates *gates;
	uint64_t entered[TIMERS]; /* arguments in order */
	size_t entered_count;
} scene;

static int64_t clock_now(struct platform *platform)
{
	(void)platform;
	return scene.now;
}

static uint64_t timer_start(struct platform *platform, int64_t delay, platform_callback *callback,
			    void *context, uint64_t argument)
{
	(void)platform;
	cr_assert_eq(delay, 0);
	cr_assert_lt(scene.timer_count, TIMERS);
	scene.timers[scene.timer_count].callback = callback;
	scene.timers[scene.timer_count].context = context;
	scene.timers[scene.timer_count].argument = argument;
	return ++scene.timer_count;
}

static const struct platform_ops ops = { .mono_us = clock_now,
					 .wall_us = clock_now,
					 .timer_start = timer_start };

static void set_up(size_t most)
{
	scene = (struct scene){ .system = { &ops }, .now = 1000 };
	scene.gates = model_gates_new(&scene.system, most);
}

static void tear_down(void)
{
	model_gates_free(scene.gates);
}

TestSuite(model_gate, .fini = tear_down);

static void fire_timers(void)
{
	for (size_t i = 0; i < scene.timer_count; i++)
		scene.timers[i].callback(scene.timers[i].context, scene.timers[i].argument);
	scene.timer_count = 0;
}

static void note_entered(void *context, uint64_t argument)
{
	(void)context;
	scene.entered[scene.entered_count++] = argument;
}

static struct model_ticket ticket_of(uint64_t number)
{
	return (struct model_ticket){ .entered = note_entered, .argument = number };
}

static bool enter(struct model_ticket *ticket, const char *url)
{
	return model_gate_enter(scene.gates, ticket, str_from_c(url), S("m"));
}

Test(model_gate, further_requests_wait_in_order)
{
	set_up(2);
	struct model_ticket tickets[6];
	for (size_t i = 0; i < 6; i++) {
		tickets[i] = ticket_of(i);
		cr_assert_eq(enter(&tickets[i], "a"), i < 2);
	}
	struct model_ticket other = ticket_of(9);
	cr_assert(enter(&other, "b"), "another provider has its own places");
	cr_assert_eq(model_gates_counts(scene.gates).waiting, 4);
	model_gate_leave(scene.gates, &tickets[3], MODEL_UNASKED); /* it gives up waiting */
	model_gate_leave(scene.gates, &tickets[0], MODEL_ANSWERED);
	model_gate_leave(scene.gates, &tickets[1], MODEL_ANSWERED);
	cr_assert_eq(scene.entered_count, 0, "not from inside leave()");
	fire_timers();
	cr_assert(scene.entered_count == 2 && scene.entered[0] == 2 && scene.entered[1] == 4);
	model_gate_leave(scene.gates, &tickets[2], MODEL_ANSWERED);
	model_gate_leave(scene.gates, &tickets[2], MODEL_ANSWERED); /* harmless */
	fire_timers();
	cr_assert(scene.entered_count == 3 && scene.entered[2] == 5);
	model_gate_leave(scene.gates, &tickets[4], MODEL_ANSWERED);
	model_gate_leave(scene.gates, &tickets[5], MODEL_ANSWERED);
	model_gate_leave(scene.gates, &other, MODEL_ANSWERED);
	struct model_counts counts = model_gates_counts(scene.gates);
	cr_assert(counts.inside == 0 && counts.waiting == 0);
}

static bool ask(enum model_outcome outcome, int64_t *out_rest)
{
	struct model_ticket ticket = ticket_of(0);
	*out_rest = 0;
	cr_assert(enter(&ticket, "a"));
	bool passed = model_gate_pass(scene.gates, &ticket, out_rest);
	model_gate_leave(scene.gates, &ticket, passed ? outcome : MODEL_UNASKED);
	return passed;
}

Test(model_gate, a_model_that_fails_is_left_alone_and_probed_once)
{
	set_up(10);
	int64_t rest;
	for (int i = 0; i < LIMIT_BREAKER_FAILURES - 1; i++)
		cr_assert(ask(MODEL_FAILED, &rest));
	cr_assert(ask(MODEL_ANSWERED, &rest), "an answer ends the row");
	for (int i = 0; i < LIMIT_BREAKER_FAILURES; i++)
		cr_assert(ask(MODEL_FAILED, &rest));
	cr_assert_eq(model_gates_counts(scene.gates).open, 1);
	cr_assert_not(ask(MODEL_ANSWERED, &rest));
	cr_assert_eq(rest, (int64_t)LIMIT_BREAKER_OPEN_MS * 1000);

	scene.now += rest;
	struct model_ticket probe = ticket_of(1);
	cr_assert(enter(&probe, "a") && model_gate_pass(scene.gates, &probe, &rest));
	cr_assert_not(ask(MODEL_ANSWERED, &rest), "one probe at a time");
	model_gate_leave(scene.gates, &probe, MODEL_FAILED);
	cr_assert_not(ask(MODEL_ANSWERED, &rest), "the probe failed");

	scene.now += rest;
	cr_assert(ask(MODEL_UNASKED, &rest), "a probe that is stopped says nothing");
	cr_assert(ask(MODEL_ANSWERED, &rest), "the next one probes");
	cr_assert(ask(MODEL_ANSWERED, &rest), "closed");
	cr_assert_eq(model_gates_counts(scene.gates).opened, 2);
}

Test(model_gate, unused_models_are_forgotten)
{
	set_up(10);
	AUTO(arena) arena = { 0 };
	struct model_ticket kept = ticket_of(0);
	cr_assert(enter(&kept, "kept"));
	for (int i = 0; i < 3 * LIMIT_MODEL_GATES; i++) {
		struct model_ticket ticket = ticket_of(1);
		cr_assert(enter(&ticket, str_format(&arena, "u%d", i).at));
		model_gate_leave(scene.gates, &ticket, MODEL_ANSWERED);
	}
	cr_assert_eq(model_gates_counts(scene.gates).inside, 1);
	model_gate_leave(scene.gates, &kept, MODEL_ANSWERED);
}
