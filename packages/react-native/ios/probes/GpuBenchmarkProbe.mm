#import <UIKit/UIKit.h>

#import "../core/Statistics.h"
#import "GpuRun.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

void readSkipped(DRSReading *reading, NSString *reason) {
  [reading field:@"benchmarkPerformed" read:^{ return boolean(false); }];
  [reading field:@"skippedReason" read:^{ return reason; }];
}

void readTimes(DRSReading *reading, const GpuTimes &times) {
  const auto &operations = times.operations;
  [reading field:@"benchmarkPerformed" read:^{ return boolean(true); }];
  [reading field:@"drawCallsCompleted" read:^{ return number(times.drawCalls); }];
  [reading field:@"durationMs" read:^{ return number(times.whole); }];
  [reading field:@"gpuTimeMs" read:^{ return number(times.gpu); }];
  [reading field:@"operationTimeP50Ms" read:^{ return number(statistics::median(operations)); }];
  [reading field:@"operationTimeP95Ms" read:^{ return number(statistics::percentile(operations, 0.95)); }];
  [reading field:@"operationTimeMadMs" read:^{ return number(statistics::medianAbsoluteDeviation(operations)); }];
  [reading field:@"operationTimeCoefficientOfVariation"
            read:^{ return number(statistics::coefficientOfVariation(operations)); }];
  [reading field:@"warmupSlope" read:^{ return number(statistics::relativeTrend(operations)); }];
}

}  // namespace

/** Skips the run if the app is in the background, because iOS ends the graphics work of such an app. */
void readGpuBenchmarkOnMain(DRSReading *reading) {
  const bool inBackground = UIApplication.sharedApplication.applicationState == UIApplicationStateBackground;
  if (inBackground) readSkipped(reading, @"background");
}

void readGpuBenchmark(DRSReading *reading) {
  if ([reading hasField:@"benchmarkPerformed"]) return;
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  if (device == nil) {
    readSkipped(reading, @"no_device");
    return;
  }
  [reading field:@"rendererName" read:^{ return text(device.name); }];
  const auto times = drawOffScreen(device, reading.token);
  if (times) {
    readTimes(reading, *times);
  } else {
    readSkipped(reading, @"failed");
  }
}

}  // namespace drs
