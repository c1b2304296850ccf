#import <Foundation/Foundation.h>

#import "../core/ClockSamples.h"
#import "../core/Statistics.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

constexpr std::size_t kSamples = 4096;

std::int64_t nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

bool wantsSamples(DRSReading *reading) {
  NSArray<NSString *> *names = @[
    @"nativeSampleCount", @"nativeTimerResolutionNs", @"nativeIntervalMedianNs", @"nativeIntervalP95Ns",
    @"nativeIntervalMadNs"
  ];
  for (NSString *name in names) {
    if ([reading wantsField:name]) return true;
  }
  return false;
}

}  // namespace

void readRuntimeTiming(DRSReading *reading) {
  [reading field:@"nativeClockSource" read:^{ return @"steady_clock"; }];
  if (!wantsSamples(reading)) return;
  const auto intervals = clockIntervals(nanoseconds, kSamples, *reading.token);
  [reading field:@"nativeSampleCount" read:^{ return number(intervals.size()); }];
  [reading field:@"nativeTimerResolutionNs" read:^{ return number(smallestStep(intervals)); }];
  [reading field:@"nativeIntervalMedianNs" read:^{ return number(statistics::median(intervals)); }];
  [reading field:@"nativeIntervalP95Ns" read:^{ return number(statistics::percentile(intervals, 0.95)); }];
  [reading field:@"nativeIntervalMadNs" read:^{ return number(statistics::medianAbsoluteDeviation(intervals)); }];
}

}  // namespace drs
