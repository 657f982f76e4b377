/* contract/rows.h -- one pass over CONTRACT_FILE.
 *
 * Row macros that the including file did not define expand to nothing.  All row macros are undefined
 * afterwards.
 *
 * A row macro must not call another row macro: the words of a row expand to text with commas before
 * the second call, which would then get too many arguments. */
#ifndef ENUM
#define ENUM(name_, wire_, text_)
#endif
#ifndef VALUE
#define VALUE(constant_, wire_, text_)
#endif
#ifndef ENUM_ALIAS
#define ENUM_ALIAS(wire_, constant_)
#endif
#ifndef END_ENUM
#define END_ENUM
#endif
#ifndef ENTITY
#define ENTITY(name_, wire_, openness_, text_)
#endif
#ifndef FIELD
#define FIELD(name_, type_, rules_, text_)
#endif
#ifndef FIELD_AS
#define FIELD_AS(name_, wire_, type_, rules_, text_)
#endif
#ifndef CONST
#define CONST(name_, value_, text_)
#endif
#ifndef CHECK
#define CHECK(entity_, function_, text_)
#endif
#ifndef COMPUTE
#define COMPUTE(entity_, function_, text_)
#endif
#ifndef END_ENTITY
#define END_ENTITY
#endif
#ifndef UNION
#define UNION(name_, wire_, tag_, text_)
#endif
#ifndef CASE
#define CASE(constant_, member_, tag_, entity_)
#endif
#ifndef OTHER
#define OTHER(constant_, member_)
#endif
#ifndef END_UNION
#define END_UNION
#endif

#include CONTRACT_FILE

#undef ENUM
#undef VALUE
#undef ENUM_ALIAS
#undef END_ENUM
#undef ENTITY
#undef FIELD
#undef FIELD_AS
#undef CONST
#undef CHECK
#undef COMPUTE
#undef END_ENTITY
#undef UNION
#undef CASE
#undef OTHER
#undef END_UNION
