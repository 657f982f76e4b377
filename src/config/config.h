/* config/config.h -- the settings in force, each with where its value comes from.
 *
 * Sources are taken in this order, and each wins over those before it:
 *
 *	config_defaults      the rows of contracts/config.def
 *	config_take_file     config.yaml of the data folder, its text given by the caller
 *	config_take_environment
 *	config_take          a flag
 *
 * Values live in the arena given to config_defaults().  A value that is not allowed changes
 * nothing.  Not for several threads while it is being filled; read-only afterwards.
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
	uint32_t line, column; /* in the file */
	const char *text;      /* in one spelling: 300 for 5m, true for yes, a, b for a list */
	int64_t number;        /* PORT, INT, SECONDS; BOOL: 0 or 1 */
	struct str_list list;  /* LIST */
};

struct config {
	struct arena *arena;
	const char *user_home; /* what `~` stands for; NULL = unknown */
	struct config_value values[CONFIG_COUNT];
};

void config_defaults(struct config *config, struct arena *arena, const char *user_home);
/* One setting from text.  The error says what is allowed, not where the text came from. */
MUST_CHECK bool config_take(struct config *config, enum config_key key, enum config_source source,
			    const char *text, struct error *error);
/* Everything in the text of config.yaml; what is wrong with it is listed, all of it, with line and
 * column, and what is right is taken all the same.  False when something was wrong. */
MUST_CHECK bool config_take_file(struct config *config, struct str text, struct problems *problems);
/* Every BATON_ variable of a NULL-terminated environment.  The error names the variable.  Unknown
 * ones are added to *out_unknown. */
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

/* The value of a row from text or from a node of the file; `source` and place are not set. */
MUST_CHECK bool config_value_of_text(const struct config_row *row, const char *user_home,
				     const char *text, struct arena *arena,
				     struct config_value *out_value, struct error *error);
MUST_CHECK bool config_value_of_json(const struct config_row *row, const char *user_home,
				     const struct json *json, struct arena *arena,
				     struct config_value *out_value, struct error *error);

/* ---- the file ------------------------------------------------------------------------- */

/* A setting where it stands in a file. */
struct config_entry {
	const struct config_row *row; /* NULL: no setting of ours */
	struct str name;              /* with dots */
	const struct json *value;
	uint32_t line, column; /* of the key */
	size_t depth;          /* mappings above it: 1 at the top level */
};

struct config_entries {
	struct config_entry *at;
	size_t count;
};

/* The entries of a tree; sections are followed, what is no setting is an entry too. */
struct config_entries config_entries(const struct json *tree, struct arena *arena);

#endif
