/* schema/format.c -- `format` as an assertion: whether a string has a format.
 *
 * A format that is not in the table is refused when a schema is compiled, if formats are to be
 * checked at all: a check that holds for every string would only look like one.
 */
#include "schema/schema_internal.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool is_alphanumeric(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Takes two digits, at most `most`; -1 = there are none. */
static int take_two(struct str *text, int most)
{
	if (text->size < 2 || !is_digit(text->at[0]) || !is_digit(text->at[1]))
		return -1;
	int number = (text->at[0] - '0') * 10 + (text->at[1] - '0');
	*text = str_skip(*text, 2);
	return number <= most ? number : -1;
}

static bool take(struct str *text, const char *one_of)
{
	if (text->size == 0 || text->at[0] == '\0' || strchr(one_of, text->at[0]) == NULL)
		return false;
	*text = str_skip(*text, 1);
	return true;
}

static bool take_date(struct str *text)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int century = take_two(text, 99), year = take_two(text, 99);
	if (century < 0 || year < 0 || !take(text, "-"))
		return false;
	int month = take_two(text, 12);
	if (month < 1 || !take(text, "-"))
		return false;
	bool leap = year % 4 == 0 && (year != 0 || century % 4 == 0);
	int day = take_two(text, days[month - 1] + (month == 2 && leap));
	return day >= 1;
}

/* A leap second is the last one of a day in UTC. */
static bool take_time(struct str *text)
{
	int hour = take_two(text, 23), minute = -1, second = -1;
	if (hour < 0 || !take(text, ":") || (minute = take_two(text, 59)) < 0 || !take(text, ":") ||
	    (second = take_two(text, 60)) < 0)
		return false;
	if (take(text, ".")) {
		size_t digits = 0;
		for (; text->size > 0 && is_digit(text->at[0]); digits++)
			*text = str_skip(*text, 1);
		if (digits == 0)
			return false;
	}
	int offset = 0;
	if (!take(text, "zZ")) {
		int sign = text->size > 0 && text->at[0] == '-' ? -1 : 1, hours, minutes;
		if (!take(text, "+-") || (hours = take_two(text, 23)) < 0 || !take(text, ":") ||
		    (minutes = take_two(text, 59)) < 0)
			return false;
		offset = sign * (hours * 60 + minutes);
	}
	int utc = (hour * 60 + minute - offset + 2 * 1440) % 1440;
	return second < 60 || utc == 1439;
}

static bool is_date(struct str text)
{
	return take_date(&text) && text.size == 0;
}

static bool is_time(struct str text)
{
	return take_time(&text) && text.size == 0;
}

static bool is_date_time(struct str text)
{
	return take_date(&text) && take(&text, "tT") && take_time(&text) && text.size == 0;
}

static bool is_ipv4(struct str text)
{
	struct str rest = text, part;
	size_t parts = 0;
	for (; str_cut(&rest, '.', &part); parts++) {
		int number = 0;
		if (part.size == 0 || part.size > 3 || (part.size > 1 && part.at[0] == '0'))
			return false;
		for (size_t i = 0; i < part.size; i++) {
			if (!is_digit(part.at[i]))
				return false;
			number = number * 10 + (part.at[i] - '0');
		}
		if (number > 255)
			return false;
	}
	return parts == 4;
}

/* The number of groups of 16 bits; 9 and more = they are not valid.  An IPv4 address may
 * be the last two. */
static size_t count_groups(struct str text, bool ends)
{
	enum { INVALID = 9 };
	struct str rest = text, group;
	size_t count = 0, at;
	while (text.size > 0 && count < INVALID && str_cut(&rest, ':', &group)) {
		if (ends && rest.at == NULL && str_find(group, S("."), &at))
			return is_ipv4(group) ? count + 2 : INVALID;
		if (group.size == 0 || group.size > 4)
			return INVALID;
		for (size_t i = 0; i < group.size; i++)
			if (!is_hex(group.at[i]))
				return INVALID;
		count++;
	}
	return count;
}

static bool is_ipv6(struct str text)
{
	size_t at;
	if (!str_find(text, S("::"), &at))
		return count_groups(text, true) == 8;
	return count_groups(str_head(text, at), false) +
		       count_groups(str_skip(text, at + 2), true) <
	       8;
}

static bool is_hostname(struct str text)
{
	struct str rest = text, label;
	if (text.size == 0 || text.size > 253)
		return false;
	while (str_cut(&rest, '.', &label)) {
		if (label.size == 0 || label.size > 63 || label.at[0] == '-' ||
		    label.at[label.size - 1] == '-')
			return false;
		for (size_t i = 0; i < label.size; i++)
			if (!is_alphanumeric(label.at[i]) && label.at[i] != '-')
				return false;
	}
	return true;
}

static bool is_uuid(struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? text.at[i] != '-' : !is_hex(text.at[i]))
			return false;
	}
	return text.size == 36;
}

static bool is_json_pointer(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] == '~' &&
		    (i + 1 == text.size || (text.at[i + 1] != '0' && text.at[i + 1] != '1')))
			return false;
	return text.size == 0 || text.at[0] == '/';
}

static bool is_regex(struct str text)
{
	pcre2_code *code = pattern_compile(text);
	pcre2_code_free(code);
	return code != NULL;
}

format_check *format_find(struct str name)
{
	static const struct {
		const char *name;
		format_check *holds;
	} formats[] = {
		{ "date-time", is_date_time }, { "date", is_date },
		{ "time", is_time },           { "ipv4", is_ipv4 },
		{ "ipv6", is_ipv6 },           { "hostname", is_hostname },
		{ "uuid", is_uuid },           { "json-pointer", is_json_pointer },
		{ "regex", is_regex },
	};
	for (size_t i = 0; i < COUNT(formats); i++)
		if (str_equal(name, str_from_c(formats[i].name)))
			return formats[i].holds;
	return NULL;
}
