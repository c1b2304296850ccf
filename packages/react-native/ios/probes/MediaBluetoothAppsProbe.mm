#import <AVFAudio/AVFAudio.h>

#import "Screens.h"
#import "Values.h"

namespace drs {

namespace {

NSUInteger mirroredScreens() {
  NSUInteger count = 0;
  for (UIScreen *screen in UIScreen.screens) {
    if (screen.mirroredScreen != nil) ++count;
  }
  return count;
}

struct Route {
  NSString *__unsafe_unretained _Nullable port;
  NSString *__unsafe_unretained name;
};

NSString *routeName(NSString *port) {
  if (port == nil) return nil;
  const Route routes[] = {
      {AVAudioSessionPortBuiltInSpeaker, @"speaker"},
      {AVAudioSessionPortBuiltInReceiver, @"earpiece"},
      {AVAudioSessionPortHeadphones, @"headphones"},
      {AVAudioSessionPortBluetoothA2DP, @"bluetooth"},
      {AVAudioSessionPortBluetoothHFP, @"bluetooth"},
      {AVAudioSessionPortBluetoothLE, @"bluetooth"},
      {AVAudioSessionPortUSBAudio, @"usb"},
      {AVAudioSessionPortHDMI, @"hdmi"},
      {AVAudioSessionPortLineOut, @"line_out"},
      {AVAudioSessionPortAirPlay, @"air_play"},
      {AVAudioSessionPortCarAudio, @"car_audio"},
  };
  for (const auto &route : routes) {
    if ([port isEqual:route.port]) return route.name;
  }
  return @"other";
}

}  // namespace

void readMediaOnMain(DRSReading *reading) {
  readScreenUse(reading);
  [reading field:@"connectedScreenCount" read:^{ return number(UIScreen.screens.count); }];
  [reading field:@"mirroredScreenCount" read:^{ return number(mirroredScreens()); }];
  [reading field:@"accessibilityFeatures" read:^{ return accessibilityFeatures(); }];
}

/** Reads the session without configuring or activating it. */
void readMedia(DRSReading *reading) {
  AVAudioSession *session = AVAudioSession.sharedInstance;
  [reading field:@"audioOutputRoute" read:^{ return routeName(session.currentRoute.outputs.firstObject.portType); }];
  [reading field:@"isOtherAudioPlaying" read:^{ return boolean(session.isOtherAudioPlaying); }];
}

}  // namespace drs
