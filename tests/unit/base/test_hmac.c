/* HMAC-SHA256: the test cases of RFC 4231, and the comparison of secrets. */
#include <criterion/criterion.h>

#include "base/hmac.h"

static void expect(struct str key, struct str text, const char *code)
{
	char hex[HASH_TEXT_SIZE];
	const struct str parts[] = { str_head(text, text.size / 2), str_skip(text, text.size / 2) };
	struct hash whole = hmac_sha256(key, &text, 1), split = hmac_sha256(key, parts, 2);
	cr_expect(str_equal(hash_text(&whole, hex), str_from_c(code)), "%s", code);
	cr_expect(hash_equal(&whole, &split));
}

Test(hmac, cases_of_the_standard)
{
	char keys[131], data[50];
	memset(keys, 0x0b, sizeof(keys));
	expect((struct str){ keys, 20 }, S("Hi There"),
	       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	expect(S("Jefe"), S("what do ya want for nothing?"),
	       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(keys, 0xaa, sizeof(keys));
	memset(data, 0xdd, sizeof(data));
	expect((struct str){ keys, 20 }, (struct str){ data, 50 },
	       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	/* a key that is longer than a block */
	expect((struct str){ keys, 131 },
	       S("Test Using Larger Than Block-Size Key - Hash Key First"),
	       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

Test(hmac, an_empty_key_and_text)
{
	expect(S(""), S(""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

Test(hmac, equal)
{
	cr_expect(hmac_equal(S("abc"), S("abc")) && hmac_equal(S(""), S("")));
	cr_expect_not(hmac_equal(S("abc"), S("abd")));
	cr_expect_not(hmac_equal(S("abc"), S("ab")));
	cr_expect_not(hmac_equal(S("\x80"), S("\x00")));
}
