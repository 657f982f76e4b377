/* contract/tables_types.h -- the last two passes of contract/tables.h: a const struct type for each
 * ENTITY, ENUM and UNION, the bodies of its typed functions, and the module's list of types.
 *
 * Only tables.h includes it; it uses the tables and macros defined there.
 */
/* Pass 4: the types and their functions. */
#define CONTRACT_HEAD(name_, wire_, text_, self_)                                                  \
	.name = CONTRACT_TEXT(wire_), .text = CONTRACT_TEXT(text_), .size = sizeof(self_),         \
	.entry_size = sizeof(struct name_##_entry),                                                \
	.entry_value = offsetof(struct name_##_entry, value), .state = &name_##_state
#define CONTRACT_KEPT_AT_CONTRACT_CLOSED(self) 0
#define CONTRACT_KEPT_AT_CONTRACT_WIRE(self)   0
#define CONTRACT_KEPT_AT_CONTRACT_KEPT(self)   offsetof(self, kept_fields)
#define CONTRACT_DOORS(name_)                                                                      \
	const struct type *name_##_type(void)                                                      \
	{                                                                                          \
		return &name_##_type_row;                                                          \
	}                                                                                          \
	const struct name_ *name_##_parse(const struct contract_source *source,                    \
					  struct arena *arena, struct problems *problems)          \
	{                                                                                          \
		return contract_parse(&name_##_type_row, source, arena, problems);                 \
	}                                                                                          \
	void name_##_print(const struct name_ *value, struct json_writer *writer)                  \
	{                                                                                          \
		contract_print(&name_##_type_row, value, writer);                                  \
	}                                                                                          \
	struct str name_##_text(const struct name_ *value, struct arena *arena)                    \
	{                                                                                          \
		return contract_text(&name_##_type_row, value, arena);                             \
	}                                                                                          \
	const struct json *name_##_tree(const struct name_ *value, struct arena *arena)            \
	{                                                                                          \
		return contract_tree(&name_##_type_row, value, arena);                             \
	}
#define ENUM(name_, wire_, text_)                                                                  \
	_Static_assert(sizeof(enum name_) == sizeof(uint32_t), "the engine copies 32 bits");       \
	static struct type_state name_##_state;                                                    \
	static const struct type name_##_type_row = { CONTRACT_HEAD(name_, wire_, text_,           \
								    enum name_),                   \
						      .kind = KIND_ENUM,                           \
						      .words = name_##_words,                      \
						      .word_count = COUNT(name_##_words) - 1,      \
						      .olds = name_##_olds };                      \
	const struct type *name_##_type(void)                                                      \
	{                                                                                          \
		return &name_##_type_row;                                                          \
	}                                                                                          \
	struct str name_##_name(enum name_ value)                                                  \
	{                                                                                          \
		return contract_word(&name_##_type_row, (uint32_t)value);                          \
	}                                                                                          \
	bool name_##_from(struct str word, enum name_ *out)                                        \
	{                                                                                          \
		uint32_t value;                                                                    \
		if (!contract_word_find(&name_##_type_row, word, &value))                          \
			return false;                                                              \
		*out = (enum name_)value;                                                          \
		return true;                                                                       \
	}                                                                                          \
	size_t name_##_count(void)                                                                 \
	{                                                                                          \
		return COUNT(name_##_words) - 1;                                                   \
	}
#define ENTITY(name_, wire_, openness_, text_)                                                     \
	static struct type_state name_##_state;                                                    \
	static const struct type name_##_type_row = {                                              \
		CONTRACT_HEAD(name_, wire_, text_, struct name_), .kind = KIND_ENTITY,             \
		.openness = CONTRACT_##openness_,                                                  \
		.kept = CONTRACT_KEPT_AT_CONTRACT_##openness_(struct name_),                       \
		.fields = name_##_fields                                                           \
	};                                                                                         \
	CONTRACT_DOORS(name_)                                                                      \
	struct name_ *name_##_new(struct arena *arena)                                             \
	{                                                                                          \
		return contract_new(&name_##_type_row, arena);                                     \
	}                                                                                          \
	void name_##_make(struct name_ *value, struct arena *arena,                                \
			  const struct contract_world *world)                                      \
	{                                                                                          \
		contract_make(&name_##_type_row, value, arena, world);                             \
	}
#define UNION(name_, wire_, tag_, text_)                                                           \
	_Static_assert(sizeof(enum name_##_kind) == sizeof(uint32_t), "the engine copies 32 bits"); \
	static struct type_state name_##_state;                                                    \
	static const struct type name_##_type_row = {                                              \
		CONTRACT_HEAD(name_, wire_, text_, struct name_), .kind = KIND_UNION,              \
		.tag = CONTRACT_TEXT(tag_), .cases = name_##_cases,                                \
		.case_count = COUNT(name_##_cases) - 1, .as = offsetof(struct name_, as)           \
	};                                                                                         \
	CONTRACT_DOORS(name_)
#include "contract/rows.h"

/* Pass 5: all types of the module. */
#define ENUM(name_, wire_, text_)              &name_##_type_row,
#define ENTITY(name_, wire_, openness_, text_) &name_##_type_row,
#define UNION(name_, wire_, tag_, text_)       &name_##_type_row,
const struct type *const CONTRACT_PASTE_LATE(CONTRACT_MODULE, _module_types)[] = {
#include "contract/rows.h"
};
const size_t CONTRACT_PASTE_LATE(CONTRACT_MODULE, _module_type_count) =
	COUNT(CONTRACT_PASTE_LATE(CONTRACT_MODULE, _module_types));

#undef CONTRACT_HEAD
#undef CONTRACT_DOORS
#undef CONTRACT_KEPT_AT_CONTRACT_CLOSED
#undef CONTRACT_KEPT_AT_CONTRACT_WIRE
#undef CONTRACT_KEPT_AT_CONTRACT_KEPT
