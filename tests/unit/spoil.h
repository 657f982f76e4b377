/* tests/unit/spoil.h -- stored documents as damage could have left them.
 *
 * spoil_print() prints a document with one of its values replaced or taken out.  To try everything:
 *
 *	for (size_t node = 0; node < spoil_nodes(json); node++)
 *		for (size_t way = 0; way < SPOIL_WAYS; way++)
 *			read(spoil_print(json, node, way, &arena));
 */
#ifndef UNIT_SPOIL_H
#define UNIT_SPOIL_H

#include "base/json.h"

enum { SPOIL_WAYS = 22 };

size_t spoil_nodes(const struct json *json); /* values in it, itself included */
struct str spoil_print(const struct json *json, size_t node, size_t way, struct arena *arena);

#endif
