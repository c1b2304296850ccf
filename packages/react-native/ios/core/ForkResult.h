#pragma once

#include <optional>

namespace drs {

/**
 * Whether the system lets this process fork.
 *
 * @param error 0 where `fork` returned a child, else errno.
 * @return nothing where it failed for want of memory or processes: that says nothing of the sandbox.
 */
std::optional<bool> mayFork(int error);

}  // namespace drs
