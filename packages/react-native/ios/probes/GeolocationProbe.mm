#import <CoreLocation/CoreLocation.h>

#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

NSString *nameOf(CLAuthorizationStatus status) {
  switch (status) {
    case kCLAuthorizationStatusNotDetermined:
      return @"not_determined";
    case kCLAuthorizationStatusRestricted:
      return @"restricted";
    case kCLAuthorizationStatusDenied:
      return @"denied";
    case kCLAuthorizationStatusAuthorizedAlways:
      return @"authorized_always";
    case kCLAuthorizationStatusAuthorizedWhenInUse:
      return @"authorized_when_in_use";
    default:
      return nil;
  }
}

void readLocation(DRSReading *reading, CLLocation *location) {
  // A negative accuracy means that the value is invalid.
  if (location.horizontalAccuracy >= 0) {
    [reading field:@"latitude" read:^{ return number(location.coordinate.latitude); }];
    [reading field:@"longitude" read:^{ return number(location.coordinate.longitude); }];
    [reading field:@"accuracyMeters" read:^{ return number(location.horizontalAccuracy); }];
  }
  [reading field:@"altitudeMeters" read:^{ return location.verticalAccuracy > 0 ? number(location.altitude) : nil; }];
  [reading field:@"locationAgeMs" read:^{ return number(-location.timestamp.timeIntervalSinceNow * 1000); }];
  CLLocationSourceInformation *source = location.sourceInformation;
  if (source == nil) return;
  [reading field:@"isSimulatedBySoftware" read:^{ return boolean(source.isSimulatedBySoftware); }];
  [reading field:@"isProducedByAccessory" read:^{ return boolean(source.isProducedByAccessory); }];
}

}  // namespace

/** Reads the last position that the system has for this app. It starts no update and requests no permission. */
void readGeolocationOnMain(DRSReading *reading) {
  CLLocationManager *manager = [[CLLocationManager alloc] init];
  const CLAuthorizationStatus status = manager.authorizationStatus;
  const bool granted =
      status == kCLAuthorizationStatusAuthorizedAlways || status == kCLAuthorizationStatusAuthorizedWhenInUse;
  [reading field:@"authorizationStatus" read:^{ return nameOf(status); }];
  [reading field:@"hasCoarsePermission" read:^{ return boolean(granted); }];
  if (!granted) {
    [reading unavailable:DRSUnavailablePermission];
    return;
  }
  if (CLLocation *location = manager.location) readLocation(reading, location);
}

/** Runs on the queue and not on the main thread, because the call may block. */
void readGeolocation(DRSReading *reading) {
  [reading field:@"locationServicesEnabled" read:^{ return boolean(CLLocationManager.locationServicesEnabled); }];
}

}  // namespace drs
