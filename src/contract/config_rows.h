/* contract/config_rows.h -- the server's settings: the rows of contracts/config.def as a table.
 *
 * A row has the name, the type, the bounds and the default of a setting.  config/config.h finds
 * the value of a setting in flags, environment and file.
 */
#ifndef CONTRACT_CONFIG_H
#define CONTRACT_CONFIG_H

#include "base/buf.h"

enum config_key {
#define SETTING(constant, name, type, fallback, environment, flag, letter, text) CONFIG_##constant,
#include "contracts/config.def"
#undef SETTING
	CONFIG_COUNT, /* the number of settings */
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
	/* C strings, because libc functions take them; "" = none */
	const char *fallback, *flag;
	const char *environment; /* "" = derived from the name: use config_environment() */
	char letter;             /* `-p`; 0 = none */
};

const struct config_row *config_row(enum config_key key);
const struct config_row *config_at(size_t index); /* NULL after the last */
const struct config_row *config_find(struct str name);
enum config_key config_key_of(const struct config_row *row);
/* The known name closest to a misspelled one; "" when none is close. */
struct str config_closest(struct str name);

enum { CONFIG_ENVIRONMENT_SIZE = 80 };
/* The name of the environment variable; it points into `out` or into the row. */
const char *config_environment(const struct config_row *row, char out[CONFIG_ENVIRONMENT_SIZE]);
const char *config_type_name(enum config_type type);
/* Appends a description of the allowed values: "a whole number from 0 to 65535". */
void config_allowed(const struct config_row *row, struct buf *out);

#endif
