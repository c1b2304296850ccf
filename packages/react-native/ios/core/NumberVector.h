#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "Token.h"

namespace drs {

/** The calculations of `numeric_consistency`, as the interface names them. */
struct NumberVector {
  std::vector<double> integers;
  std::vector<double> floats;
  double negativeZero;
  double subnormal;
};

/**
 * @return no value if the token stopped or a result is not finite, because a missing result would shift all later ones.
 */
std::optional<NumberVector> calculate(std::uint32_t seed, std::size_t count, const std::vector<double> &inputs,
                                      const Token &token);

}  // namespace drs
