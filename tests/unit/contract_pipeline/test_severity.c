/* Severities from one scale to another, and back without a loss. */
#include "pipeline_support.h"

#include "contract/severity.h"

struct mapping {
	enum severity_scale from;
	const char *word;
	enum severity_scale to;
	const char *lower, *higher;
};

/* Every word of every scale into every other one whose words differ. */
static const struct mapping mappings[] = {
	{ SEVERITY_PIPELINE, "critical", SEVERITY_PIPELINE_V1, "critical", "critical" },
	{ SEVERITY_PIPELINE, "major", SEVERITY_PIPELINE_V1, "high", "high" },
	{ SEVERITY_PIPELINE, "minor", SEVERITY_PIPELINE_V1, "low", "low" },
	{ SEVERITY_PIPELINE, "none", SEVERITY_PIPELINE_V1, "low", "low" },
	{ SEVERITY_PIPELINE_V1, "critical", SEVERITY_PIPELINE, "critical", "critical" },
	{ SEVERITY_PIPELINE_V1, "high", SEVERITY_PIPELINE, "major", "major" },
	{ SEVERITY_PIPELINE_V1, "medium", SEVERITY_PIPELINE, "minor", "major" },
	{ SEVERITY_PIPELINE_V1, "low", SEVERITY_PIPELINE, "minor", "minor" },
	{ SEVERITY_PIPELINE, "critical", SEVERITY_RUNTIME, "critical", "critical" },
	{ SEVERITY_PIPELINE, "major", SEVERITY_RUNTIME, "high", "high" },
	{ SEVERITY_PIPELINE, "minor", SEVERITY_RUNTIME, "low", "low" },
	{ SEVERITY_PIPELINE, "none", SEVERITY_RUNTIME, "info", "info" },
	{ SEVERITY_RUNTIME, "critical", SEVERITY_PIPELINE, "critical", "critical" },
	{ SEVERITY_RUNTIME, "high", SEVERITY_PIPELINE, "major", "major" },
	{ SEVERITY_RUNTIME, "medium", SEVERITY_PIPELINE, "minor", "major" },
	{ SEVERITY_RUNTIME, "low", SEVERITY_PIPELINE, "minor", "minor" },
	{ SEVERITY_RUNTIME, "info", SEVERITY_PIPELINE, "none", "minor" },
	{ SEVERITY_RUNTIME, "info", SEVERITY_PIPELINE_V1, "low", "low" },
	{ SEVERITY_RUNTIME, "info", SEVERITY_RUNTIME_SANITIZATION, "low", "low" },
	{ SEVERITY_RUNTIME, "info", SEVERITY_TASK, "low", "low" },
	{ SEVERITY_RUNTIME, "medium", SEVERITY_TASK, "medium", "medium" },
	{ SEVERITY_PIPELINE, "none", SEVERITY_TASK, "low", "low" },
	{ SEVERITY_TASK, "medium", SEVERITY_PIPELINE, "minor", "major" },
	{ SEVERITY_TASK, "high", SEVERITY_RUNTIME, "high", "high" },
	{ SEVERITY_TASK, "low", SEVERITY_PIPELINE_V1, "low", "low" },
	{ SEVERITY_RUNTIME_SANITIZATION, "critical", SEVERITY_TASK, "critical", "critical" },
};

static struct severity severity_of(enum severity_scale scale, struct str word)
{
	struct severity severity;
	struct error error;
	cr_assert(severity_from(scale, word, &severity, &error), "%s", error.text);
	return severity;
}

Test(severity, words_of_another_scale)
{
	for (size_t i = 0; i < COUNT(mappings); i++) {
		const struct mapping *row = &mappings[i];
		struct severity severity = severity_of(row->from, str_from_c(row->word));
		assert_str(severity_word(&severity, row->to, SEVERITY_LOWER),
			   str_from_c(row->lower));
		assert_str(severity_word(&severity, row->to, SEVERITY_HIGHER),
			   str_from_c(row->higher));
	}
}

Test(severity, its_own_scale_gives_the_very_word_back)
{
	size_t words = 0;
	for (int i = 0; i < SEVERITY_SCALE_COUNT; i++) {
		enum severity_scale scale = (enum severity_scale)i;
		for (size_t j = 0; severity_scale_word(scale, j).size > 0; j++, words++) {
			struct str word = severity_scale_word(scale, j);
			struct severity severity = severity_of(scale, word);
			assert_str(severity.word, word);
			cr_assert_eq(severity.scale, scale);
			assert_str(severity_word(&severity, scale, SEVERITY_LOWER), word);
			assert_str(severity_word(&severity, scale, SEVERITY_HIGHER), word);
		}
	}
	cr_assert_eq(words, 4 + 4 + 5 + 4 + 4);
}

/* Lowest first, no rank twice, and the canonical word belongs to the rank alone. */
Test(severity, scales_are_ladders)
{
	static const char *const canonical[] = {
		"none", "info", "low", "medium", "high", "critical"
	};
	for (int i = 0; i < SEVERITY_SCALE_COUNT; i++) {
		enum severity_scale scale = (enum severity_scale)i;
		int last = -1;
		for (size_t j = 0; severity_scale_word(scale, j).size > 0; j++) {
			struct severity severity =
				severity_of(scale, severity_scale_word(scale, j));
			cr_assert_gt(severity.rank, last);
			cr_assert_lt(severity.rank, (int)COUNT(canonical));
			last = severity.rank;
			assert_str(severity.canonical, str_from_c(canonical[last]));
		}
		cr_assert_eq(last, 5, "every scale ends with critical");
	}
}

Test(severity, rows_are_the_contracts_words)
{
	static const struct {
		enum severity_scale scale;
		const struct type *(*type)(void);
	} rows[] = {
		{ SEVERITY_PIPELINE, pipeline_severity_type },
		{ SEVERITY_PIPELINE_V1, pipeline_v1_severity_type },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct type *type = rows[i].type();
		for (size_t j = 0; j < type->word_count; j++)
			severity_of(rows[i].scale, type->words[j].name);
		assert_str(severity_scale_word(rows[i].scale, type->word_count), S(""));
	}
}

Test(severity, a_word_of_another_scale_is_refused)
{
	struct severity severity = { .rank = 77 };
	struct error error = { .text = "" };
	cr_assert(!severity_from(SEVERITY_PIPELINE, S("medium"), &severity, &error));
	cr_assert_eq(severity.rank, 77);
	cr_assert_eq(error.code, ERROR_INVALID);
	cr_assert_str_eq(error.text,
			 "no severity of the scale pipeline has this name; it has none, "
			 "minor, major, critical");
	cr_assert(!severity_from(SEVERITY_TASK, S("info"), &severity, &error));
	cr_assert(!severity_from(SEVERITY_RUNTIME, S("Critical"), &severity, &error));
	cr_assert(!severity_from(SEVERITY_RUNTIME, S(""), &severity, &error));
}

Test(severity, scales_have_names)
{
	enum severity_scale scale;
	for (int i = 0; i < SEVERITY_SCALE_COUNT; i++) {
		struct str name = severity_scale_name((enum severity_scale)i);
		cr_assert(severity_scale_from(name, &scale));
		cr_assert_eq((int)scale, i);
	}
	cr_assert(!severity_scale_from(S("graph"), &scale));
}
