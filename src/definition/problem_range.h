/* definition/problem_range.h -- the ranges of problems in the text of a definition, and the edits that mend them.
 *
 * A check knows the key or value that is wrong, and where it begins.  This module reads the text there: it
 * narrows the place to the word that the problem is about, finds its end, and turns a suggestion into an edit.
 * An editor, the command line and the language server show what it finds.  Pure.
 */
#ifndef DEFINITION_PROBLEM_RANGE_H
#define DEFINITION_PROBLEM_RANGE_H

#include "contract/problem.h"

/* Sets place, end and fix of each problem that has a place.  `text` is the YAML that they are about. */
void problem_range_find_all(struct problems *problems, struct str text, struct arena *arena);

/* For a hint: how often the word occurs in the value before the occurrence at the offset. */
uint32_t problem_word_skip(struct str value, size_t offset, struct str word);

#endif
