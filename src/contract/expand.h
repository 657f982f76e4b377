/* contract/expand.h -- expands the rows of CONTRACT_FILE into C types and function declarations.
 *
 * A module's header is
 *
 *	#include "contract/contract.h"
 *	#include "contract/other_types.h"        modules that the rows refer to
 *	#define CONTRACT_MODULE run
 *	#define CONTRACT_FILE "contracts/run.def"
 *	#include "contract/expand.h"
 *
 * The module's .c file includes that header, defines the two macros again and includes
 * contract/tables.h.  This file undefines both macros at its end, so one .c file can include several
 * such headers.  It has no include guard.
 */
#ifndef CONTRACT_FILE
#error "define CONTRACT_FILE, as in \"contracts/run.def\", before contract/expand.h"
#endif
#ifndef CONTRACT_MODULE
#error "define CONTRACT_MODULE, as in run, before contract/expand.h"
#endif

#define CONTRACT_PASTE(a, b)       a##b
#define CONTRACT_PASTE_LATE(a, b)  CONTRACT_PASTE(a, b)
#define CONTRACT_KEEP_CONTRACT_CLOSED
#define CONTRACT_KEEP_CONTRACT_WIRE
#define CONTRACT_KEEP_CONTRACT_KEPT struct contract_kept kept_fields;

extern const struct type *const CONTRACT_PASTE_LATE(CONTRACT_MODULE, _module_types)[];
extern const size_t CONTRACT_PASTE_LATE(CONTRACT_MODULE, _module_type_count);

/* Pass 0: brackets only, so that the compiler reports a missing END_ once, at its row. */
#define ENUM(name_, wire_, text_)               extern int END_ENUM_missing_after_##name_[1
#define END_ENUM                                ];
#define ENTITY(name_, wire_, openness_, text_)  extern int END_ENTITY_missing_after_##name_[1
#define END_ENTITY                              ];
#define UNION(name_, wire_, tag_, text_)        extern int END_UNION_missing_after_##name_[1
#define END_UNION                               ];
#include "contract/rows.h"

/* Pass 1: enums, because C has no forward declaration of them. */
#define ENUM(name_, wire_, text_)               enum name_ {
#define VALUE(constant_, wire_, text_)          constant_,
#define END_ENUM                                };
#define UNION(name_, wire_, tag_, text_)        enum name_##_kind {
#define CASE(constant_, member_, tag_, entity_) constant_,
#define OTHER(constant_, member_)               constant_,
#define END_UNION                               };
#include "contract/rows.h"

/* Pass 2: names, lists and maps, so that rows may refer to later ones. */
#define ENUM(name_, wire_, text_)                                                                  \
	struct name_##_list {                                                                      \
		const enum name_ *at;                                                              \
		size_t count;                                                                      \
	};                                                                                         \
	struct name_##_entry {                                                                     \
		struct str key;                                                                    \
		enum name_ value;                                                                  \
	};                                                                                         \
	struct name_##_map {                                                                       \
		const struct name_##_entry *at;                                                    \
		size_t count;                                                                      \
	};                                                                                         \
	const struct type *name_##_type(void);                                                     \
	struct str name_##_name(enum name_ value);                                                 \
	bool name_##_from(struct str word, enum name_ *out);                                       \
	size_t name_##_count(void);
#define CONTRACT_FORWARD(name_)                                                                    \
	struct name_;                                                                              \
	struct name_##_entry;                                                                      \
	struct name_##_list {                                                                      \
		const struct name_ *at;                                                            \
		size_t count;                                                                      \
	};                                                                                         \
	struct name_##_map {                                                                       \
		const struct name_##_entry *at;                                                    \
		size_t count;                                                                      \
	};                                                                                         \
	const struct type *name_##_type(void);
#define ENTITY(name_, wire_, openness_, text_) CONTRACT_FORWARD(name_)
#define UNION(name_, wire_, tag_, text_)       CONTRACT_FORWARD(name_)
#include "contract/rows.h"
#undef CONTRACT_FORWARD

/* Pass 3: the presence marks.  The first byte exists because C has no empty structs: an entity may
 * have only CONST rows. */
#define ENTITY(name_, wire_, openness_, text_)                                                     \
	struct name_##_is {                                                                        \
		uint8_t self_;
#define FIELD(name_, type_, rules_, text_)           uint8_t name_;
#define FIELD_AS(name_, wire_, type_, rules_, text_) uint8_t name_;
#define END_ENTITY                                   };
#include "contract/rows.h"

/* Pass 4: the structs. */
#define STR        struct str
#define INT        int64_t
#define REAL       double
#define BOOL       bool
#define TIME       int64_t
#define UUID       struct uuid
#define HASH       struct hash
#define SECRET     struct secret
#define OBJECT     const struct json *
#define ANY        const struct json *
#define ENUM_OF(name) enum name
#define ONE(name)  const struct name *
#define LIST(name) struct name##_list
#define MAP(name)  struct name##_map
#define ENTITY(name_, wire_, openness_, text_)                                                     \
	struct name_ {                                                                             \
		struct name_##_is is;                                                              \
		CONTRACT_KEEP_CONTRACT_##openness_
#define FIELD(name_, type_, rules_, text_)           type_ name_;
#define FIELD_AS(name_, wire_, type_, rules_, text_) type_ name_;
#define END_ENTITY                                   };
#define UNION(name_, wire_, tag_, text_)                                                           \
	struct name_ {                                                                             \
		enum name_##_kind kind;                                                            \
		union {                                                                            \
			const void *any;
#define CASE(constant_, member_, tag_, entity_) const struct entity_ *member_;
#define OTHER(constant_, member_)               const struct json *member_;
#define END_UNION                                                                                  \
	}                                                                                          \
	as;                                                                                        \
	}                                                                                          \
	;
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

/* Pass 5: map entries, typed functions, prototypes of the hooks. */
#define CONTRACT_DOORS(name_)                                                                      \
	struct name_##_entry {                                                                     \
		struct str key;                                                                    \
		struct name_ value;                                                                \
	};                                                                                         \
	const struct name_ *name_##_parse(const struct contract_source *source,                    \
					  struct arena *arena, struct problems *problems);         \
	void name_##_print(const struct name_ *value, struct json_writer *writer);                 \
	struct str name_##_text(const struct name_ *value, struct arena *arena);                   \
	const struct json *name_##_tree(const struct name_ *value, struct arena *arena);
#define ENTITY(name_, wire_, openness_, text_)                                                     \
	CONTRACT_DOORS(name_)                                                                      \
	struct name_ *name_##_new(struct arena *arena);                                            \
	void name_##_make(struct name_ *value, struct arena *arena,                                \
			  const struct contract_world *world);
#define UNION(name_, wire_, tag_, text_) CONTRACT_DOORS(name_)
#define CHECK(entity_, function_, text_)                                                           \
	void function_(const struct entity_ *value, struct check *check);
#define COMPUTE(entity_, function_, text_) void function_(struct entity_ *value);
#include "contract/rows.h"
#undef CONTRACT_DOORS

#undef CONTRACT_KEEP_CONTRACT_CLOSED
#undef CONTRACT_KEEP_CONTRACT_WIRE
#undef CONTRACT_KEEP_CONTRACT_KEPT
#undef CONTRACT_PASTE
#undef CONTRACT_PASTE_LATE
#undef CONTRACT_MODULE
#undef CONTRACT_FILE
