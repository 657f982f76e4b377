/* contract/config_rows.c -- the table of contracts/config.def. */
#include "contract/config_rows.h"

#include "contract/closest.h"

/* The types that a row of config.def can name, as initializers of struct config_row. */
#define TYPE_TEXT                   .type = CONFIG_TEXT
#define TYPE_PATH                   .type = CONFIG_PATH
#define TYPE_PORT                   .type = CONFIG_PORT, .least = 0, .most = 65535
#define TYPE_BOOL                   .type = CONFIG_BOOL
#define TYPE_LIST                   .type = CONFIG_LIST
#define TYPE_SECRET                 .type = CONFIG_SECRET
#define TYPE_INT(least_, most_)     .type = CONFIG_INT, .least = (least_), .most = (most_)
#define TYPE_SECONDS(least_, most_) .type = CONFIG_SECONDS, .least = (least_), .most = (most_)
#define TYPE_CHOICE(words_)         .type = CONFIG_CHOICE, .choices = { "" words_, sizeof(words_) - 1 }

static const struct config_row rows[] = {
#define SETTING(constant_, name_, type_, fallback_, environment_, flag_, letter_, text_) \
	[CONFIG_##constant_] = { .name = { "" name_, sizeof(name_) - 1 },                \
				 .text = { "" text_, sizeof(text_) - 1 },                \
				 TYPE_##type_,                                           \
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

enum config_key config_key_of(const struct config_row *row)
{
	return (enum config_key)(row - rows);
}

const struct config_row *config_find(struct str name)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_equal(rows[i].name, name))
			return &rows[i];
	return NULL;
}

struct str config_closest(struct str name)
{
	struct str names[COUNT(rows)];
	for (size_t i = 0; i < COUNT(rows); i++)
		names[i] = rows[i].name;
	return closest_word((struct str_list){ names, COUNT(rows) }, name);
}

static char upper(char c)
{
	return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

const char *config_environment(const struct config_row *row, char out[CONFIG_ENVIRONMENT_SIZE])
{
	static const char prefix[] = "BATON_";
	if (row->environment[0] != '\0')
		return row->environment;
	require(row->name.size + sizeof(prefix) <= CONFIG_ENVIRONMENT_SIZE);
	size_t size = 0;
	for (; prefix[size] != '\0'; size++)
		out[size] = prefix[size];
	for (size_t i = 0; i < row->name.size; i++)
		out[size++] = row->name.at[i] == '.' ? '_' : upper(row->name.at[i]);
	out[size] = '\0';
	return out;
}

const char *config_type_name(enum config_type type)
{
	switch (type) {
	case CONFIG_TEXT:
		return "text";
	case CONFIG_PATH:
		return "path";
	case CONFIG_PORT:
		return "port";
	case CONFIG_INT:
		return "integer";
	case CONFIG_SECONDS:
		return "seconds";
	case CONFIG_BOOL:
		return "boolean";
	case CONFIG_CHOICE:
		return "choice";
	case CONFIG_LIST:
		return "list";
	case CONFIG_SECRET:
		return "secret";
	}
	return "";
}

static void add_choices(struct str rest, struct buf *out)
{
	struct str word;
	bool first = true;
	while (str_cut(&rest, '|', &word)) {
		if (!first)
			buf_add(out, rest.size > 0 ? S(", ") : S(" or "));
		buf_add(out, word);
		first = false;
	}
}

void config_allowed(const struct config_row *row, struct buf *out)
{
	switch (row->type) {
	case CONFIG_TEXT:
		buf_add(out, S("a text"));
		return;
	case CONFIG_PATH:
		buf_add(out, S("a file or folder"));
		return;
	case CONFIG_PORT:
	case CONFIG_INT:
		buf_add_format(out, "a whole number from %lld to %lld", (long long)row->least,
			       (long long)row->most);
		return;
	case CONFIG_SECONDS:
		buf_add_format(out, "%lld to %lld seconds, also written like 90s, 5m, 2h or 30d",
			       (long long)row->least, (long long)row->most);
		return;
	case CONFIG_BOOL:
		buf_add(out, S("true or false"));
		return;
	case CONFIG_CHOICE:
		add_choices(row->choices, out);
		return;
	case CONFIG_LIST:
		buf_add(out, S("a list of texts"));
		return;
	case CONFIG_SECRET:
		buf_add(out, S("a reference to a secret, env:NAME or file:NAME"));
		return;
	}
}
