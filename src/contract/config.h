/* contract/config.h -- Baton's own settings, the rows of contracts/config.def.
 *
 * Only what a setting is called and what it is when nobody says otherwise: flags are read by the
 * command line, the environment by main.c.
 */
#ifndef CONTRACT_CONFIG_H
#define CONTRACT_CONFIG_H

#include "base/str.h"

enum config_key {
#define SETTING(constant, name, type, fallback, environment, flag, letter, text) CONFIG_##constant,
#include "contracts/config.def"
#undef SETTING
};

enum config_type { CONFIG_TEXT, CONFIG_PORT };

struct config_row {
	struct str name, text;
	enum config_type type;
	/* C strings, because libc's doors take them; "" where there is none */
	const char *fallback, *environment, *flag;
	char letter; /* `-p`; 0 = none */
};

const struct config_row *config_row(enum config_key key);
const struct config_row *config_at(size_t index); /* NULL behind the last */
const char *config_type_name(enum config_type type);

#endif
