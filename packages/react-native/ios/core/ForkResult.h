#pragma once

#include <optional>

namespace drs {

/**
 * Whether the system allows this process to fork.
 *
 * @param error 0 if `fork` returned a child, otherwise errno.
 * @return no value if `fork` failed for lack of memory or processes, because such a failure is no evidence about the
 * sandbox.
 */
std::optional<bool> mayFork(int error);

}  // namespace drs
