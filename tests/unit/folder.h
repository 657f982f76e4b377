/* A folder of a test's own, made when it begins and gone with everything in it when it ends. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

enum { TEST_FOLDER_SIZE = 64 };

void test_folder_make(char out_folder[TEST_FOLDER_SIZE]);
void test_folder_drop(const char *folder);

#endif
