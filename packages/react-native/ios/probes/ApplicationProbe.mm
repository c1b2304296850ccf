#import <Foundation/Foundation.h>
#import <TargetConditionals.h>

#import "../darwin/Files.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

#ifdef DEBUG
constexpr bool kDebugBuild = true;
#else
constexpr bool kDebugBuild = false;
#endif

NSNumber *isThere(NSString *path) {
  NSString *known = text(path);
  if (known == nil) return nil;
  const Existence existence = files::existence(bytesOf(known));
  return existence == Existence::unknown ? nil : boolean(existence == Existence::present);
}

/** The environment is concluded only from the path of the receipt. The receipt is not opened. */
NSString *receiptEnvironment(NSURL *receipt) {
  if (!isThere(receipt.path).boolValue) return nil;
  return [receipt.lastPathComponent isEqualToString:@"sandboxReceipt"] ? @"sandbox" : @"production";
}

}  // namespace

void readApplication(DRSReading *reading) {
  NSBundle *bundle = NSBundle.mainBundle;
  [reading field:@"bundleId" read:^{ return text(bundle.bundleIdentifier); }];
  [reading field:@"appVersion"
            read:^{ return text([bundle objectForInfoDictionaryKey:@"CFBundleShortVersionString"]); }];
  [reading field:@"appBuild" read:^{ return text([bundle objectForInfoDictionaryKey:@"CFBundleVersion"]); }];
  [reading field:@"bundleExecutable" read:^{ return text([bundle objectForInfoDictionaryKey:@"CFBundleExecutable"]); }];
  [reading field:@"minimumOsVersion" read:^{ return text([bundle objectForInfoDictionaryKey:@"MinimumOSVersion"]); }];
  [reading field:@"isDebuggable" read:^{ return boolean(kDebugBuild); }];
  [reading field:@"isSimulatorBuild" read:^{ return boolean(TARGET_OS_SIMULATOR != 0); }];
  [reading field:@"isAppExtension" read:^{ return boolean([bundle.bundlePath hasSuffix:@".appex"]); }];
  [reading field:@"embeddedProvisioningProfilePresent"
            read:^{ return isThere([bundle.bundlePath stringByAppendingPathComponent:@"embedded.mobileprovision"]); }];
  [reading field:@"receiptPresent" read:^{ return isThere(bundle.appStoreReceiptURL.path); }];
  [reading field:@"receiptEnvironment" read:^{ return receiptEnvironment(bundle.appStoreReceiptURL); }];
}

}  // namespace drs
