#pragma once

#include "../core/Token.h"

namespace drs {

/**
 * Forks once. The child exits at once, and this function waits for it. If the child does not exit before the token
 * stops, it is killed.
 *
 * The headers of iOS declare `fork`, and only Swift hides it. So this is an ordinary call without a look-up by name.
 *
 * @return 0 if `fork` returned a child, otherwise errno.
 */
int attemptFork(const Token &token);

}  // namespace drs
