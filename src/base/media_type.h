/* base/media_type.h -- recognizes pictures and recordings by their first bytes.
 *
 * A name can say anything, and a provider refuses a request whose media type does not fit its bytes.
 */
#ifndef BASE_MEDIA_TYPE_H
#define BASE_MEDIA_TYPE_H

#include "base/str.h"

/* "image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "audio/mpeg"; "" = none of them. */
struct str media_type_of(struct str bytes);

#endif
