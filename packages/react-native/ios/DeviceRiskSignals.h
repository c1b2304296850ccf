#pragma once

#import <React/RCTInvalidating.h>

#import "../generated/ios/DeviceRiskSignalsSpec/DeviceRiskSignalsSpec.h"

NS_ASSUME_NONNULL_BEGIN

/**
 * The native half on iOS. It reads what one call requests, concludes nothing and keeps nothing. See
 * docs/native-interface.md.
 */
@interface DeviceRiskSignals : NSObject <NativeDeviceRiskSignalsSpec, RCTInvalidating>
@end

NS_ASSUME_NONNULL_END
