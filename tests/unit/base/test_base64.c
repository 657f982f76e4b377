/* Base64 encoding and decoding. */
#include <criterion/criterion.h>

#include "base/base64.h"

static const struct {
	const char *bytes, *text;
} pairs[] = { { "", "" },
	      { "f", "Zg==" },
	      { "fo", "Zm8=" },
	      { "foo", "Zm9v" },
	      { "foob", "Zm9vYg==" },
	      { "fooba", "Zm9vYmE=" },
	      { "foobar", "Zm9vYmFy" },
	      { "\xFB\xFF\xBE", "+/++" } };

Test(base64, both_ways)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct str bytes = str_from_c(pairs[i].bytes), text = str_from_c(pairs[i].text),
			   back;
		cr_assert(str_equal(base64_text(&arena, bytes), text), "%s", pairs[i].text);
		cr_assert(base64_read(&arena, text, &back), "%s", pairs[i].text);
		cr_assert(str_equal(back, bytes));
	}
}

Test(base64, strictly)
{
	static const char *const wrong[] = {
		"Zg",   "Zg=",  "Zg===",  "=",        "====", "Zh==",
		"Zm9=", "Zm 9", "Zm9v\n", "Zg==Zg==", "Z-==", "Zm9v="
	};
	AUTO(arena) arena = { 0 };
	struct str back;
	for (size_t i = 0; i < COUNT(wrong); i++)
		cr_assert(!base64_read(&arena, str_from_c(wrong[i]), &back), "%s", wrong[i]);
}
