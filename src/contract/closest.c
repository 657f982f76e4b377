/* contract/closest.c -- "did you mean": the nearest known word, if it is near at all.
 *
 * Optimal string alignment (a slip, a missing, a doubled letter or two swapped neighbours cost
 * one each), letter case ignored.  Bounded: long words are not compared, and it only runs for
 * problems whose text is kept.
 */
#include "contract/engine.h"

#include <string.h>

enum { WORD_SIZE = 64 };

static unsigned char folded(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Both at most WORD_SIZE bytes. */
static unsigned distance(struct str a, struct str b)
{
	unsigned rows[3][WORD_SIZE + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	for (unsigned j = 0; j <= b.size; j++)
		above[j] = before[j] = j;
	for (unsigned i = 1; i <= a.size; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= b.size; j++) {
			unsigned char x = folded(a.at[i - 1]), y = folded(b.at[j - 1]);
			unsigned best = above[j - 1] + (x != y);
			best = least(best, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && x == folded(b.at[j - 2]) && folded(a.at[i - 2]) == y)
				best = least(best, before[j - 2] + 1);
			row[j] = best;
		}
		unsigned *oldest = before;
		before = above;
		above = row;
		row = oldest;
	}
	return above[b.size];
}

struct str ready_closest(const struct type_ready *ready, struct str word)
{
	struct str best = { NULL, 0 };
	if (word.size == 0 || word.size > WORD_SIZE)
		return best;
	unsigned limit = word.size < 3 ? 1 : word.size < 8 ? 2 : 3;
	unsigned nearest = limit + 1;
	for (size_t i = 0; i < ready->name_count; i++) {
		struct str name = ready->names[i].name;
		if (ready->names[i].old || name.size > WORD_SIZE || name.size > word.size + limit ||
		    word.size > name.size + limit)
			continue;
		unsigned far = distance(word, name);
		/* Everything is near to a word of two letters: something must be left. */
		if (far < nearest && far < name.size) {
			nearest = far;
			best = name;
		}
	}
	return best;
}
