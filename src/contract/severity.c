/* contract/severity.c -- one table of all scales, searched linearly.
 *
 * The table has about twenty rows, grouped by scale, lowest severity first: an index would not make
 * the search faster.
 */
#include "contract/severity.h"

#include "base/buf.h"

static const struct str scales[] = {
#define SEVERITY_SCALE(constant_, name_, text_) \
	[SEVERITY_##constant_] = { name_, sizeof(name_) - 1 },
#include "contracts/severities.def"
};

static const struct severity words[] = {
#define SEVERITY(constant_, word_, rank_, canonical_) \
	{ .scale = SEVERITY_##constant_,              \
	  .word = { word_, sizeof(word_) - 1 },       \
	  .rank = rank_,                              \
	  .canonical = { canonical_, sizeof(canonical_) - 1 } },
#include "contracts/severities.def"
};

bool severity_from(enum severity_scale scale, struct str word, struct severity *out_severity,
		   struct error *error)
{
	AUTO(buf) known = { 0 };
	for (size_t i = 0; i < COUNT(words); i++) {
		if (words[i].scale != scale)
			continue;
		if (str_equal(words[i].word, word)) {
			*out_severity = words[i];
			return true;
		}
		buf_add(&known, buf_str(&known).size == 0 ? S("") : S(", "));
		buf_add(&known, words[i].word);
	}
	struct str list = buf_str(&known), name = severity_scale_name(scale);
	return fail(error, ERROR_INVALID,
		    "no severity of the scale " STR_FMT " has this name; it has " STR_FMT,
		    STR_ARG(name), STR_ARG(list));
}

struct str severity_word(const struct severity *severity, enum severity_scale scale,
			 enum severity_rounding rounding)
{
	const struct severity *below = NULL, *above = NULL;
	for (size_t i = 0; i < COUNT(words); i++) {
		if (words[i].scale != scale)
			continue;
		if (words[i].rank == severity->rank)
			return words[i].word;
		if (words[i].rank < severity->rank)
			below = &words[i];
		else if (above == NULL)
			above = &words[i];
	}
	require(below != NULL || above != NULL);
	if (below == NULL || (rounding == SEVERITY_HIGHER && above != NULL))
		return above->word;
	return below->word;
}

struct str severity_scale_name(enum severity_scale scale)
{
	require(scale < SEVERITY_SCALE_COUNT);
	return scales[scale];
}

bool severity_scale_from(struct str name, enum severity_scale *out_scale)
{
	for (size_t i = 0; i < COUNT(scales); i++) {
		if (!str_equal(scales[i], name))
			continue;
		*out_scale = (enum severity_scale)i;
		return true;
	}
	return false;
}

struct str severity_scale_word(enum severity_scale scale, size_t index)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (words[i].scale == scale && index-- == 0)
			return words[i].word;
	return S("");
}
