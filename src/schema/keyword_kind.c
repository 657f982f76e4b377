/* schema/keyword_kind.c -- names of types, and the kinds of values of keywords that
 * check nothing themselves. */
#include "schema/schema_internal.h"

unsigned keyword_kind_type_bit(struct str name)
{
	static const struct {
		struct str name;
		unsigned bit;
	} types[] = { { { "null", 4 }, TYPE_NULL },       { { "boolean", 7 }, TYPE_BOOL },
		      { { "integer", 7 }, TYPE_INTEGER }, { { "number", 6 }, TYPE_NUMBER },
		      { { "string", 6 }, TYPE_STRING },   { { "array", 5 }, TYPE_LIST },
		      { { "object", 6 }, TYPE_OBJECT } };
	for (size_t i = 0; i < COUNT(types); i++)
		if (str_equal(types[i].name, name))
			return types[i].bit;
	return 0;
}

bool keyword_kind(struct str key, enum json_kind *out_kind)
{
	static const struct {
		const char *name;
		enum json_kind kind;
	} kinds[] = {
		{ "$ref", JSON_STRING },
		{ "$id", JSON_STRING },
		{ "$schema", JSON_STRING },
		{ "$anchor", JSON_STRING },
		{ "$dynamicRef", JSON_STRING },
		{ "$dynamicAnchor", JSON_STRING },
		{ "$comment", JSON_STRING },
		{ "title", JSON_STRING },
		{ "description", JSON_STRING },
		{ "format", JSON_STRING },
		{ "contentEncoding", JSON_STRING },
		{ "contentMediaType", JSON_STRING },
		{ "readOnly", JSON_BOOL },
		{ "writeOnly", JSON_BOOL },
		{ "deprecated", JSON_BOOL },
		{ "examples", JSON_LIST },
		{ "$defs", JSON_OBJECT },
		{ "definitions", JSON_OBJECT },
		{ "$vocabulary", JSON_OBJECT },
	};
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (str_equal(key, str_from_c(kinds[i].name))) {
			*out_kind = kinds[i].kind;
			return true;
		}
	return false;
}
