#import "Screens.h"
#import "Values.h"

/**
 * What the probe uses of CallKit. The SDK does not link CallKit, because apps in the App Store of China may not: the
 * app decides.
 */
@protocol DRSCall
@property(nonatomic, readonly) BOOL hasEnded;
@end

@protocol DRSCallObserver
@property(nonatomic, readonly, copy) NSArray<id<DRSCall>> *_Nonnull calls;
@end

namespace drs {

namespace {

/** Missing if the process has not loaded CallKit. */
std::optional<bool> isCallActive() {
  const Class observerClass = NSClassFromString(@"CXCallObserver");
  if (observerClass == nil) return std::nullopt;
  const id<DRSCallObserver> observer = [[observerClass alloc] init];
  for (id<DRSCall> call in observer.calls) {
    if (!call.hasEnded) return true;
  }
  return false;
}

}  // namespace

/**
 * No field of iOS depends on an observation window, so each field is read when it is requested. An active app is in
 * use. An app that is not active is no evidence about the device.
 */
void readTransactionSafetyOnMain(DRSReading *reading) {
  readScreenUse(reading);
  [reading field:@"isInteractive"
            read:^{
              const bool active = UIApplication.sharedApplication.applicationState == UIApplicationStateActive;
              return active ? boolean(true) : nil;
            }];
  [reading field:@"accessibilityFeatureCount" read:^{ return number(accessibilityFeatures().count); }];
}

/** The observer asks a system service for the calls, so it stays off the main thread. */
void readTransactionSafety(DRSReading *reading) {
  [reading field:@"isCallActive" read:^{ return boolean(isCallActive()); }];
}

}  // namespace drs
