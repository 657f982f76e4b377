/* base/yaml.h -- reads one YAML 1.2 document (core schema) into the tree of base/json.h.
 *
 * The reader is built on libyaml's events.  Every node has its line and column.  Refused, with the
 * position: a second document, duplicate keys, keys that are not scalars, tags other than the core
 * tags, %TAG directives, undefined aliases, an alias inside its own anchor, nesting deeper than
 * LIMIT_JSON_DEPTH, aliases and merge keys (`<<`) that expand to more than LIMIT_YAML_NODES nodes
 * or LIMIT_JSON_BYTES of text, a document larger than LIMIT_YAML_BYTES, invalid UTF-8, unescaped
 * U+0085, U+2028 and U+2029 (YAML 1.1 ends a line there, YAML 1.2 does not).
 *
 * Plain scalars follow the core schema: null ~ true false, decimal 0o 0x integers, floats (.inf and
 * .nan are refused: JSON cannot represent them); `no`, `on`, `1_000` and dates are strings.  Quoted
 * and block scalars are always strings; !!str !!int !!float !!bool !!null !!map !!seq are honored.
 * Integers that do not fit int64 become JSON_REAL, as in JSON.  An empty document is null.
 *
 * A key is the text of its scalar.  When mappings are merged, an earlier mapping wins over a later
 * one, and the mapping's own keys win over merged keys; merged members follow the mapping's own
 * members.  A node inserted by an alias has the position of its anchor.  Columns count characters.
 * All strings are copied into the arena, so the text may be freed.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/json.h"

MUST_CHECK bool yaml_read(struct str text, struct arena *arena, const struct json **out_json,
			  struct error *error);

#endif
