/* base/attributes.h -- the few compiler words every room uses.
 *
 * MUST_CHECK    the caller may not ignore the result
 * PRINTF_LIKE   the compiler checks the format against the arguments
 * AUTO(type)    `AUTO(buf) body = {0};` calls buf_done(&body) when the scope ends
 * COUNT(array)  number of items of a real array
 * require(x)    a broken invariant of ours: says where and aborts, in release builds too.
 *               The world's errors never come here, they go through base/error.h.
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
