/* base/json_number.c -- numbers to text and back, exactly.
 *
 * Most numbers take a fast path without libc.  Reading: digits up to 2^53 and powers of ten up to
 * 10^22 are exact doubles, so a single multiplication or division rounds correctly (Clinger).
 * Writing: a decimal of at most fifteen digits is found by scaling and verified with the division
 * that a reader would do.  All other numbers go through strtod and printf in a way that ignores the
 * locale: strtod_l gets the C locale, and only digits and exponent of printf's output are used.
 */
#include "base/json_parts.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
				 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static const double TWO_63 = 9223372036854775808.0;

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	require(c_locale != (locale_t)0);
}

double json_real_parse(struct str text)
{
	pthread_once(&c_locale_once, c_locale_make);
	char small[64];
	char *copy = text.size < sizeof(small) ? small : malloc(text.size + 1);
	require(copy != NULL);
	memcpy(copy, text.at, text.size);
	copy[text.size] = '\0';
	double value = strtod_l(copy, NULL, c_locale);
	if (copy != small)
		free(copy);
	return value;
}

static bool clinger_value(const struct json_number *number, double *out_value)
{
	if (FLT_EVAL_METHOD != 0 || !number->exact || number->digits > (uint64_t)1 << 53 ||
	    number->exponent < -22 || number->exponent > 22)
		return false;
	double digits = (double)number->digits;
	*out_value = number->exponent < 0 ? digits / powers[-number->exponent]
					  : digits * powers[number->exponent];
	return true;
}

bool json_number_value(const struct json_number *number, struct str text, struct json *out)
{
	uint64_t largest = (uint64_t)INT64_MAX + number->negative;
	bool minus_zero = number->negative && number->digits == 0;
	if (number->whole && number->exact && number->digits <= largest && !minus_zero) {
		out->kind = JSON_INT;
		out->as.integer =
			number->negative ? (int64_t)(0 - number->digits) : (int64_t)number->digits;
		return true;
	}
	double value;
	if (number->exact && number->digits == 0)
		value = number->negative ? -0.0 : 0.0;
	else if (clinger_value(number, &value))
		value = number->negative ? -value : value;
	else
		value = json_real_parse(text);
	if (!isfinite(value))
		return false;
	out->kind = JSON_REAL;
	out->as.real = value;
	return true;
}

static size_t unsigned_text(uint64_t value, char *out)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char reversed[20];
	size_t at = sizeof(reversed);
	for (; value >= 100; value /= 100) {
		at -= 2;
		memcpy(reversed + at, pairs + value % 100 * 2, 2);
	}
	if (value >= 10) {
		at -= 2;
		memcpy(reversed + at, pairs + value * 2, 2);
	} else {
		reversed[--at] = (char)('0' + value);
	}
	memcpy(out, reversed + at, sizeof(reversed) - at);
	return sizeof(reversed) - at;
}

size_t json_int_text(int64_t value, char out[JSON_NUMBER_SIZE])
{
	if (value >= 0)
		return unsigned_text((uint64_t)value, out);
	out[0] = '-';
	return 1 + unsigned_text(0 - (uint64_t)value, out + 1);
}

/* A positive decimal: 0.DIGITS * 10^point. */
struct decimal {
	char digits[24];
	int count, point;
};

/* Plain notation from 1e-6 to 1e21, with an exponent outside that range. */
static size_t decimal_text(const struct decimal *decimal, char *out)
{
	int count = decimal->count, point = decimal->point;
	char *at = out;
	if (point > 21 || point < -5) {
		*at++ = decimal->digits[0];
		if (count > 1) {
			*at++ = '.';
			at = mempcpy(at, decimal->digits + 1, (size_t)count - 1);
		}
		*at++ = 'e';
		return (size_t)(at - out) + json_int_text(point - 1, at);
	}
	if (point <= 0) {
		*at++ = '0';
		*at++ = '.';
		memset(at, '0', (size_t)-point);
		at = mempcpy(at - point, decimal->digits, (size_t)count);
	} else if (count <= point) {
		at = mempcpy(at, decimal->digits, (size_t)count);
		memset(at, '0', (size_t)(point - count));
		at += point - count;
	} else {
		at = mempcpy(at, decimal->digits, (size_t)point);
		*at++ = '.';
		at = mempcpy(at, decimal->digits + point, (size_t)(count - point));
	}
	return (size_t)(at - out);
}

/* The fewest decimal places that read back as the value, while the scaled digits stay below 1e15:
 * decimals are coarser than doubles there, so the nearest decimal is the only candidate. */
static bool scaled_decimal(double value, struct decimal *out)
{
	if (FLT_EVAL_METHOD != 0 || value < 1e-6 || value >= 1e15)
		return false;
	for (int places = 1; places <= 21; places++) {
		double scaled = value * powers[places];
		if (scaled >= 1e15)
			return false;
		uint64_t digits = (uint64_t)(scaled + 0.5);
		if (digits == 0 || (double)digits / powers[places] != value)
			continue;
		out->count = (int)unsigned_text(digits, out->digits);
		out->point = out->count - places;
		return true;
	}
	return false;
}

/* `precision` digits as printf rounds them, trailing zeros dropped. */
static void printed_decimal(double value, int precision, struct decimal *out)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*e", precision - 1, value);
	out->count = 0;
	const char *at = text;
	for (; *at != 'e'; at++) /* skips the decimal point, which depends on the locale */
		if (*at >= '0' && *at <= '9')
			out->digits[out->count++] = *at;
	while (out->count > 1 && out->digits[out->count - 1] == '0')
		out->count--;
	out->point = (int)strtol(at + 1, NULL, 10) + 1;
}

bool json_real_is_whole(double value)
{
	return value >= -TWO_63 && value < TWO_63 && value == (double)(int64_t)value &&
	       !(value == 0 && signbit(value));
}

size_t json_real_text(double value, char out[JSON_NUMBER_SIZE])
{
	require(isfinite(value));
	if (json_real_is_whole(value))
		return json_int_text((int64_t)value, out); /* as an integer with all its digits */
	size_t sign = signbit(value) ? 1 : 0;
	out[0] = '-';
	if (value == 0) {
		out[1] = '0';
		return 2;
	}
	double positive = fabs(value);
	struct decimal decimal;
	if (scaled_decimal(positive, &decimal))
		return sign + decimal_text(&decimal, out + sign);
	/* A normal double holds any fifteen digits exactly; a subnormal may need fewer. */
	for (int precision = positive < DBL_MIN ? 1 : 15;; precision++) {
		printed_decimal(positive, precision, &decimal);
		size_t size = decimal_text(&decimal, out + sign);
		if (precision == 17 ||
		    json_real_parse((struct str){ out + sign, size }) == positive)
			return sign + size;
	}
}
