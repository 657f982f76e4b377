/* base/media_type.c -- recognizes pictures and recordings by their first bytes. */
#include "base/media_type.h"

struct beginning {
	struct str bytes, later; /* `later` stands at LATER_AT; "" = anything */
	struct str media_type;
};

enum { LATER_AT = 8 };

static const struct beginning beginnings[] = {
	{ { "\x89PNG\r\n\x1a\n", 8 }, { "", 0 }, { "image/png", 9 } },
	{ { "\xff\xd8\xff", 3 }, { "", 0 }, { "image/jpeg", 10 } },
	{ { "GIF87a", 6 }, { "", 0 }, { "image/gif", 9 } },
	{ { "GIF89a", 6 }, { "", 0 }, { "image/gif", 9 } },
	{ { "RIFF", 4 }, { "WEBP", 4 }, { "image/webp", 10 } },
	{ { "RIFF", 4 }, { "WAVE", 4 }, { "audio/wav", 9 } },
	{ { "ID3", 3 }, { "", 0 }, { "audio/mpeg", 10 } },
};

/* A frame of MPEG audio, layer III, without a tag before it: twelve ones, a version, the layer. */
static bool is_mp3_frame(struct str bytes)
{
	return bytes.size >= 4 && (unsigned char)bytes.at[0] == 0xFF &&
	       ((unsigned char)bytes.at[1] & 0xE6) == 0xE2 &&
	       ((unsigned char)bytes.at[2] & 0xF0) != 0xF0 &&
	       ((unsigned char)bytes.at[2] & 0x0C) != 0x0C;
}

struct str media_type_of(struct str bytes)
{
	struct str later = bytes.size > LATER_AT ? str_skip(bytes, LATER_AT) : S("");
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (str_starts(bytes, beginnings[i].bytes) &&
		    str_starts(later, beginnings[i].later))
			return beginnings[i].media_type;
	return is_mp3_frame(bytes) ? S("audio/mpeg") : S("");
}
