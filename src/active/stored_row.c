/* active/stored_row.c -- reading stored rows without trusting their bytes. */
#include "active/stored_row.h"

bool stored_event_fail(const struct store_event_row *row, struct error *error)
{
	char run[UUID_TEXT_SIZE];
	error->code = ERROR_STORAGE;
	error_prefix(error, "event %lld of run " STR_FMT " cannot be read: ", (long long)row->seq,
		     STR_ARG(uuid_text(&row->run, run)));
	return false;
}

bool stored_effect_fail(const struct store_effect *row, struct error *error)
{
	char run[UUID_TEXT_SIZE], id[UUID_TEXT_SIZE];
	error->code = ERROR_STORAGE;
	error_prefix(error, "effect " STR_FMT " of run " STR_FMT " cannot be read: ",
		     STR_ARG(uuid_text(&row->id, id)), STR_ARG(uuid_text(&row->run, run)));
	return false;
}

bool stored_event_read(const struct store_event_row *row, struct arena *arena,
		       struct event *out_event, struct error *error)
{
	return event_read(row->type, row->at, row->body, arena, out_event, error) ||
	       stored_event_fail(row, error);
}

bool stored_event_tree(const struct store_event_row *row, struct arena *arena,
		       const struct json **out_body, struct error *error)
{
	return json_read(row->body, arena, out_body, error) || stored_event_fail(row, error);
}
