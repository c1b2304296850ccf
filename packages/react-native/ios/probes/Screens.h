#pragma once

#import <UIKit/UIKit.h>

#import "Probes.h"

NS_ASSUME_NONNULL_BEGIN

namespace drs {

/** `isScreenCaptured`, `isScreenMirrored`, `accessibilityRunning`: asked for by two probes. On the main thread. */
void readScreenUse(DRSReading *reading);

/**
 * The accessibility settings that are on, as UIKit reports them. The two that are on by default (shake
 * to undo, video autoplay) have no meaning and are not among them.
 */
NSArray<NSString *> *accessibilityFeatures();

}  // namespace drs

NS_ASSUME_NONNULL_END
