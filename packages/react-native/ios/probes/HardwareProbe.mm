#import <Metal/Metal.h>
#import <UIKit/UIKit.h>

#import "../darwin/Kernel.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

NSString *nameOf(UIDeviceBatteryState state) {
  switch (state) {
    case UIDeviceBatteryStateUnplugged:
      return @"discharging";
    case UIDeviceBatteryStateCharging:
      return @"charging";
    case UIDeviceBatteryStateFull:
      return @"full";
    default:
      return nil;
  }
}

void readScreen(DRSReading *reading) {
  UIScreen *screen = UIScreen.mainScreen;
  [reading field:@"screenWidthPx" read:^{ return number(screen.bounds.size.width * screen.scale); }];
  [reading field:@"screenHeightPx" read:^{ return number(screen.bounds.size.height * screen.scale); }];
  [reading field:@"screenDensity" read:^{ return number(screen.scale); }];
  [reading field:@"screenPhysicalWidthPx" read:^{ return number(screen.nativeBounds.size.width); }];
  [reading field:@"screenPhysicalHeightPx" read:^{ return number(screen.nativeBounds.size.height); }];
  [reading field:@"screenPhysicalDensity" read:^{ return number(screen.nativeScale); }];
  [reading field:@"screenBrightness" read:^{ return number(screen.brightness); }];
}

/** iOS reports the battery only while it is monitored. Afterwards the host app's own setting is restored. */
void readBattery(DRSReading *reading) {
  if (![reading wantsField:@"batteryLevel"] && ![reading wantsField:@"batteryState"]) return;
  UIDevice *device = UIDevice.currentDevice;
  const BOOL monitored = device.isBatteryMonitoringEnabled;
  if (!monitored) device.batteryMonitoringEnabled = YES;
  [reading field:@"batteryLevel" read:^{ return device.batteryLevel < 0 ? nil : number(device.batteryLevel); }];
  [reading field:@"batteryState" read:^{ return nameOf(device.batteryState); }];
  if (!monitored) device.batteryMonitoringEnabled = NO;
}

}  // namespace

void readHardwareOnMain(DRSReading *reading) {
  readScreen(reading);
  readBattery(reading);
}

void readHardware(DRSReading *reading) {
  NSProcessInfo *process = NSProcessInfo.processInfo;
  [reading field:@"processorCount" read:^{ return number(process.processorCount); }];
  [reading field:@"totalMemoryBytes" read:^{ return number(process.physicalMemory); }];
  [reading field:@"lowPowerModeEnabled" read:^{ return boolean(process.isLowPowerModeEnabled); }];
  [reading field:@"freeMemoryBytes" read:^{ return number(kernel::freeBytes()); }];
  [reading field:@"processResidentMemoryBytes" read:^{ return number(kernel::residentBytes()); }];
  [reading field:@"gpuRendererName" read:^{ return text(MTLCreateSystemDefaultDevice().name); }];
}

}  // namespace drs
