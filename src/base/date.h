/* base/date.h -- days since 1970-01-01 and dates, in the proleptic Gregorian calendar. */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include <stdint.h>

struct date {
	int64_t year;
	int month, day; /* from 1 on */
};

int64_t date_to_days(struct date date); /* the month must be one of the twelve */
struct date date_from_days(int64_t days);
int date_weekday(int64_t days);             /* 0 = Sunday */
int64_t floor_divide(int64_t a, int64_t b); /* b > 0 */

#endif
