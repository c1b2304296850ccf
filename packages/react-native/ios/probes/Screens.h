#pragma once

#import <UIKit/UIKit.h>

#import "Probes.h"

NS_ASSUME_NONNULL_BEGIN

namespace drs {

/** Reads `isScreenCaptured`, `isScreenMirrored` and `accessibilityRunning` on the main thread. Two probes use it. */
void readScreenUse(DRSReading *reading);

/**
 * The accessibility settings that are on, as UIKit reports them. Shake to undo and video autoplay are left out: they
 * are on by default, so they have no meaning.
 */
NSArray<NSString *> *accessibilityFeatures();

}  // namespace drs

NS_ASSUME_NONNULL_END
