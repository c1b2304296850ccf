#pragma once

#include <optional>

namespace drs {

/**
 * Whether the system lets this process fork.
 *
 * @param error 0 where `fork` returned a child, else errno.
 * @return no value when it failed for lack of memory or processes: that is no evidence about the sandbox.
 */
std::optional<bool> mayFork(int error);

}  // namespace drs
