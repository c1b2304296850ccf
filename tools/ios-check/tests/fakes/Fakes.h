#pragma once

#import <AVFAudio/AVFAudio.h>
#import <CFNetwork/CFNetwork.h>
#import <CallKit/CallKit.h>
#import <CoreLocation/CoreLocation.h>
#import <CoreTelephony/CoreTelephony.h>
#import <LocalAuthentication/LocalAuthentication.h>
#import <Metal/Metal.h>
#import <Network/Network.h>
#import <UIKit/UIKit.h>

#include <optional>
#include <set>

/**
 * The device that the fakes of Apple's classes represent. A test sets the values that it needs; the others are those of
 * an ordinary phone.
 */
struct FakeDevice {
  // UIKit
  bool pad = false;
  bool monitored = false;
  int monitoringChanges = 0;
  UIDeviceBatteryState batteryState = UIDeviceBatteryStateUnplugged;
  float batteryLevel = 0.5f;
  bool screenThrows = false;
  bool captured = false;
  bool mirrored = false;
  bool voiceOver = false;
  bool boldText = false;
  bool everyFeature = false;
  UIApplicationState applicationState = UIApplicationStateActive;
  bool protectedData = true;
  NSSet *openable = nil;
  int schemesAsked = 0;

  // The system
  bool onMac = false;
  NSArray *fonts = nil;
  NSDictionary *information = nil;
  NSString *bundlePath = nil;
  NSURL *receipt = nil;

  // Security
  NSInteger passcodeError = 0;
  NSInteger biometryError = 0;
  LABiometryType biometryType = LABiometryTypeFaceID;

  // Telephony
  NSDictionary *carriers = nil;
  NSDictionary *radios = nil;
  NSString *dataService = nil;

  // Calls
  bool linksCallKit = true;
  NSArray<CXCall *> *calls = nil;

  // Location
  CLAuthorizationStatus authorization = kCLAuthorizationStatusNotDetermined;
  bool hasLocation = false;
  double horizontalAccuracy = 10;
  double verticalAccuracy = -1;

  // Audio
  AVAudioSessionPort port = AVAudioSessionPortBuiltInSpeaker;
  double sampleRate = 48000;
  double outputLatency = 0.01;

  // Network
  std::optional<nw_path_status_t> pathStatus = nw_path_status_satisfied;
  std::set<int> pathTypes = {nw_interface_type_wifi};
  NSDictionary *proxies = nil;

  // Metal
  bool gpu = true;
  bool gpuFails = false;
  bool gpuHangs = false;
};

extern FakeDevice fakeDevice;

/** Runs the blocks that wait for the main thread. @return the number of blocks. */
int runMainThread();

CXCall *makeCall(BOOL hasEnded);

CTCarrier *makeCarrier(NSString *name, NSString *country, NSString *mcc, NSString *mnc);
