#include <doctest/doctest.h>

#import "Support.h"

TEST_CASE("device identity") {
  resetFakes();
  fakeDevice.pad = true;
  NSDictionary *fields =
      fieldsOf(@"device_identity", @[ @"manufacturer", @"model", @"isTablet", @"osBuild", @"isIosAppOnMac" ]);
  CHECK(json(fields[@"manufacturer"]) == "\"Apple\"");
  CHECK(json(fields[@"model"]) == "\"iPhone15,2\"");
  CHECK(json(fields[@"isTablet"]) == "true");
  CHECK(json(fields[@"isIosAppOnMac"]) == "false");
  CHECK(json(fields[@"osBuild"]) == "absent");
}

TEST_CASE("hardware: what can't be read, throws or is not finite is left out, the rest stays") {
  resetFakes();
  fakeDevice.screenThrows = true;
  NSDictionary *fields = fieldsOf(@"hardware", @[
    @"screenDensity", @"screenPhysicalWidthPx", @"screenBrightness", @"freeMemoryBytes", @"lowPowerModeEnabled",
    @"processResidentMemoryBytes"
  ]);
  CHECK(json(fields[@"screenDensity"]) == "absent");
  CHECK(json(fields[@"screenBrightness"]) == "absent");
  CHECK(json(fields[@"freeMemoryBytes"]) == "absent");
  CHECK(json(fields[@"screenPhysicalWidthPx"]) == "1170");
  CHECK(json(fields[@"lowPowerModeEnabled"]) == "true");
  CHECK([fields[@"processResidentMemoryBytes"] doubleValue] == 2e8);
}

TEST_CASE("hardware: the screen in pixels, as it is scaled") {
  resetFakes();
  NSDictionary *fields = fieldsOf(@"hardware", @[ @"screenWidthPx", @"screenHeightPx" ]);
  CHECK(json(fields[@"screenWidthPx"]) == "1170");
  CHECK(json(fields[@"screenHeightPx"]) == "2532");
}

TEST_CASE("battery: it is monitored only for the read") {
  resetFakes();
  NSDictionary *fields = fieldsOf(@"hardware", @[ @"batteryLevel", @"batteryState" ]);
  CHECK(json(fields[@"batteryLevel"]) == "0.5");
  CHECK(json(fields[@"batteryState"]) == "\"discharging\"");
  CHECK_FALSE(fakeDevice.monitored);
  CHECK(fakeDevice.monitoringChanges == 2);
}

TEST_CASE("battery: the host's own monitoring stays on, and monitoring is unchanged without a request") {
  resetFakes();
  fakeDevice.monitored = true;
  fieldsOf(@"hardware", @[ @"batteryLevel" ]);
  CHECK(fakeDevice.monitored);
  CHECK(fakeDevice.monitoringChanges == 0);
  resetFakes();
  fieldsOf(@"hardware", @[ @"screenWidthPx" ]);
  CHECK(fakeDevice.monitoringChanges == 0);
}

TEST_CASE("battery: an unknown state is absent") {
  resetFakes();
  fakeDevice.batteryState = UIDeviceBatteryStateUnknown;
  fakeDevice.batteryLevel = -1;
  CHECK(fieldsOf(@"hardware", @[ @"batteryLevel", @"batteryState" ]).count == 0);
}

TEST_CASE("hardware: the name of the graphics processor, without a run, and none without a processor") {
  resetFakes();
  fakeDevice.gpuHangs = true;
  CHECK(json(fieldsOf(@"hardware", @[ @"gpuRendererName" ])) == R"({"gpuRendererName":"Apple A16 GPU"})");
  fakeDevice.gpu = false;
  CHECK(fieldsOf(@"hardware", @[ @"gpuRendererName" ]).count == 0);
}

TEST_CASE("fonts: a digest over sorted names") {
  resetFakes();
  fakeDevice.fonts = @[ @"Zapfino", @"Arial", @"Zapfino" ];
  CHECK(json(fieldsOf(@"fonts", @[ @"fontsDigest" ])[@"fontsDigest"]) == R"("digest of Arial\nZapfino")");
  fakeDevice.fonts = @[];
  CHECK(fieldsOf(@"fonts", @[ @"fontsDigest" ]).count == 0);
}

TEST_CASE("os integrity") {
  resetFakes();
  NSArray *names = @[ @"isEmulator", @"isDebuggerAttached", @"dyldImageCount", @"mainExecutableEncrypted" ];
  CHECK(json(fieldsOf(@"os_integrity", names)[@"isDebuggerAttached"]) == "false");
  CHECK(json(fieldsOf(@"os_integrity", names)[@"mainExecutableEncrypted"]) == "true");
  CHECK(json(fieldsOf(@"os_integrity", names)[@"dyldImageCount"]) == "1");
  fakeSystem.traced = std::nullopt;
  CHECK(json(fieldsOf(@"os_integrity", names)[@"isDebuggerAttached"]) == "absent");
}

TEST_CASE("fork test: the result is denied, allowed or unknown") {
  resetFakes();
  NSArray *names = @[ @"testPerformed", @"forkSucceeded" ];
  CHECK(json(fieldsOf(@"os_integrity_fork_test", names)[@"forkSucceeded"]) == "false");
  fakeSystem.forkError = 0;
  CHECK(json(fieldsOf(@"os_integrity_fork_test", names)[@"forkSucceeded"]) == "true");
  fakeSystem.forkError = ENOMEM;
  CHECK(json(fieldsOf(@"os_integrity_fork_test", names)) == R"({"testPerformed":true})");
}

TEST_CASE("fork test: is not run on a Mac") {
  resetFakes();
  fakeDevice.onMac = true;
  CHECK(json(fieldsOf(@"os_integrity_fork_test", @[ @"testPerformed", @"forkSucceeded" ])) ==
        R"({"testPerformed":false})");
  CHECK(fakeSystem.forks == 0);
}

TEST_CASE("network: the path is as the system reports it") {
  resetFakes();
  NSArray *names = @[ @"isConnected", @"connectionType" ];
  CHECK(json(fieldsOf(@"network", names)) == R"({"connectionType":"wifi","isConnected":true})");
  fakeDevice.pathStatus = nw_path_status_unsatisfied;
  CHECK(json(fieldsOf(@"network", names)) == R"({"isConnected":false})");
  fakeDevice.pathStatus = nw_path_status_satisfiable;
  CHECK(json(fieldsOf(@"network", names)) == "{}");
}

TEST_CASE("network: a system that does not answer is not awaited after the call ended") {
  resetFakes();
  fakeDevice.pathStatus = std::nullopt;
  const auto start = drs::Token::Clock::now();
  CHECK(json(answerOf(@"network", request(@[ @"isConnected" ], @{}, 50))[@"fields"]) == "{}");
  CHECK(drs::Token::Clock::now() - start < std::chrono::milliseconds(800));
}

TEST_CASE("telephony: the carrier that data goes through") {
  resetFakes();
  fakeDevice.carriers =
      @{@"1" : makeCarrier(@"One", @"fr", @"208", @"01"), @"2" : makeCarrier(@"Two", @"de", @"262", @"02")};
  fakeDevice.radios = @{@"1" : @"LTE", @"2" : @"LTE"};
  fakeDevice.dataService = @"2";
  NSDictionary *fields = fieldsOf(@"telephony", @[
    @"simCount", @"networkOperatorName", @"networkCountryIso", @"carrierMobileCountryCode", @"carrierMobileNetworkCode",
    @"carrierAllowsVoip"
  ]);
  CHECK(json(fields[@"simCount"]) == "2");
  CHECK(json(fields[@"networkOperatorName"]) == "\"Two\"");
  CHECK(json(fields[@"carrierMobileNetworkCode"]) == "\"02\"");
  CHECK(json(fields[@"carrierAllowsVoip"]) == "true");
}

TEST_CASE("telephony: placeholders, and no plan at all, are absent") {
  resetFakes();
  NSArray *names = @[
    @"simCount", @"networkOperatorName", @"networkCountryIso", @"carrierMobileCountryCode", @"carrierMobileNetworkCode",
    @"carrierAllowsVoip"
  ];
  fakeDevice.carriers = @{@"1" : makeCarrier(@"--", @"--", @"65535", @"65535")};
  fakeDevice.radios = @{};
  CHECK(fieldsOf(@"telephony", names).count == 0);
  fakeDevice.carriers = nil;
  CHECK(fieldsOf(@"telephony", names).count == 0);
}

TEST_CASE("geolocation: without authorisation no position and no field of it is read") {
  resetFakes();
  fakeDevice.hasLocation = true;
  NSArray *position = @[ @"latitude", @"longitude" ];
  CHECK(json(answerOf(@"geolocation", request(position))) == R"({"unavailable":"permission"})");
  NSDictionary *fields = fieldsOf(@"geolocation", @[ @"latitude", @"authorizationStatus", @"hasCoarsePermission" ]);
  CHECK(json(fields) == R"({"authorizationStatus":"not_determined","hasCoarsePermission":false})");
}

TEST_CASE("geolocation: the last position under an authorisation given before") {
  resetFakes();
  fakeDevice.authorization = kCLAuthorizationStatusAuthorizedWhenInUse;
  NSArray *names = @[
    @"latitude", @"longitude", @"accuracyMeters", @"altitudeMeters", @"locationAgeMs", @"isSimulatedBySoftware",
    @"isProducedByAccessory"
  ];
  CHECK(fieldsOf(@"geolocation", names).count == 0);
  fakeDevice.hasLocation = true;
  NSDictionary *fields = fieldsOf(@"geolocation", names);
  CHECK(json(fields[@"latitude"]) == "48.5");
  CHECK(json(fields[@"altitudeMeters"]) == "absent");
  CHECK([fields[@"locationAgeMs"] doubleValue] == doctest::Approx(60000).epsilon(0.05));
  CHECK(json(fields[@"isSimulatedBySoftware"]) == "true");
  CHECK(json(fields[@"isProducedByAccessory"]) == "false");
  fakeDevice.horizontalAccuracy = -1;
  CHECK(json(fieldsOf(@"geolocation", names)[@"latitude"]) == "absent");
}

TEST_CASE("media: screens, sound, accessibility") {
  resetFakes();
  fakeDevice.mirrored = true;
  fakeDevice.boldText = true;
  NSDictionary *fields = fieldsOf(@"media_bluetooth_apps", @[
    @"audioOutputRoute", @"isOtherAudioPlaying", @"isScreenCaptured", @"isScreenMirrored", @"connectedScreenCount",
    @"mirroredScreenCount", @"accessibilityRunning", @"accessibilityFeatures"
  ]);
  CHECK(json(fields[@"audioOutputRoute"]) == "\"speaker\"");
  CHECK(json(fields[@"isOtherAudioPlaying"]) == "false");
  CHECK(json(fields[@"isScreenCaptured"]) == "false");
  CHECK(json(fields[@"isScreenMirrored"]) == "true");
  CHECK(json(fields[@"connectedScreenCount"]) == "2");
  CHECK(json(fields[@"mirroredScreenCount"]) == "1");
  CHECK(json(fields[@"accessibilityRunning"]) == "false");
  CHECK(json(fields[@"accessibilityFeatures"]) == R"(["bold_text"])");
}

TEST_CASE("transaction safety: an app that is not active is no evidence about the device") {
  resetFakes();
  NSArray *names = @[ @"isInteractive", @"accessibilityRunning", @"accessibilityFeatureCount" ];
  fakeDevice.voiceOver = true;
  CHECK(json(fieldsOf(@"transaction_safety", names)[@"isInteractive"]) == "true");
  CHECK(json(fieldsOf(@"transaction_safety", names)[@"accessibilityRunning"]) == "true");
  CHECK(json(fieldsOf(@"transaction_safety", names)[@"accessibilityFeatureCount"]) == "1");
  fakeDevice.applicationState = UIApplicationStateBackground;
  CHECK(json(fieldsOf(@"transaction_safety", names)[@"isInteractive"]) == "absent");
}

TEST_CASE("transaction safety: a call is active until it has ended; without CallKit that is unknown") {
  resetFakes();
  const auto isCallActive = [] { return json(fieldsOf(@"transaction_safety", @[ @"isCallActive" ])[@"isCallActive"]); };
  CHECK(isCallActive() == "false");
  fakeDevice.calls = @[ makeCall(YES) ];
  CHECK(isCallActive() == "false");
  fakeDevice.calls = @[ makeCall(YES), makeCall(NO) ];
  CHECK(isCallActive() == "true");
  fakeDevice.linksCallKit = false;
  CHECK(isCallActive() == "absent");
}

TEST_CASE("gpu: a run to its end") {
  resetFakes();
  NSDictionary *fields = fieldsOf(@"gpu_benchmark", @[
    @"benchmarkPerformed", @"skippedReason", @"rendererName", @"drawCallsCompleted", @"gpuTimeMs",
    @"operationTimeP50Ms", @"warmupSlope"
  ]);
  CHECK(json(fields[@"benchmarkPerformed"]) == "true");
  CHECK(json(fields[@"skippedReason"]) == "absent");
  CHECK(json(fields[@"rendererName"]) == "\"Apple A16 GPU\"");
  CHECK(json(fields[@"drawCallsCompleted"]) == "320");
  CHECK(json(fields[@"gpuTimeMs"]) == "10000");
  CHECK([fields[@"operationTimeP50Ms"] doubleValue] >= 0);
}

TEST_CASE("gpu: no device, in the background, a failure") {
  resetFakes();
  NSArray *names = @[ @"benchmarkPerformed", @"skippedReason" ];
  fakeDevice.gpuFails = true;
  CHECK(json(fieldsOf(@"gpu_benchmark", names)) == R"({"benchmarkPerformed":false,"skippedReason":"failed"})");
  fakeDevice.gpu = false;
  CHECK(json(fieldsOf(@"gpu_benchmark", names)) == R"({"benchmarkPerformed":false,"skippedReason":"no_device"})");
  fakeDevice.applicationState = UIApplicationStateBackground;
  CHECK(json(fieldsOf(@"gpu_benchmark", names)) == R"({"benchmarkPerformed":false,"skippedReason":"background"})");
}

TEST_CASE("gpu: one that hangs is not awaited after the call ended") {
  resetFakes();
  fakeDevice.gpuHangs = true;
  const auto start = drs::Token::Clock::now();
  answerOf(@"gpu_benchmark", request(@[ @"benchmarkPerformed" ], @{}, 50));
  CHECK(drs::Token::Clock::now() - start < std::chrono::milliseconds(800));
}

TEST_CASE("audio: the values that the audio session reports") {
  resetFakes();
  NSArray *names = @[ @"measured", @"outputLatencyMs", @"inputLatencyMs", @"ioBufferDurationMs", @"nativeSampleRate" ];
  NSDictionary *fields = fieldsOf(@"audio_latency", names);
  CHECK(json(fields[@"measured"]) == "true");
  CHECK([fields[@"outputLatencyMs"] doubleValue] == doctest::Approx(10));
  CHECK(json(fields[@"inputLatencyMs"]) == "absent");
  CHECK(json(fields[@"nativeSampleRate"]) == "48000");
  fakeDevice.sampleRate = 0;
  CHECK(json(fieldsOf(@"audio_latency", names)) == R"({"measured":false})");
}

TEST_CASE("application: what the bundle says, texts only") {
  resetFakes();
  fakeDevice.information =
      @{@"CFBundleShortVersionString" : @"1.2",
        @"CFBundleVersion" : @7,
        @"CFBundleExecutable" : @"App"};
  NSDictionary *fields = fieldsOf(
      @"application", @[ @"appVersion", @"appBuild", @"bundleExecutable", @"isAppExtension", @"isSimulatorBuild" ]);
  CHECK(json(fields[@"appVersion"]) == "\"1.2\"");
  CHECK(json(fields[@"appBuild"]) == "absent");
  CHECK(json(fields[@"bundleExecutable"]) == "\"App\"");
  CHECK(json(fields[@"isAppExtension"]) == "false");
}

TEST_CASE("application: the receipt by its place") {
  resetFakes();
  NSArray *names = @[ @"receiptPresent", @"receiptEnvironment", @"embeddedProvisioningProfilePresent" ];
  fakeDevice.receipt = [NSURL fileURLWithPath:@"/nowhere/receipt"];
  NSDictionary *fields = fieldsOf(@"application", names);
  CHECK(json(fields[@"receiptPresent"]) == "false");
  CHECK(json(fields[@"receiptEnvironment"]) == "absent");
  CHECK(json(fields[@"embeddedProvisioningProfilePresent"]) == "false");
  NSString *path = [NSTemporaryDirectory() stringByAppendingPathComponent:@"sandboxReceipt"];
  [[NSData data] writeToFile:path atomically:YES];
  fakeDevice.receipt = [NSURL fileURLWithPath:path];
  CHECK(json(fieldsOf(@"application", names)[@"receiptEnvironment"]) == "\"sandbox\"");
  [[NSFileManager defaultManager] removeItemAtPath:path error:nullptr];
  fakeDevice.receipt = nil;
  CHECK(json(fieldsOf(@"application", names)[@"receiptPresent"]) == "absent");
}

TEST_CASE("security posture: an error decides only the fields that it concerns") {
  resetFakes();
  NSArray *names = @[ @"hasSecureLockScreen", @"biometryAvailable", @"biometryType", @"protectedDataAvailable" ];
  NSDictionary *fields = fieldsOf(@"device_security_posture", names);
  CHECK(json(fields[@"hasSecureLockScreen"]) == "true");
  CHECK(json(fields[@"biometryAvailable"]) == "true");
  CHECK(json(fields[@"biometryType"]) == "\"face\"");
  CHECK(json(fields[@"protectedDataAvailable"]) == "true");
  fakeDevice.passcodeError = LAErrorPasscodeNotSet;
  fakeDevice.biometryError = LAErrorBiometryNotEnrolled;
  fields = fieldsOf(@"device_security_posture", names);
  CHECK(json(fields[@"hasSecureLockScreen"]) == "false");
  CHECK(json(fields[@"biometryAvailable"]) == "false");
  fakeDevice.passcodeError = LAErrorSystemCancel;
  fakeDevice.biometryError = LAErrorBiometryLockout;
  fields = fieldsOf(@"device_security_posture", names);
  CHECK(json(fields[@"hasSecureLockScreen"]) == "absent");
  CHECK(json(fields[@"biometryAvailable"]) == "absent");
}

TEST_CASE("runtime timing: the native clock") {
  resetFakes();
  NSDictionary *fields =
      fieldsOf(@"runtime_timing", @[ @"nativeClockSource", @"nativeSampleCount", @"nativeIntervalMedianNs" ]);
  CHECK(json(fields[@"nativeClockSource"]) == "\"steady_clock\"");
  CHECK(json(fields[@"nativeSampleCount"]) == "4096");
  CHECK([fields[@"nativeIntervalMedianNs"] doubleValue] >= 0);
}

TEST_CASE("locale: finite, typed, never empty") {
  resetFakes();
  NSDictionary *fields =
      fieldsOf(@"locale", @[ @"timezoneId", @"timezoneOffsetMinutes", @"firstDayOfWeek", @"languages" ]);
  CHECK([fields[@"timezoneId"] length] > 0);
  CHECK([fields[@"timezoneOffsetMinutes"] isKindOfClass:[NSNumber class]]);
  CHECK([fields[@"firstDayOfWeek"] intValue] >= 1);
  CHECK([fields[@"languages"] isKindOfClass:[NSArray class]]);
}
