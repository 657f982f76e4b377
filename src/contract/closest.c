/* contract/closest.c -- "did you mean": the known word closest to a misspelled one.
 *
 * The distance is optimal string alignment, ignoring case: a wrong, missing or extra letter and a
 * swap of two neighbors cost one each.  The cost is bounded: long words are not compared, and the
 * search runs only for problems whose text will be shown.
 */
#include "contract/closest.h"

#include "contract/contract_internal.h"

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

/* The largest distance at which a word is still suggested. */
static unsigned patience(struct str word)
{
	return word.size < 3 ? 1 : word.size < 8 ? 2 : 3;
}

struct search {
	struct str word, best;
	unsigned nearest;
};

static bool search_begin(struct search *search, struct str word)
{
	*search = (struct search){ .word = word, .nearest = patience(word) + 1 };
	return word.size > 0 && word.size <= WORD_SIZE;
}

static void search_try(struct search *search, struct str name)
{
	unsigned limit = patience(search->word);
	if (name.size > WORD_SIZE || name.size > search->word.size + limit ||
	    search->word.size > name.size + limit)
		return;
	unsigned far = distance(search->word, name);
	/* Any word is within a small distance of a two-letter word: require one matching letter. */
	if (far < search->nearest && far < name.size) {
		search->nearest = far;
		search->best = name;
	}
}

struct str closest_word(struct str_list words, struct str word)
{
	struct search search;
	if (search_begin(&search, word))
		for (size_t i = 0; i < words.count; i++)
			search_try(&search, words.at[i]);
	return search.best;
}

struct str ready_closest(const struct type_ready *ready, struct str word)
{
	struct search search;
	if (search_begin(&search, word))
		for (size_t i = 0; i < ready->name_count; i++)
			if (!ready->names[i].old)
				search_try(&search, ready->names[i].name);
	return search.best;
}
