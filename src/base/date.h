/* base/date.h -- converts between dates and days since 1970-01-01 (proleptic Gregorian). */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include <stdint.h>

struct date {
	int64_t year;
	int month, day; /* starting at 1 */
};

int64_t date_to_days(struct date date); /* the month must be from 1 to 12 */
struct date date_from_days(int64_t days);
int date_weekday(int64_t days); /* 0 = Sunday */
/* a / b rounded toward minus infinity, for times before 1970; b > 0. */
int64_t date_floor_divide(int64_t a, int64_t b);

#endif
