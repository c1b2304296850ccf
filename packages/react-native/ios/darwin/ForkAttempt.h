#pragma once

#include "../core/Token.h"

namespace drs {

/**
 * Forks once. The child exits at once and is waited for; one that does not exit while the token runs is killed.
 *
 * `fork` is declared for iOS (it is Swift that hides it), so this is a plain call without a look-up by name.
 *
 * @return 0 where there was a child, else errno.
 */
int attemptFork(const Token &token);

}  // namespace drs
