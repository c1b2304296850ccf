#import <LocalAuthentication/LocalAuthentication.h>
#import <UIKit/UIKit.h>

#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

/** Only an error that names a missing passcode is evidence that there is no passcode. */
NSNumber *hasPasscode(LAContext *context) {
  NSError *error = nil;
  if ([context canEvaluatePolicy:LAPolicyDeviceOwnerAuthentication error:&error]) return boolean(true);
  return error.code == LAErrorPasscodeNotSet ? boolean(false) : nil;
}

NSNumber *hasBiometry(LAContext *context) {
  NSError *error = nil;
  if ([context canEvaluatePolicy:LAPolicyDeviceOwnerAuthenticationWithBiometrics error:&error]) return boolean(true);
  switch (error.code) {
    case LAErrorBiometryNotAvailable:
    case LAErrorBiometryNotEnrolled:
    case LAErrorPasscodeNotSet:
      return boolean(false);
    default:
      return nil;
  }
}

NSString *nameOf(LABiometryType type) {
  switch (type) {
    case LABiometryTypeNone:
      return @"none";
    case LABiometryTypeTouchID:
      return @"fingerprint";
    case LABiometryTypeFaceID:
      return @"face";
    default:
      break;
  }
  if (@available(iOS 17.0, *)) {
    if (type == LABiometryTypeOpticID) return @"iris";
  }
  return nil;
}

}  // namespace

void readSecurityPostureOnMain(DRSReading *reading) {
  [reading field:@"protectedDataAvailable"
            read:^{ return boolean(UIApplication.sharedApplication.isProtectedDataAvailable); }];
}

/** Queries only whether a policy could be evaluated. The user sees no prompt. */
void readSecurityPosture(DRSReading *reading) {
  LAContext *context = [[LAContext alloc] init];
  [reading field:@"hasSecureLockScreen" read:^{ return hasPasscode(context); }];
  [reading field:@"biometryAvailable" read:^{ return hasBiometry(context); }];
  // The query for the policy sets the biometry type, even if its answer is no.
  [reading field:@"biometryType"
            read:^{
              hasBiometry(context);
              return nameOf(context.biometryType);
            }];
}

}  // namespace drs
