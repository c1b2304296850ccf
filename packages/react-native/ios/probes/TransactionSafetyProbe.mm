#import "Screens.h"
#import "Values.h"

namespace drs {

/**
 * iOS has no field that speaks of a window of time: each of these is read when it is asked for. An active app is in
 * use; one that is not active tells nothing of the device.
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

}  // namespace drs
