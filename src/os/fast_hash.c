/* os/fast_hash.c -- dlopen, once; what is open stays open. */
#include "os/fast_hash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/sha256.h"

/* EVP_sha256() and EVP_Digest(): the same in 1.1 and 3. */
static const char *const libraries[] = { "libcrypto.so.3", "libcrypto.so.1.1" };

static struct {
	const void *(*sha256)(void);
	int (*digest)(const void *bytes, size_t size, unsigned char *out, unsigned *out_size,
		      const void *type, void *engine);
} crypto;

static bool hash_long(struct str bytes, struct hash *out_hash)
{
	unsigned size = 0;
	return crypto.digest(bytes.at, bytes.size, out_hash->bytes, &size, crypto.sha256(), NULL) ==
		       1 &&
	       size == sizeof(out_hash->bytes);
}

/* What it says about a text is compared with our own once, before it is believed. */
static bool agrees(void)
{
	static const char text[] = "The same text has the same hash, whoever works it out.";
	struct str bytes = { text, sizeof(text) - 1 };
	struct hash ours = hash_of(bytes), theirs;
	return hash_long(bytes, &theirs) && hash_equal(&ours, &theirs);
}

static bool loaded;

static void load(void)
{
	void *library = NULL;
	for (size_t i = 0; i < COUNT(libraries) && library == NULL; i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return;
	void *sha256 = dlsym(library, "EVP_sha256"), *digest = dlsym(library, "EVP_Digest");
	if (sha256 == NULL || digest == NULL)
		return;
	memcpy(&crypto.sha256, &sha256, sizeof(sha256));
	memcpy(&crypto.digest, &digest, sizeof(digest));
	loaded = agrees();
	if (loaded)
		hash_use_for_long(hash_long);
}

bool fast_hash_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	return loaded;
}
