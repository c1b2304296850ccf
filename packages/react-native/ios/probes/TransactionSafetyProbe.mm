#import "Screens.h"
#import "Values.h"

namespace drs {

/**
 * iOS has no field about a window of time: each of these is read when it is requested. An active app is in use; one
 * that is not active is no evidence about the device.
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
