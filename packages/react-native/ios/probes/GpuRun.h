#pragma once

#import <Metal/Metal.h>

#include <memory>
#include <optional>
#include <vector>

#include "../core/Token.h"

NS_ASSUME_NONNULL_BEGIN

namespace drs {

/** What a short drawing run took, in milliseconds. */
struct GpuTimes {
  /** The duration of each operation, from its commit to its completion, as the app sees it. */
  std::vector<double> operations;
  double gpu = 0;
  double whole = 0;
  double drawCalls = 0;
};

/**
 * Draws off screen, one operation after the other, until all are done, the token stops, or the run's own bound is
 * reached. Never blocks on the graphics processor for longer than that.
 *
 * @return no value when no operation completed.
 */
std::optional<GpuTimes> drawOffScreen(id<MTLDevice> device, const std::shared_ptr<Token> &token);

}  // namespace drs

NS_ASSUME_NONNULL_END
