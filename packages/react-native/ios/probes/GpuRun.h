#pragma once

#import <Metal/Metal.h>

#include <memory>
#include <optional>
#include <vector>

#include "../core/Token.h"

NS_ASSUME_NONNULL_BEGIN

namespace drs {

/** The durations of a short drawing run, in milliseconds. */
struct GpuTimes {
  /** The duration of each operation from its commit to its completion, measured by the app. */
  std::vector<double> operations;
  double gpu = 0;
  double whole = 0;
  double drawCalls = 0;
};

/**
 * Draws off screen, one operation after the other, until all operations are done, one fails, the token stops, or the
 * run's own time limit has passed. An operation that began before the time limit may end after it.
 *
 * @return no value if the device can't draw, or if fewer operations completed than statistics need.
 */
std::optional<GpuTimes> drawOffScreen(id<MTLDevice> device, const std::shared_ptr<Token> &token);

}  // namespace drs

NS_ASSUME_NONNULL_END
