/* SHA-256 against the NIST vectors, and the UUIDs derived from it. */
#include "tests/unit/base/expect.h"

#include <stdlib.h>

#include "base/sha256.h"
#include "base/uuid.h"

static void expect_hash(struct str bytes, const char *hex)
{
	struct hash hash = hash_of(bytes);
	char text[HASH_TEXT_SIZE];
	expect_str(hash_text(&hash, text), str_from_c(hex));
}

Test(sha256, gives_the_published_answers)
{
	expect_hash(S(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect_hash(S("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect_hash(S("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	expect_hash(S("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		      "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
		    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

Test(sha256, takes_a_million_bytes)
{
	char *text = malloc(1000000);
	memset(text, 'a', 1000000);
	expect_hash((struct str){ text, 1000000 },
		    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(text);
}

/* Padding changes at 55, 56, 63, 64 and 119 bytes; splitting the input must not change the hash. */
Test(sha256, is_the_same_in_pieces)
{
	char text[200];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	for (size_t size = 0; size <= sizeof(text); size++) {
		struct hash whole = hash_of((struct str){ text, size });
		for (size_t piece = 1; piece <= 65; piece += 9) {
			struct sha256 sha;
			sha256_init(&sha);
			for (size_t at = 0; at < size; at += piece)
				sha256_add(&sha, text + at, size - at < piece ? size - at : piece);
			struct hash pieces = sha256_finish(&sha);
			cr_assert(hash_equal(&whole, &pieces), "size %zu piece %zu", size, piece);
		}
	}
}

Test(sha256, reads_only_its_own_text)
{
	struct hash hash = hash_of(S("abc")), read;
	char text[HASH_TEXT_SIZE];
	struct str hex = hash_text(&hash, text);
	cr_assert(hash_parse(hex, &read));
	cr_expect(hash_equal(&hash, &read));
	cr_expect(!hash_parse(str_head(hex, 63), &read));
	text[0] = 'B';
	cr_expect(!hash_parse(hex, &read), "capitals are not what hash_text writes");
	text[0] = 'g';
	cr_expect(!hash_parse(hex, &read));
	struct hash other = hash_of(S("abd"));
	cr_expect(!hash_equal(&hash, &other));
}

Test(uuid, marks_random_bytes_as_version_4)
{
	uint8_t ones[16];
	memset(ones, 0xFF, sizeof(ones));
	struct uuid uuid = uuid_from_random(ones);
	char text[UUID_TEXT_SIZE];
	expect_str(uuid_text(&uuid, text), S("ffffffff-ffff-4fff-bfff-ffffffffffff"));
	uint8_t zeros[16] = { 0 };
	uuid = uuid_from_random(zeros);
	expect_str(uuid_text(&uuid, text), S("00000000-0000-4000-8000-000000000000"));
	cr_expect(!uuid_is_zero(&uuid));
	cr_expect(uuid_is_zero(&(struct uuid){ 0 }));
}

/* The expected text was computed by another program that follows the description in uuid.h. */
Test(uuid, derives_the_same_id_for_ever)
{
	struct str parts[] = { S("run"), S("step1") };
	struct uuid uuid = uuid_derive(parts, 2);
	char text[UUID_TEXT_SIZE];
	expect_str(uuid_text(&uuid, text), S("a0120eb3-c14a-45c5-b25b-97be47a00c11"));
}

Test(uuid, does_not_confuse_lists_that_join_to_the_same_text)
{
	struct uuid ab_c = uuid_derive((struct str[]){ S("ab"), S("c") }, 2);
	struct uuid a_bc = uuid_derive((struct str[]){ S("a"), S("bc") }, 2);
	struct uuid abc = uuid_derive((struct str[]){ S("abc") }, 1);
	struct uuid abc_ = uuid_derive((struct str[]){ S("abc"), S("") }, 2);
	cr_expect(!uuid_equal(&ab_c, &a_bc));
	cr_expect(!uuid_equal(&ab_c, &abc));
	cr_expect(!uuid_equal(&abc, &abc_));
}

Test(uuid, reads_both_cases_and_nothing_else)
{
	struct uuid lower, upper;
	cr_assert(uuid_parse(S("0b6c9a5e-7c1f-4d53-9f0e-00000000abcd"), &lower));
	cr_assert(uuid_parse(S("0B6C9A5E-7C1F-4D53-9F0E-00000000ABCD"), &upper));
	cr_expect(uuid_equal(&lower, &upper));
	cr_expect_eq(uuid_str(&lower).size, 16);
	cr_expect_eq(lower.bytes[0], 0x0B);
	static const struct str bad[] = {
		{ "", 0 },
		{ "0b6c9a5e-7c1f-4d53-9f0e-00000000abc", 35 },
		{ "0b6c9a5e-7c1f-4d53-9f0e-00000000abcde", 37 },
		{ "0b6c9a5e07c1f-4d53-9f0e-00000000abcd", 36 },
		{ "0b6c9a5e-7c1f-4d53-9f0e-00000000abcg", 36 },
		{ "0b6c9a5-e7c1f-4d53-9f0e-00000000abcd", 36 },
		{ "0b6c9a5e-7c1f-4d53-9f0e-0000@000abcd", 36 },
	};
	struct uuid before = lower;
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect(!uuid_parse(bad[i], &lower), "case %zu", i);
	cr_expect(uuid_equal(&before, &lower), "a failed parse leaves the output alone");
}

Test(uuid, a_prefix_is_a_range_of_ids)
{
	static const struct {
		const char *text, *first, *last;
	} good[] = {
		{ "1f0c", "1f0c0000-0000-0000-0000-000000000000",
		  "1f0cffff-ffff-ffff-ffff-ffffffffffff" },
		{ "1F0C9", "1f0c9000-0000-0000-0000-000000000000",
		  "1f0c9fff-ffff-ffff-ffff-ffffffffffff" },
		{ "1f0c9a3e-", "1f0c9a3e-0000-0000-0000-000000000000",
		  "1f0c9a3e-ffff-ffff-ffff-ffffffffffff" },
		{ "1f0c9a3e-77", "1f0c9a3e-7700-0000-0000-000000000000",
		  "1f0c9a3e-77ff-ffff-ffff-ffffffffffff" },
		{ "1f0c9a3e77", "1f0c9a3e-7700-0000-0000-000000000000",
		  "1f0c9a3e-77ff-ffff-ffff-ffffffffffff" },
		{ "1f0c9a3e-7700-4000-8000-000000000001", "1f0c9a3e-7700-4000-8000-000000000001",
		  "1f0c9a3e-7700-4000-8000-000000000001" },
	};
	static const char *const bad[] = {
		"",          "1f0",   "1f0g",        "-1f0c",
		"1f-0c9a3e", "1f0c-", "1f0c9a3e--7", "1f0c9a3e-7700-4000-8000-0000000000012"
	};
	struct uuid first, last;
	for (size_t i = 0; i < COUNT(good); i++) {
		char low[UUID_TEXT_SIZE], high[UUID_TEXT_SIZE];
		cr_assert(uuid_prefix_parse(str_from_c(good[i].text), &first, &last), "%s",
			  good[i].text);
		expect_str(uuid_text(&first, low), str_from_c(good[i].first));
		expect_str(uuid_text(&last, high), str_from_c(good[i].last));
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect(!uuid_prefix_parse(str_from_c(bad[i]), &first, &last), "%s", bad[i]);
}
