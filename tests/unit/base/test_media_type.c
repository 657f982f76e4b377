/* Pictures and recordings by their first bytes, and everything else as nothing. */
#include <criterion/criterion.h>

#include "base/media_type.h"

static const struct {
	struct str bytes, type;
} rows[] = {
	{ { "\x89PNG\r\n\x1a\nrest", 12 }, { "image/png", 9 } },
	{ { "\xff\xd8\xff\xe0", 4 }, { "image/jpeg", 10 } },
	{ { "GIF89a..", 8 }, { "image/gif", 9 } },
	{ { "RIFF\0\0\0\0WEBPVP8 ", 16 }, { "image/webp", 10 } },
	{ { "RIFF\0\0\0\0WAVEfmt ", 16 }, { "audio/wav", 9 } },
	{ { "ID3\4\0", 5 }, { "audio/mpeg", 10 } },
	{ { "\xff\xfb\x90\x64", 4 }, { "audio/mpeg", 10 } },
	{ { "\xff\xfb\xf0\x64", 4 }, { "", 0 } }, /* no such bit rate */
	{ { "\xff\xfe\x41\0", 4 }, { "", 0 } },   /* UTF-16 */
	{ { "RIFF\0\0\0\0AVI ", 12 }, { "", 0 } },
	{ { "RIFF\0\0\0\0", 8 }, { "", 0 } },
	{ { "\x89PN", 3 }, { "", 0 } },
	{ { "<svg", 4 }, { "", 0 } },
	{ { "", 0 }, { "", 0 } },
};

Test(media_type, is_found_by_the_first_bytes)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(str_equal(media_type_of(rows[i].bytes), rows[i].type), "row %zu", i);
}
