/* config/config.h -- the effective settings, each with the source of its value.
 *
 * The caller applies the sources in this order; each overrides the ones before it:
 *
 *	config_defaults          the defaults of contracts/config.def
 *	config_take_file         the text of config.yaml
 *	config_take_environment  BATON_* variables
 *	config_take              a flag
 *
 * The values live in the arena given to config_defaults().  An invalid value changes nothing.  Not
 * thread-safe while it is filled; read-only afterwards.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "contract/config_rows.h"
#include "contract/contract.h"

enum config_source {
	CONFIG_FROM_DEFAULT,
	CONFIG_FROM_FILE,
	CONFIG_FROM_ENVIRONMENT,
	CONFIG_FROM_FLAG,
};

struct config_value {
	enum config_source source;
	uint32_t line, column; /* in config.yaml */
	const char *text;      /* normalized: 300 for 5m, true for yes; a list as "a, b" */
	int64_t number;        /* PORT, INT, SECONDS; BOOL: 0 or 1 */
	struct str_list list;  /* LIST */
};

struct config {
	struct arena *arena;
	const char *user_home; /* replaces `~` in paths; NULL = unknown */
	struct config_value values[CONFIG_COUNT];
};

void config_defaults(struct config *config, struct arena *arena, const char *user_home);
/* Sets one setting from text.  The error says which values are allowed, not where the text came
 * from. */
MUST_CHECK bool config_take(struct config *config, enum config_key key, enum config_source source,
			    const char *text, struct error *error);
/* Sets all settings in the text of config.yaml.  Collects all problems with line and column and
 * still applies the valid settings; returns false when there were problems. */
MUST_CHECK bool config_take_file(struct config *config, struct str text, struct problems *problems);
/* Sets all settings from the BATON_ variables of a NULL-terminated environment.  The error names
 * the variable. *out_unknown lists variables that name no setting. */
MUST_CHECK bool config_take_environment(struct config *config, const char *const *environment,
					struct str_list *out_unknown, struct error *error);

/* ---- reading -------------------------------------------------------------------------- */

const char *config_text(const struct config *config, enum config_key key);
int64_t config_number(const struct config *config, enum config_key key);
bool config_bool(const struct config *config, enum config_key key);
struct str_list config_list(const struct config *config, enum config_key key);
/* "default", "environment BATON_X", "flag --x", "FILE:3". */
struct str config_source_text(const struct config *config, enum config_key key, const char *file,
			      struct arena *arena);

/* ---- single values -------------------------------------------------------------------- */

/* Parses the value of a setting from text, or from a node of the file.  Does not set `source`,
 * `line` and `column`. */
MUST_CHECK bool config_value_of_text(const struct config_row *row, const char *user_home,
				     const char *text, struct arena *arena,
				     struct config_value *out_value, struct error *error);
MUST_CHECK bool config_value_of_json(const struct config_row *row, const char *user_home,
				     const struct json *json, struct arena *arena,
				     struct config_value *out_value, struct error *error);

/* ---- the file ------------------------------------------------------------------------- */

/* A key of config.yaml. */
struct config_entry {
	const struct config_row *row; /* NULL = not a setting */
	struct str name;              /* dotted: serve.port */
	const struct json *value;
	uint32_t line, column; /* of the key */
	size_t depth;          /* 1 at the top level */
};

struct config_entries {
	struct config_entry *at;
	size_t count;
};

/* All keys of the file except sections; unknown keys are included. */
struct config_entries config_entries(const struct json *tree, struct arena *arena);

#endif
