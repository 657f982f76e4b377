/* config/secret.c -- resolves references to secrets. */
#include "config/secret.h"

#include "base/limits.h"
#include "os/file.h"

static bool is_listed(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

/* The value must be one line, because it is sent in headers. */
static bool check_value(struct str reference, struct str value, struct error *error)
{
	if (value.size == 0)
		return fail(error, ERROR_NOT_FOUND, STR_FMT " is empty", STR_ARG(reference));
	for (size_t i = 0; i < value.size; i++)
		if ((unsigned char)value.at[i] < 0x20 || value.at[i] == 0x7F)
			return fail(error, ERROR_INVALID,
				    STR_FMT " must be one line without control characters",
				    STR_ARG(reference));
	return true;
}

static bool from_environment(const struct secret_places *places, struct str reference,
			     struct arena *arena, struct str *out_value, struct error *error)
{
	struct str name = str_skip(reference, 4);
	if (!is_listed(places->allowed, name))
		return fail(error, ERROR_FORBIDDEN,
			    STR_FMT " may not be read: add " STR_FMT " to secrets.allow",
			    STR_ARG(reference), STR_ARG(name));
	for (const char *const *one = places->environment; *one != NULL; one++) {
		struct str variable = str_from_c(*one);
		if (!str_starts(variable, name) ||
		    !str_starts(str_skip(variable, name.size), S("=")))
			continue;
		struct str value = str_skip(variable, name.size + 1);
		if (!check_value(reference, value, error))
			return false;
		*out_value = str_copy(arena, value);
		return true;
	}
	return fail(error, ERROR_NOT_FOUND, STR_FMT " is not set in the environment of the server",
		    STR_ARG(reference));
}

static bool from_file(const struct secret_places *places, struct str reference, struct arena *arena,
		      struct str *out_value, struct error *error)
{
	struct str name = str_skip(reference, 5), value;
	const char *folder = str_format(arena, "%s/secrets", places->data_folder).at;
	if (!file_read_private(folder, str_c(arena, name), LIMIT_SECRET_BYTES, arena, &value,
			       error)) {
		error_prefix(error, STR_FMT ": ", STR_ARG(reference));
		return false;
	}
	if (str_ends(value, S("\n")))
		value.size--;
	if (str_ends(value, S("\r")))
		value.size--;
	if (!check_value(reference, value, error))
		return false;
	*out_value = value;
	return true;
}

bool secret_resolve(const struct secret_places *places, struct secret secret, struct arena *arena,
		    struct str *out_value, struct error *error)
{
	struct str reference = secret.reference;
	size_t nul;
	bool plain = reference.size <= LIMIT_NAME_BYTES * 4 && !str_find(reference, S("\0"), &nul);
	if (plain && reference.size > 4 && str_starts(reference, S("env:")))
		return from_environment(places, reference, arena, out_value, error);
	if (plain && reference.size > 5 && str_starts(reference, S("file:")))
		return from_file(places, reference, arena, out_value, error);
	return fail(error, ERROR_INVALID, "a secret must be a reference: env:NAME or file:NAME");
}
