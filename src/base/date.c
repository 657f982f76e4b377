/* base/date.c -- calendar arithmetic that does not depend on libc's time zone or locale.
 *
 * Years are counted from March 1: the leap day is then the last day of its year, and one formula
 * gives the length of every month.
 */
#include "base/date.h"

int64_t date_floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int64_t date_to_days(struct date date)
{
	int64_t year = date.year - (date.month <= 2);
	int month = (date.month + 9) % 12; /* March is 0 */
	int64_t leap_days = date_floor_divide(year, 4) - date_floor_divide(year, 100) +
			    date_floor_divide(year, 400);
	int64_t before_month = (month * 153 + 2) / 5;
	return year * 365 + leap_days + before_month + date.day - 1 - 719468;
}

struct date date_from_days(int64_t days)
{
	int64_t since_march_0 = days + 719468;
	int64_t era = date_floor_divide(since_march_0, 146097); /* 400 years each */
	int64_t day = since_march_0 - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t day_of_year = day - (year * 365 + year / 4 - year / 100);
	int64_t month = (day_of_year * 5 + 2) / 153;
	return (struct date){
		.year = era * 400 + year + (month >= 10),
		.month = (int)(month < 10 ? month + 3 : month - 9),
		.day = (int)(day_of_year - (month * 153 + 2) / 5 + 1),
	};
}

int date_weekday(int64_t days)
{
	int64_t since_sunday = days + 4; /* 1970-01-01 was a Thursday */
	return (int)(since_sunday - date_floor_divide(since_sunday, 7) * 7);
}
