#import <AVFAudio/AVFAudio.h>

#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

/** The session reports 0 for an unknown value, for example while it is not active. */
std::optional<double> known(double value) {
  if (value <= 0) return std::nullopt;
  return value;
}

std::optional<double> milliseconds(NSTimeInterval seconds) { return known(seconds * 1000); }

}  // namespace

/** Reads the session without configuring or activating it. No sound is recorded. */
void readAudioLatency(DRSReading *reading) {
  AVAudioSession *session = AVAudioSession.sharedInstance;
  const bool measured = known(session.sampleRate).has_value();
  [reading field:@"measured" read:^{ return boolean(measured); }];
  if (!measured) return;
  [reading field:@"outputLatencyMs" read:^{ return number(milliseconds(session.outputLatency)); }];
  [reading field:@"inputLatencyMs" read:^{ return number(milliseconds(session.inputLatency)); }];
  [reading field:@"ioBufferDurationMs" read:^{ return number(milliseconds(session.IOBufferDuration)); }];
  [reading field:@"nativeSampleRate" read:^{ return number(known(session.sampleRate)); }];
}

}  // namespace drs
