/* Every name of the two pipeline vocabularies exists, and their rows pass the self-test. */
#include "pipeline_support.h"

struct named {
	const char *type, *names;
};

static const struct named objects[] = {
#define OBJECT(type_, names_) { type_, names_ },
#define ENUM(type_, names_)
#include "names.def"
#undef OBJECT
#undef ENUM
};

static const struct named enums[] = {
#define OBJECT(type_, names_)
#define ENUM(type_, names_) { type_, names_ },
#include "names.def"
#undef OBJECT
#undef ENUM
};

static bool has_field(const struct type *type, struct str name)
{
	const struct field *field = type_fields(type);
	for (; field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) && str_equal(field->name, name))
			return true;
	return false;
}

Test(names, rows_have_no_mistake)
{
	struct error error = { .text = "" };
	cr_assert(contract_self_test(pipeline_module_types, pipeline_module_type_count, &error),
		  "%s", error.text);
	cr_assert(
		contract_self_test(pipeline_v1_module_types, pipeline_v1_module_type_count, &error),
		"%s", error.text);
}

Test(names, every_field_of_every_object)
{
	cr_assert_eq(COUNT(objects), 40 - 1,
		     "HistoryEntry has no fields in the source of the vocabulary");
	for (size_t i = 0; i < COUNT(objects); i++) {
		const struct type *type = type_named(str_from_c(objects[i].type));
		cr_assert(type != NULL && type->kind == KIND_ENTITY, "%s", objects[i].type);
		struct str rest = str_from_c(objects[i].names), name;
		while (str_cut(&rest, ' ', &name))
			cr_assert(has_field(type, name), "%s has no " STR_FMT, objects[i].type,
				  STR_ARG(name));
	}
}

/* A state of the implementation pipeline has all that every pipeline's state has. */
Test(names, implementation_state_inherits)
{
	const struct field *field = type_fields(pipeline_base_pipeline_state_type());
	size_t count = 0;
	for (; field->shape != SHAPE_END; field++, count++)
		cr_assert(has_field(pipeline_implementation_state_type(), field->name), STR_FMT,
			  STR_ARG(field->name));
	cr_assert_eq(count, 16);
}

Test(names, exactly_the_words_of_every_enum)
{
	cr_assert_eq(COUNT(enums), 17);
	for (size_t i = 0; i < COUNT(enums); i++) {
		const struct type *type = type_named(str_from_c(enums[i].type));
		cr_assert(type != NULL && type->kind == KIND_ENUM, "%s", enums[i].type);
		struct str rest = str_from_c(enums[i].names), word;
		size_t count = 0;
		for (; str_cut(&rest, ' ', &word); count++)
			assert_str(contract_word(type, (uint32_t)count), word);
		cr_assert_eq(count, type->word_count, "%s has more words", enums[i].type);
	}
}

Test(names, words_of_what_the_seed_writes_out)
{
	cr_assert_eq(pipeline_event_type_count(), 49);
	cr_assert_eq(pipeline_v1_event_type_count(), 17);
	cr_assert_eq(pipeline_status_count(), 5);
	assert_str(pipeline_status_name(PIPELINE_STATUS_PAUSED), S("paused"));
	cr_assert_eq(pipeline_consultation_outcome_count(), 2);
	assert_str(pipeline_consultation_outcome_name(PIPELINE_CONSULTATION_ERROR), S("error"));
}

/* Every event type of pipeline_v1 exists in pipeline under the same name. */
Test(names, old_event_types_are_still_there)
{
	for (size_t i = 0; i < pipeline_v1_event_type_count(); i++) {
		enum pipeline_event_type type;
		struct str word = pipeline_v1_event_type_name((enum pipeline_v1_event_type)i);
		cr_assert(pipeline_event_type_from(word, &type), STR_FMT, STR_ARG(word));
	}
}

Test(names, everything_is_described)
{
	for (size_t i = 0; type_at(i) != NULL; i++) {
		const struct type *type = type_at(i);
		cr_assert_gt(type->text.size, 0, STR_FMT, STR_ARG(type->name));
		for (size_t j = 0; j < type->word_count; j++)
			cr_assert_gt(type->words[j].text.size, 0);
		if (type->kind != KIND_ENTITY)
			continue;
		for (const struct field *f = type_fields(type); f->shape != SHAPE_END; f++)
			cr_assert_gt(f->text.size, 0, STR_FMT "." STR_FMT, STR_ARG(type->name),
				     STR_ARG(f->name));
	}
}
