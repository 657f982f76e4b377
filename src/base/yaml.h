/* base/yaml.h -- YAML 1.2 core, one document, into the tree of base/json.h.
 *
 * On libyaml's events.  Every node knows its line and column.  Refused with a place: a second
 * document, duplicate keys, keys that are not scalars, tags other than the core ones, %TAG
 * directives, undefined aliases, an alias inside its own anchor, depth beyond LIMIT_JSON_DEPTH,
 * expansion of aliases and merge keys (`<<`) beyond LIMIT_YAML_NODES nodes or LIMIT_JSON_BYTES of
 * text, a document over LIMIT_YAML_BYTES, invalid UTF-8.
 *
 * Plain scalars follow the 1.2 core schema: null ~ true false, decimal 0o 0x integers, floats
 * (.inf and .nan are refused: JSON has no such number); `no`, `on`, `1_000` and dates are
 * strings.  Quoted and block scalars are always strings; !!str !!int !!float !!bool !!null !!map
 * !!seq are honoured.  Integers beyond int64 become JSON_REAL, as in JSON.  An empty document is
 * null.
 *
 * A key is its scalar's text.  Of merged mappings the earlier wins, and a mapping's own keys win
 * over all; merged members come after its own.  What an alias names keeps the place of its
 * anchor.  Columns count characters.  Strings live in the arena, the text may go.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/json.h"

MUST_CHECK bool yaml_read(struct str text, struct arena *arena, const struct json **out_json,
			  struct error *error);

#endif
