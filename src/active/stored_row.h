/* active/stored_row.h -- stored events as trees and typed values.
 *
 * The bytes of a stored row may be damaged, or of a later version.  A reader gets an
 * error then (ERROR_STORAGE) that names the row: the run and the seq of an event, the run and the
 * id of an open effect.  Stored bytes are never assumed to be valid: a bad row fails the request
 * that reads it, and stops neither the server nor another run.  On any thread.
 */
#ifndef RUNTIME_STORED_ROW_H
#define RUNTIME_STORED_ROW_H

#include "contract/event.h"
#include "store/store.h"

MUST_CHECK bool stored_event_read(const struct store_event_row *row, struct arena *arena,
				  struct event *out_event, struct error *error);
/* The body as it stands, whatever the type. */
MUST_CHECK bool stored_event_tree(const struct store_event_row *row, struct arena *arena,
				  const struct json **out_body, struct error *error);
/* Makes an error that this row has caused one of storage, with the row's name in front; false. */
bool stored_event_fail(const struct store_event_row *row, struct error *error);
bool stored_effect_fail(const struct store_effect *row, struct error *error);

#endif
