/* base/str.c -- string functions as plain loops; none of them is hot enough to optimize. */
#include "base/str.h"

#include <stdio.h>
#include <string.h>

struct str str_from_c(const char *text)
{
	return text == NULL ? (struct str){ "", 0 } : (struct str){ text, strlen(text) };
}

const char *str_c(struct arena *arena, struct str s)
{
	char *copy = arena_take_text(arena, s.size + 1);
	if (s.size > 0)
		memcpy(copy, s.at, s.size);
	copy[s.size] = '\0';
	return copy;
}

struct str str_copy(struct arena *arena, struct str s)
{
	return (struct str){ str_c(arena, s), s.size };
}

struct str str_format_list(struct arena *arena, const char *format, va_list list)
{
	require(format != NULL); /* otherwise gcc with UBSan warns about a null format */
	va_list again;
	va_copy(again, list);
	int size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	require(size >= 0);
	char *text = arena_take_text(arena, (size_t)size + 1);
	vsnprintf(text, (size_t)size + 1, format, list);
	return (struct str){ text, (size_t)size };
}

struct str str_format(struct arena *arena, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(arena, format, list);
	va_end(list);
	return text;
}

bool str_equal(struct str a, struct str b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static unsigned char folded(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool str_equal_folded(struct str a, struct str b)
{
	if (a.size != b.size)
		return false;
	for (size_t i = 0; i < a.size; i++)
		if (folded(a.at[i]) != folded(b.at[i]))
			return false;
	return true;
}

int str_compare(struct str a, struct str b)
{
	size_t shared = a.size < b.size ? a.size : b.size;
	int order = shared == 0 ? 0 : memcmp(a.at, b.at, shared);
	if (order != 0)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

struct str str_head(struct str s, size_t count)
{
	return (struct str){ s.at, count < s.size ? count : s.size };
}

struct str str_skip(struct str s, size_t count)
{
	if (count >= s.size)
		return (struct str){ "", 0 };
	return (struct str){ s.at + count, s.size - count };
}

bool str_starts(struct str s, struct str with)
{
	return s.size >= with.size && str_equal(str_head(s, with.size), with);
}

bool str_ends(struct str s, struct str with)
{
	return s.size >= with.size && str_equal(str_skip(s, s.size - with.size), with);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.size > 0 && is_blank(s.at[0]))
		s = str_skip(s, 1);
	while (s.size > 0 && is_blank(s.at[s.size - 1]))
		s.size--;
	return s;
}

bool str_find(struct str s, struct str what, size_t *out_at)
{
	if (what.size == 0 || s.size < what.size)
		return false;
	const char *found = what.size == 1 ? memchr(s.at, what.at[0], s.size)
					   : memmem(s.at, s.size, what.at, what.size);
	if (found == NULL)
		return false;
	*out_at = (size_t)(found - s.at);
	return true;
}

bool str_cut(struct str *rest, char separator, struct str *out_piece)
{
	if (rest->at == NULL)
		return false;
	const char *found = rest->size == 0 ? NULL : memchr(rest->at, separator, rest->size);
	if (found == NULL) {
		*out_piece = *rest;
		*rest = (struct str){ NULL, 0 };
		return true;
	}
	size_t size = (size_t)(found - rest->at);
	*out_piece = (struct str){ rest->at, size };
	*rest = (struct str){ found + 1, rest->size - size - 1 };
	return true;
}

bool str_to_int(struct str s, int64_t *out_number)
{
	bool negative = s.size > 0 && s.at[0] == '-';
	struct str digits = negative ? str_skip(s, 1) : s;
	if (digits.size == 0 || digits.size > 19)
		return false;
	uint64_t number = 0;
	for (size_t i = 0; i < digits.size; i++) {
		if (digits.at[i] < '0' || digits.at[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(digits.at[i] - '0');
	}
	if (number > (uint64_t)INT64_MAX + negative)
		return false;
	*out_number = negative ? (int64_t)(0 - number) : (int64_t)number;
	return true;
}
