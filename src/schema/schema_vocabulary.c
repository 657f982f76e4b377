/* schema/schema_vocabulary.c -- which vocabulary of 2020-12 a keyword belongs to. */
#include "base/limits.h"
#include "schema/schema_internal.h"

#define VOCABULARY "https://json-schema.org/draft/2020-12/vocab/"

static bool find(struct str uri, unsigned *out_vocabulary)
{
	static const struct {
		const char *uri;
		unsigned vocabulary;
	} known[] = {
		{ VOCABULARY "core", 0 },
		{ VOCABULARY "applicator", VOCABULARY_APPLICATOR },
		{ VOCABULARY "unevaluated", VOCABULARY_UNEVALUATED },
		{ VOCABULARY "validation", VOCABULARY_VALIDATION },
		{ VOCABULARY "meta-data", 0 },
		{ VOCABULARY "format-annotation", 0 },
		{ VOCABULARY "content", 0 },
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (str_equal(uri, str_from_c(known[i].uri))) {
			*out_vocabulary = known[i].vocabulary;
			return true;
		}
	return false;
}

unsigned schema_vocabulary_read(const struct json *meta, struct problems *problems)
{
	const struct json *list = json_member(meta, S("$vocabulary"));
	if (list == NULL || list->kind != JSON_OBJECT)
		return VOCABULARY_ALL;
	unsigned used = 0, vocabulary;
	for (size_t i = 0; i < list->as.object.count; i++) {
		const struct json_member *member = &list->as.object.at[i];
		if (find(member->key, &vocabulary))
			used |= vocabulary;
		else if (member->value.kind != JSON_BOOL || member->value.as.boolean)
			problems_add(problems, S("/$schema"), 0, 0,
				     "requires the vocabulary " STR_FMT ", which is not supported",
				     STR_ARG(str_head(member->key, LIMIT_QUOTE_BYTES)));
	}
	return used;
}

static bool is_among(struct str key, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(key, str_from_c(names[i])))
			return true;
	return false;
}

unsigned schema_vocabulary_of(struct str keyword)
{
	static const char *const applicator[] = {
		"prefixItems",
		"items",
		"contains",
		"additionalProperties",
		"properties",
		"patternProperties",
		"dependentSchemas",
		"propertyNames",
		"if",
		"then",
		"else",
		"allOf",
		"anyOf",
		"oneOf",
		"not",
	};
	static const char *const unevaluated[] = { "unevaluatedItems", "unevaluatedProperties" };
	static const char *const validation[] = {
		"type",          "const",
		"enum",          "multipleOf",
		"maximum",       "exclusiveMaximum",
		"minimum",       "exclusiveMinimum",
		"maxLength",     "minLength",
		"pattern",       "maxItems",
		"minItems",      "uniqueItems",
		"maxContains",   "minContains",
		"maxProperties", "minProperties",
		"required",      "dependentRequired",
	};
	if (is_among(keyword, applicator, COUNT(applicator)))
		return VOCABULARY_APPLICATOR;
	if (is_among(keyword, unevaluated, COUNT(unevaluated)))
		return VOCABULARY_UNEVALUATED;
	return is_among(keyword, validation, COUNT(validation)) ? VOCABULARY_VALIDATION : 0;
}
