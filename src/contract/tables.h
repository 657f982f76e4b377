/* contract/tables.h -- expands the rows of CONTRACT_FILE into const tables and function bodies.
 *
 * Exactly one .c file of a module includes it, after the module's header and with CONTRACT_FILE and
 * CONTRACT_MODULE defined again.  The type and rules of a row are words that expand to designated
 * initializers, only here.  The rows of an entity are inside a function, where `self` is its struct,
 * so that no row has to repeat the name of its entity.
 */
#include "contract/type.h"

#ifndef CONTRACT_FILE
#error "define CONTRACT_FILE again before contract/tables.h"
#endif
#ifndef CONTRACT_MODULE
#error "define CONTRACT_MODULE again before contract/tables.h"
#endif

#define CONTRACT_TEXT(literal) { literal, sizeof(literal) - 1 }
#define CONTRACT_PASTE(a, b)      a##b
#define CONTRACT_PASTE_LATE(a, b) CONTRACT_PASTE(a, b)
/* Zero; does not compile when the types differ. */
#define CONTRACT_SAME(a, b) (sizeof(1 ? (a *)0 : (b *)0) ? 0 : 0)

/* Pass 1: typed wrappers around the hooks, so that no function pointer is cast. */
#define CHECK(entity_, function_, text_)                                                           \
	static void entity_##_##function_##_door(const void *value, struct check *check)           \
	{                                                                                          \
		function_(value, check);                                                           \
	}
#define COMPUTE(entity_, function_, text_)                                                         \
	static void entity_##_##function_##_door(void *value)                                      \
	{                                                                                          \
		function_(value);                                                                  \
	}
#include "contract/rows.h"

/* Pass 2: the words of enums and the cases of unions.  An empty row terminates each list. */
#define ENUM(name_, wire_, text_)      static const struct enum_word name_##_words[] = {
#define VALUE(constant_, wire_, text_) [constant_] = { CONTRACT_TEXT(wire_), CONTRACT_TEXT(text_) },
#define END_ENUM                       { { NULL, 0 }, { NULL, 0 } } };
#define UNION(name_, wire_, tag_, text_) static const struct union_case name_##_cases[] = {
#define CASE(constant_, member_, tag_, entity_)                                                    \
	[constant_] = { CONTRACT_TEXT(tag_), CONTRACT_TEXT(#member_), entity_##_type },
#define OTHER(constant_, member_) [constant_] = { { NULL, 0 }, CONTRACT_TEXT(#member_), NULL },
#define END_UNION                 { { NULL, 0 }, { NULL, 0 }, NULL } };
#include "contract/rows.h"

#define ENUM(name_, wire_, text_) static const struct enum_old name_##_olds[] = {
#define ENUM_ALIAS(wire_, constant_)     { CONTRACT_TEXT(wire_), constant_ },
#define END_ENUM                  { { NULL, 0 }, 0 } };
#include "contract/rows.h"

/* Pass 3: the fields. */
#define STR        .shape = SHAPE_ONE, .of = str_type,
#define INT        .shape = SHAPE_ONE, .of = int_type,
#define REAL       .shape = SHAPE_ONE, .of = real_type,
#define BOOL       .shape = SHAPE_ONE, .of = bool_type,
#define TIME       .shape = SHAPE_ONE, .of = time_type,
#define UUID       .shape = SHAPE_ONE, .of = uuid_type,
#define HASH       .shape = SHAPE_ONE, .of = hash_type,
#define SECRET     .shape = SHAPE_ONE, .of = secret_type,
#define OBJECT     .shape = SHAPE_ONE, .of = object_type,
#define ANY        .shape = SHAPE_ONE, .of = any_type,
#define ENUM_OF(name) .shape = SHAPE_ONE, .of = name##_type,
#define ONE(name)  .shape = SHAPE_ONE, .of = name##_type,
#define LIST(name) .shape = SHAPE_LIST, .of = name##_type,
#define MAP(name)  .shape = SHAPE_MAP, .of = name##_type,

#define REQUIRED       .presence = PRESENCE_REQUIRED,
#define OPTIONAL       .presence = PRESENCE_OPTIONAL,
#define NULLABLE       .nullable = true,
#define DEFAULT(...)   .presence = PRESENCE_DEFAULT, .fallback = CONTRACT_TEXT(#__VA_ARGS__),
#define GENERATED(what)     .presence = PRESENCE_MADE, .making = CONTRACT_MAKE_##what,
#define PREFIX(text)   .prefix = CONTRACT_TEXT(text),
#define COMPUTED       .presence = PRESENCE_COMPUTED,
#define DEPRECATED     .deprecated = true,
#define RANGE(from, to) .has_low = true, .low = (from), .has_high = true, .high = (to),
#define AT_LEAST(from) .has_low = true, .low = (from),
#define ABOVE(from)    .has_low = true, .above = true, .low = (from),
#define LENGTH(from, to) .has_length = true, .least = (from), .most = (to),
#define PATTERN(regex) .pattern = (regex),
#define UNIQUE         .unique = true,
#define ALIAS(name)    .alias = CONTRACT_TEXT(name),
#define TAG_IN(name)   .tag_in = CONTRACT_TEXT(name),

#define ENTITY(name_, wire_, openness_, text_)                                                     \
	static const struct field *name_##_fields(void)                                            \
	{                                                                                          \
		typedef struct name_ self;                                                         \
		static const struct field rows[] = {
#define FIELD(name_, type_, rules_, text_)                                                         \
	{ .name = CONTRACT_TEXT(#name_),                                                           \
	  .offset = offsetof(self, name_),                                                         \
	  .mark = offsetof(self, is.name_),                                                        \
	  .text = CONTRACT_TEXT(text_),                                                            \
	  type_ rules_ },
#define FIELD_AS(name_, wire_, type_, rules_, text_)                                               \
	{ .name = CONTRACT_TEXT(wire_),                                                            \
	  .offset = offsetof(self, name_),                                                         \
	  .mark = offsetof(self, is.name_),                                                        \
	  .text = CONTRACT_TEXT(text_),                                                            \
	  type_ rules_ },
#define CONST(name_, value_, text_)                                                                \
	{ .name = CONTRACT_TEXT(#name_),                                                           \
	  .shape = SHAPE_CONST,                                                                    \
	  .presence = PRESENCE_REQUIRED,                                                           \
	  .constant = CONTRACT_TEXT(value_),                                                       \
	  .text = CONTRACT_TEXT(text_) },
#define CHECK(entity_, function_, text_)                                                           \
	{ .shape = SHAPE_CHECK,                                                                    \
	  .check = entity_##_##function_##_door,                                                   \
	  .text = CONTRACT_TEXT(text_),                                                            \
	  .offset = CONTRACT_SAME(self, struct entity_) },
#define COMPUTE(entity_, function_, text_)                                                         \
	{ .shape = SHAPE_COMPUTE,                                                                  \
	  .compute = entity_##_##function_##_door,                                                 \
	  .text = CONTRACT_TEXT(text_),                                                            \
	  .offset = CONTRACT_SAME(self, struct entity_) },
#define END_ENTITY                                                                                 \
	{ .shape = SHAPE_END, .offset = CONTRACT_SAME(self, self) }                                \
	}                                                                                          \
	;                                                                                          \
	return rows;                                                                               \
	}
#include "contract/rows.h"

#undef STR
#undef INT
#undef REAL
#undef BOOL
#undef TIME
#undef UUID
#undef HASH
#undef SECRET
#undef OBJECT
#undef ANY
#undef ENUM_OF
#undef ONE
#undef LIST
#undef MAP
#undef REQUIRED
#undef OPTIONAL
#undef NULLABLE
#undef DEFAULT
#undef GENERATED
#undef PREFIX
#undef COMPUTED
#undef DEPRECATED
#undef RANGE
#undef AT_LEAST
#undef ABOVE
#undef LENGTH
#undef PATTERN
#undef UNIQUE
#undef ALIAS
#undef TAG_IN

/* Passes 4 and 5: the types, their functions, the list of types. */
#include "contract/tables_types.h"

#undef CONTRACT_SAME
#undef CONTRACT_TEXT
#undef CONTRACT_PASTE
#undef CONTRACT_PASTE_LATE
#undef CONTRACT_MODULE
#undef CONTRACT_FILE
