/* contract/modules.c -- finds the types of all modules by name.
 *
 * A linear search is enough: there are a few hundred types, and only people and the reference
 * documents look them up.
 */
#include "contract/modules.h"

#include "contract/contract_internal.h"

#define MODULE(name_, text_)                                    \
	extern const struct type *const name_##_module_types[]; \
	extern const size_t name_##_module_type_count;
#include "contract/modules.def"
#undef MODULE

static const struct contract_module modules[] = {
#define MODULE(name_, text_)                       \
	{ .name = { #name_, sizeof(#name_) - 1 },  \
	  .text = { "" text_, sizeof(text_) - 1 }, \
	  .types = name_##_module_types,           \
	  .count = &name_##_module_type_count },
#include "contract/modules.def"
#undef MODULE
};

const struct contract_module *contract_module_at(size_t index)
{
	return index < COUNT(modules) ? &modules[index] : NULL;
}

const struct type *contract_type_at(const struct contract_module *module, size_t index)
{
	return index < *module->count ? module->types[index] : NULL;
}

const struct type *contract_find(struct str name)
{
	for (size_t i = 0; i < COUNT(modules); i++)
		for (size_t j = 0; j < *modules[i].count; j++)
			if (str_equal(modules[i].types[j]->name, name))
				return modules[i].types[j];
	return NULL;
}

struct str contract_short_name(const struct type *type)
{
	size_t dot;
	return str_find(type->name, S("."), &dot) ? str_skip(type->name, dot + 1) : type->name;
}

static size_t type_count(void)
{
	size_t count = 0;
	for (size_t i = 0; i < COUNT(modules); i++)
		count += *modules[i].count;
	return count;
}

/* The type whose full or short name is closest. */
static const struct type *nearest(struct str name, bool whole)
{
	AUTO(arena) arena = { 0 };
	size_t count = 0;
	struct ready_name *names = arena_array(&arena, struct ready_name, type_count());
	for (size_t i = 0; i < COUNT(modules); i++)
		for (size_t j = 0; j < *modules[i].count; j++) {
			const struct type *type = modules[i].types[j];
			names[count++].name = whole ? type->name : contract_short_name(type);
		}
	struct type_ready ready = { .names = names, .name_count = count };
	struct str found = ready_closest(&ready, name);
	for (size_t i = 0; i < COUNT(modules) && found.size > 0; i++)
		for (size_t j = 0; j < *modules[i].count; j++) {
			const struct type *type = modules[i].types[j];
			if (str_equal(whole ? type->name : contract_short_name(type), found))
				return type;
		}
	return NULL;
}

struct str contract_closest(struct str name)
{
	const struct type *type = nearest(name, true);
	if (type == NULL)
		type = nearest(name, false);
	return type == NULL ? S("") : type->name;
}

const char *contract_kind_name(enum type_kind kind)
{
	switch (kind) {
	case KIND_STR:
		return "string";
	case KIND_INT:
		return "integer";
	case KIND_REAL:
		return "number";
	case KIND_BOOL:
		return "boolean";
	case KIND_TIME:
		return "time";
	case KIND_UUID:
		return "uuid";
	case KIND_HASH:
		return "hash";
	case KIND_SECRET:
		return "secret";
	case KIND_OBJECT:
		return "object";
	case KIND_ANY:
		return "any";
	case KIND_ENUM:
		return "enum";
	case KIND_ENTITY:
		return "entity";
	case KIND_UNION:
		return "union";
	}
	return "";
}
