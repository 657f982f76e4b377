/* contract/config_rows.h -- Baton's own settings, the rows of contracts/config.def.
 *
 * Only what a setting is called, what it may be and what it is when nobody says otherwise; where
 * its value comes from is the business of config/config.h.
 */
#ifndef CONTRACT_CONFIG_H
#define CONTRACT_CONFIG_H

#include "base/buf.h"

enum config_key {
#define SETTING(constant, name, type, fallback, environment, flag, letter, text) CONFIG_##constant,
#include "contracts/config.def"
#undef SETTING
	CONFIG_COUNT, /* how many there are; no setting */
};

enum config_type {
	CONFIG_TEXT,
	CONFIG_PATH,
	CONFIG_PORT,
	CONFIG_INT,
	CONFIG_SECONDS,
	CONFIG_BOOL,
	CONFIG_CHOICE,
	CONFIG_LIST,
	CONFIG_SECRET,
};

struct config_row {
	struct str name, text;
	enum config_type type;
	int64_t least, most; /* of PORT, INT and SECONDS */
	struct str choices;  /* of CHOICE: "a|b" */
	/* C strings, because libc's doors take them; "" where there is none */
	const char *fallback, *flag;
	const char *environment; /* "" = derived: ask config_environment() */
	char letter;             /* `-p`; 0 = none */
};

const struct config_row *config_row(enum config_key key);
const struct config_row *config_at(size_t index); /* NULL behind the last */
const struct config_row *config_find(struct str name);
enum config_key config_key_of(const struct config_row *row);
/* The nearest known name; "" when none is near. */
struct str config_closest(struct str name);

enum { CONFIG_ENVIRONMENT_SIZE = 80 };
/* The environment variable's name, in `out` or in the row. */
const char *config_environment(const struct config_row *row, char out[CONFIG_ENVIRONMENT_SIZE]);
const char *config_type_name(enum config_type type);
/* What its values may be, in words: "a whole number from 0 to 65535". */
void config_allowed(const struct config_row *row, struct buf *out);

#endif
