#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Token.h"

namespace drs {

/** Intervals between consecutive looks at a clock, in nanoseconds; fewer than asked for where the token stopped. */
std::vector<double> clockIntervals(const std::function<std::int64_t()> &nanoseconds, std::size_t count,
                                   const Token &token);

/** The smallest interval above zero: how finely the clock ticks, as far as seen. */
std::optional<double> smallestStep(const std::vector<double> &intervals);

}  // namespace drs
