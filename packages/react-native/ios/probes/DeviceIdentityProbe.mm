#import <UIKit/UIKit.h>

#import "../darwin/Kernel.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

void readDeviceIdentityOnMain(DRSReading *reading) {
  UIDevice *device = UIDevice.currentDevice;
  [reading field:@"systemName" read:^{ return text(device.systemName); }];
  [reading field:@"systemVersion" read:^{ return text(device.systemVersion); }];
  [reading field:@"isTablet" read:^{ return boolean(device.userInterfaceIdiom == UIUserInterfaceIdiomPad); }];
}

void readDeviceIdentity(DRSReading *reading) {
  NSProcessInfo *process = NSProcessInfo.processInfo;
  [reading field:@"manufacturer" read:^{ return @"Apple"; }];
  [reading field:@"brand" read:^{ return @"Apple"; }];
  [reading field:@"model" read:^{ return text(kernel::text("hw.machine")); }];
  [reading field:@"osBuild" read:^{ return text(kernel::text("kern.osversion")); }];
  [reading field:@"kernelVersion" read:^{ return text(kernel::text("kern.version")); }];
  [reading field:@"kernelOsRelease" read:^{ return text(kernel::text("kern.osrelease")); }];
  [reading field:@"kernelOsType" read:^{ return text(kernel::text("kern.ostype")); }];
  [reading field:@"isIosAppOnMac" read:^{ return boolean(process.isiOSAppOnMac); }];
  [reading field:@"isMacCatalystApp" read:^{ return boolean(process.isMacCatalystApp); }];
}

}  // namespace drs
