#import "Screens.h"
#import "Values.h"

namespace drs {

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

}  // namespace drs
