/* active/quarantine.c -- a short list, searched from its beginning. */
#include "active/quarantine.h"

#include "active/executor_state.h"
#include "base/log.h"

static size_t place_of(const struct quarantine *quarantine, const struct uuid *run)
{
	size_t i = 0;
	while (i < quarantine->count && !uuid_equal(&quarantine->at[i].run, run))
		i++;
	return i;
}

/* The stored bytes themselves are at fault, not the moment. */
static bool is_lasting(enum error_code code)
{
	return code == ERROR_STORAGE || code == ERROR_INVALID || code == ERROR_TOO_LARGE ||
	       code == ERROR_INTERNAL;
}

void quarantine_add(struct executor *executor, const struct uuid *run, const struct error *error)
{
	struct quarantine *quarantine = &executor->quarantine;
	char id[UUID_TEXT_SIZE];
	size_t place = place_of(quarantine, run);
	if (!is_lasting(error->code) || place == LIMIT_QUARANTINED)
		return;
	if (place == quarantine->count) {
		quarantine->count++;
		log_run(LOG_ERROR, uuid_text(run, id),
			"quarantined, because it cannot be loaded: %s", error->text);
	}
	quarantine->at[place] = (struct quarantined_run){ *run, *error };
}

void quarantine_remove(struct executor *executor, const struct uuid *run)
{
	struct quarantine *quarantine = &executor->quarantine;
	size_t place = place_of(quarantine, run);
	if (place < quarantine->count)
		quarantine->at[place] = quarantine->at[--quarantine->count];
}

const struct quarantine *executor_quarantine(const struct executor *executor)
{
	return &executor->quarantine;
}
