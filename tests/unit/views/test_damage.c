/* Stored bytes are not to be trusted: a view of a run one of whose events has anything in it taken
 * out or replaced is printed; it never stops the program. */
#include <criterion/criterion.h>

#include "sample_run.h"
#include "spoil.h"

static size_t shown;

static const struct json *nothing(void *context, const struct hash *hash)
{
	(void)context, (void)hash;
	return NULL;
}

/* Every view of the sample with one event another, and with its values lost. */
static void show(struct sample *sample, size_t index, const struct event *event)
{
	AUTO(arena) arena = { 0 };
	struct event kept = sample->events[index];
	struct view_source source = sample->source;
	sample->events[index] = *event;
	source.read_value = index % 2 == 0 ? nothing : source.read_value;
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &arena);
	for (int i = 0; i < VIEW_COUNT; i++)
		shown += view_whole(view_at((enum view_number)i), &timeline, &arena).size > 0;
	sample->events[index] = kept;
}

static void spoil_event(struct sample *sample, size_t index, size_t every)
{
	AUTO(arena) arena = { 0 };
	const struct event *event = &sample->events[index];
	const struct json *json;
	struct error error;
	cr_assert(json_read(event_body(event, &arena), &arena, &json, &error));
	for (size_t node = 0; node < spoil_nodes(json); node++)
		for (size_t way = (node + index) % every; way < SPOIL_WAYS; way += every) {
			struct event spoilt;
			struct str body = spoil_print(json, node, way, &arena);
			if (event_read(event_name(event->type), event->at, body, &arena, &spoilt,
				       &error))
				show(sample, index, &spoilt);
		}
}

/* The event's place taken by other events, as if rows were out of order. */
static void swap_event(struct sample *sample, size_t index, size_t every)
{
	for (size_t i = 1 + index % every; i < sample->source.event_count; i += every)
		show(sample, index,
		     &(struct event){ .type = sample->events[i].type,
				      .at = sample->events[i].at,
				      .as = sample->events[i].as });
}

/* Every n-th way: a view of a long run takes its time. */
static void try_play(const struct play *play, size_t every)
{
	struct sample sample;
	sample_init_play(&sample, play);
	shown = 0;
	for (size_t i = 0; i < sample.source.event_count; i++) {
		spoil_event(&sample, i, every);
		if (i > 0)
			swap_event(&sample, i, every);
	}
	cr_assert_gt(shown, 0);
	sample_done(&sample);
}

Test(damage, a_spoilt_event_of_the_short_run)
{
	try_play(&play_short, 1);
}

Test(damage, a_spoilt_event_of_the_long_run)
{
	try_play(&play_long, 7);
}
