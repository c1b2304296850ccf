#include <doctest/doctest.h>

#import "../../../../packages/react-native/ios/core/Texts.h"
#import "Published.h"
#import "Support.h"

namespace {

using Words = std::set<std::string>;

/** The values that a field has in each of the given states of the device. */
template <typename State>
Words wordsOver(NSString *probe, NSString *field, std::initializer_list<State> states, void (*show)(State)) {
  Words words;
  for (const State state : states) {
    resetFakes();
    show(state);
    NSString *word = fieldsOf(probe, @[ field ])[field];
    if (word != nil) words.insert(word.UTF8String);
  }
  return words;
}

Words receiptWords() {
  Words words;
  for (NSString *name in @[ @"receipt", @"sandboxReceipt" ]) {
    resetFakes();
    NSString *path = [NSTemporaryDirectory() stringByAppendingPathComponent:name];
    [[NSData data] writeToFile:path atomically:YES];
    fakeDevice.receipt = [NSURL fileURLWithPath:path];
    NSString *word = fieldsOf(@"application", @[ @"receiptEnvironment" ])[@"receiptEnvironment"];
    words.insert(word.UTF8String);
    [[NSFileManager defaultManager] removeItemAtPath:path error:nullptr];
  }
  return words;
}

void showBusyDevice() {
  resetFakes();
  fakeDevice.everyFeature = true;
  fakeDevice.mirrored = true;
  fakeDevice.authorization = kCLAuthorizationStatusAuthorizedAlways;
  fakeDevice.hasLocation = true;
  fakeDevice.verticalAccuracy = 3;
  fakeDevice.carriers = @{@"1" : makeCarrier(@"One", @"fr", @"208", @"01")};
  fakeDevice.radios = @{@"1" : @"LTE"};
  fakeDevice.information = @{@"CFBundleShortVersionString" : @"1.2", @"MinimumOSVersion" : @"15.1"};
}

}  // namespace

TEST_CASE("vocabularies: every answer is a published value") {
  showBusyDevice();
  for (NSString *probe in published::probes()) {
    // GNUstep's own locale is not faked, and has values that no phone has.
    if ([probe isEqualToString:@"locale"]) continue;
    NSDictionary *fields = fieldsOf(probe, published::fieldsOf(probe));
    for (NSString *name in fields) {
      // The fake of the digest returns the text that was digested.
      if ([name isEqualToString:@"fontsDigest"]) continue;
      INFO(std::string(probe.UTF8String), ".", std::string(name.UTF8String), ": ", json(fields[name]));
      CHECK(published::isPublished(fields[name], probe, name));
    }
  }
}

TEST_CASE("vocabularies: the published values are exactly the possible ones") {
  using published::vocabulary;
  CHECK(vocabulary(@"hardware", @"batteryState") ==
        wordsOver<UIDeviceBatteryState>(
            @"hardware", @"batteryState",
            {UIDeviceBatteryStateUnknown, UIDeviceBatteryStateUnplugged, UIDeviceBatteryStateCharging,
             UIDeviceBatteryStateFull},
            [](UIDeviceBatteryState state) { fakeDevice.batteryState = state; }));
  CHECK(vocabulary(@"device_security_posture", @"biometryType") ==
        wordsOver<LABiometryType>(
            @"device_security_posture", @"biometryType",
            {LABiometryTypeNone, LABiometryTypeTouchID, LABiometryTypeFaceID, LABiometryTypeOpticID},
            [](LABiometryType type) { fakeDevice.biometryType = type; }));
  CHECK(vocabulary(@"geolocation", @"authorizationStatus") ==
        wordsOver<CLAuthorizationStatus>(
            @"geolocation", @"authorizationStatus",
            {kCLAuthorizationStatusNotDetermined, kCLAuthorizationStatusRestricted, kCLAuthorizationStatusDenied,
             kCLAuthorizationStatusAuthorizedAlways, kCLAuthorizationStatusAuthorizedWhenInUse},
            [](CLAuthorizationStatus status) { fakeDevice.authorization = status; }));
  CHECK(vocabulary(@"network", @"connectionType") ==
        wordsOver<nw_interface_type_t>(
            @"network", @"connectionType",
            {nw_interface_type_wifi, nw_interface_type_cellular, nw_interface_type_wired, nw_interface_type_other},
            [](nw_interface_type_t type) { fakeDevice.pathTypes = {type}; }));
  CHECK(vocabulary(@"media_bluetooth_apps", @"audioOutputRoute") ==
        wordsOver<AVAudioSessionPort>(
            @"media_bluetooth_apps", @"audioOutputRoute",
            {AVAudioSessionPortBuiltInSpeaker, AVAudioSessionPortBuiltInReceiver, AVAudioSessionPortHeadphones,
             AVAudioSessionPortBluetoothA2DP, AVAudioSessionPortBluetoothHFP, AVAudioSessionPortBluetoothLE,
             AVAudioSessionPortUSBAudio, AVAudioSessionPortHDMI, AVAudioSessionPortLineOut, AVAudioSessionPortAirPlay,
             AVAudioSessionPortCarAudio, @"APortOfALaterSystem"},
            [](AVAudioSessionPort port) { fakeDevice.port = port; }));
  CHECK(vocabulary(@"gpu_benchmark", @"skippedReason") ==
        wordsOver<int>(@"gpu_benchmark", @"skippedReason", {0, 1, 2}, [](int state) {
          if (state == 0) fakeDevice.applicationState = UIApplicationStateBackground;
          if (state == 1) fakeDevice.gpu = false;
          if (state == 2) fakeDevice.gpuFails = true;
        }));
  CHECK(vocabulary(@"application", @"receiptEnvironment") == receiptWords());
}

TEST_CASE("vocabularies: the features of accessibility, the system of measurement and the clock") {
  resetFakes();
  fakeDevice.everyFeature = true;
  Words features;
  for (NSString *name in fieldsOf(@"media_bluetooth_apps", @[ @"accessibilityFeatures" ])[@"accessibilityFeatures"]) {
    features.insert(name.UTF8String);
  }
  CHECK(published::vocabulary(@"media_bluetooth_apps", @"accessibilityFeatures") == features);
  Words systems;
  for (const char *label : {"Metric", "U.S.", "U.K."}) systems.insert(drs::measurementSystemName(label).value());
  CHECK(published::vocabulary(@"locale", @"measurementSystem") == systems);
  CHECK_FALSE(drs::measurementSystemName("Parsecs"));
  NSDictionary *timing = fieldsOf(@"runtime_timing", @[ @"nativeClockSource" ]);
  CHECK(published::isPublished(timing[@"nativeClockSource"], @"runtime_timing", @"nativeClockSource"));
}

TEST_CASE("vocabularies: a value that is not published is noticed") {
  CHECK_FALSE(published::isPublished(@"Speaker", @"media_bluetooth_apps", @"audioOutputRoute"));
  CHECK_FALSE(published::isPublished(@"fe80::1", @"network", @"localIpAddresses"));
  CHECK_FALSE(published::isPublished(@[ @"2001:db8::1c2d:3eff:fe4f:5a6b" ], @"network", @"localIpAddresses"));
  CHECK_FALSE(published::isPublished(@1.5, @"hardware", @"batteryLevel"));
  CHECK(published::isPublished(@0.5, @"hardware", @"batteryLevel"));
}
