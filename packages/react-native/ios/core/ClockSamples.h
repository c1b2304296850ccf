#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Token.h"

namespace drs {

/**
 * Intervals between consecutive reads of a clock, in nanoseconds. The list has fewer intervals than requested if the
 * token stopped.
 */
std::vector<double> clockIntervals(const std::function<std::int64_t()> &nanoseconds, std::size_t count,
                                   const Token &token);

/** The smallest interval above zero, which is the observed resolution of the clock. */
std::optional<double> smallestStep(const std::vector<double> &intervals);

}  // namespace drs
