#include "tests/unit/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_folder_make(char out_folder[TEST_FOLDER_SIZE])
{
	strcpy(out_folder, "/tmp/baton-test-XXXXXX");
	cr_assert_not_null(mkdtemp(out_folder));
}

void test_folder_drop(const char *folder)
{
	char command[TEST_FOLDER_SIZE + 16];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}
