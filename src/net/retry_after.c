/* net/retry_after.c -- reads Retry-After. */
#include "net/retry_after.h"

#include "base/date.h"

static bool number_of(struct str text, int64_t *out)
{
	return text.size > 0 && text.size <= 18 && str_to_int(text, out);
}

/* "12", and "12.5" as some providers write it. */
static bool read_decimal(struct str text, int64_t unit_us, int64_t most, int64_t *out_us)
{
	struct str rest = str_trim(text), whole;
	int64_t number, tenths = 0;
	if (!str_cut(&rest, '.', &whole) || !number_of(whole, &number))
		return false;
	if (rest.size > 0 && !number_of(str_head(rest, 1), &tenths))
		return false;
	*out_us = number > most / unit_us ? most : number * unit_us + tenths * (unit_us / 10);
	return true;
}

static int month_of(struct str text)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	for (int i = 0; i < 12; i++)
		if (str_equal(text, (struct str){ names + (size_t)i * 3, 3 }))
			return i + 1;
	return 0;
}

/* "Wed, 21 Oct 2015 07:28:00 GMT" */
static bool read_date(struct str text, int64_t *out_us)
{
	int64_t day, year, hour, minute, second;
	text = str_trim(text);
	if (text.size != 29 || !str_ends(text, S(" GMT")))
		return false;
#define AT(from, size) str_head(str_skip(text, from), size)
	int month = month_of(AT(8, 3));
	if (month == 0 || !number_of(AT(5, 2), &day) || !number_of(AT(12, 4), &year) ||
	    !number_of(AT(17, 2), &hour) || !number_of(AT(20, 2), &minute) ||
	    !number_of(AT(23, 2), &second))
		return false;
#undef AT
	int64_t days = date_to_days((struct date){ .year = year, .month = month, .day = (int)day });
	*out_us = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000000;
	return true;
}

struct str net_header_value(const struct http_header *headers, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal_folded(headers[i].name, name))
			return headers[i].value;
	return S("");
}

int64_t net_retry_after(const struct http_header *headers, size_t count, int64_t wall_us,
			int64_t most_us)
{
	struct str text = net_header_value(headers, count, S("Retry-After"));
	int64_t us = 0, date;
	if (!read_decimal(net_header_value(headers, count, S("Retry-After-Ms")), 1000, most_us,
			  &us) &&
	    !read_decimal(text, 1000000, most_us, &us) && read_date(text, &date))
		us = date > wall_us + most_us ? most_us : date - wall_us;
	return us < 0 ? 0 : us < most_us ? us : most_us;
}
