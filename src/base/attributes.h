/* base/attributes.h -- compiler attributes and small macros that every folder uses.
 *
 * MUST_CHECK    the compiler warns when a caller ignores the result
 * PRINTF_LIKE   the compiler checks the format string against the arguments
 * AUTO(type)    `AUTO(buf) body = {0};` calls buf_done(&body) when the scope ends
 * COUNT(array)  number of elements of an array (not of a pointer)
 * require(x)    asserts an invariant of this program, in release builds too: prints the expression
 *               with its file and line, then aborts.  Bad input and failed system calls are errors
 *               (base/error.h), never a require().
 */
#ifndef BASE_ATTRIBUTES_H
#define BASE_ATTRIBUTES_H

#define MUST_CHECK               __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define AUTO(type)               __attribute__((cleanup(type##_done))) struct type
#define COUNT(array)             (sizeof(array) / sizeof((array)[0]))

_Noreturn void require_failed(const char *what, const char *file, int line);
#define require(x) ((x) ? (void)0 : require_failed(#x, __FILE__, __LINE__))

#endif
