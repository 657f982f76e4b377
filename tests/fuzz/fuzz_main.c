/* tests/fuzz/fuzz_main.c -- runs a fuzz target over files where libFuzzer is not linked.
 *
 * Every argument is a file or a folder of files.  The corpus is so a test on every machine, and
 * whatever the fuzzer once found stays found.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly the right size, so that the sanitizer sees the first byte beyond it. */
static bool run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		return false;
	AUTO(buf) text = { 0 };
	for (size_t count = 1; count > 0;) {
		char *room = buf_reserve(&text, 65536);
		count = fread(room, 1, 65536, file);
		text.size += count;
	}
	fclose(file);
	uint8_t *exact = malloc(text.size == 0 ? 1 : text.size);
	for (size_t i = 0; i < text.size; i++)
		exact[i] = (uint8_t)text.at[i];
	LLVMFuzzerTestOneInput(exact, text.size);
	free(exact);
	return true;
}

static size_t run_folder(DIR *folder, const char *path)
{
	size_t count = 0;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		char name[4096];
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.')
			count += run_file(name);
	}
	return count;
}

int main(int argc, char **argv)
{
	size_t count = 0;
	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		if (folder == NULL) {
			count += run_file(argv[i]);
			continue;
		}
		count += run_folder(folder, argv[i]);
		closedir(folder);
	}
	printf("%zu inputs\n", count);
	return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
