/* contract/config.c -- the table of contracts/config.def. */
#include "contract/config.h"

static const struct config_row rows[] = {
#define SETTING(constant_, name_, type_, fallback_, environment_, flag_, letter_, text_) \
	[CONFIG_##constant_] = { .name = { "" name_, sizeof(name_) - 1 },                \
				 .text = { "" text_, sizeof(text_) - 1 },                \
				 .type = CONFIG_##type_,                                 \
				 .fallback = "" fallback_,                               \
				 .environment = "" environment_,                         \
				 .flag = "" flag_,                                       \
				 .letter = letter_ },
#include "contracts/config.def"
#undef SETTING
};

const struct config_row *config_row(enum config_key key)
{
	return &rows[key];
}

const struct config_row *config_at(size_t index)
{
	return index < COUNT(rows) ? &rows[index] : NULL;
}

const char *config_type_name(enum config_type type)
{
	switch (type) {
	case CONFIG_TEXT:
		return "text";
	case CONFIG_PORT:
		return "port";
	}
	return "";
}
