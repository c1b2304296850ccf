#import "DeviceRiskSignals.h"

#include <memory>

#import "core/Calls.h"
#import "probes/Probes.h"
#import "probes/Values.h"

namespace {

/** Maximum number of calls that work on the queue at the same time. A further call waits until one of them ends. */
constexpr NSInteger kWidth = 16;

NSString *const kCancelled = @"cancelled";
NSString *const kFailed = @"failed";

}  // namespace

@implementation DeviceRiskSignals {
  NSOperationQueue *_queue;
  std::shared_ptr<drs::Calls> _calls;
}

RCT_EXPORT_MODULE(DeviceRiskSignals)

+ (BOOL)requiresMainQueueSetup {
  return NO;
}

- (instancetype)init {
  if (!(self = [super init])) return nil;
  _queue = [[NSOperationQueue alloc] init];
  _queue.maxConcurrentOperationCount = kWidth;
  _queue.qualityOfService = NSQualityOfServiceUtility;
  _calls = std::make_shared<drs::Calls>();
  return self;
}

- (void)collect:(NSString *)call
          probe:(NSString *)probe
        request:(NSDictionary *)request
        resolve:(RCTPromiseResolveBlock)resolve
         reject:(RCTPromiseRejectBlock)reject {
  id timeoutMs = request[@"timeoutMs"];
  const std::string name = drs::bytesOf(call);
  const auto token = [timeoutMs isKindOfClass:NSNumber.class] ? _calls->begin(name, [timeoutMs doubleValue]) : nullptr;
  DRSReading *reading = token ? [[DRSReading alloc] initWithRequest:request token:token] : nil;
  if (reading == nil) {
    if (token) _calls->end(name, token);
    reject(kFailed, nil, nil);
    return;
  }
  const auto calls = _calls;
  [self run:drs::findProbe(probe)
      reading:reading
         done:^{
           calls->end(name, token);
           if (token->stopped()) {
             reject(kCancelled, nil, nil);
           } else if (reading.failed) {
             reject(kFailed, nil, nil);
           } else {
             resolve(reading.answer);
           }
         }];
}

- (void)cancel:(NSString *)call {
  _calls->cancel(drs::bytesOf(call));
}

/**
 * No field of iOS depends on an observation window, so no observation runs. Each field is read when it is requested.
 */
- (void)startObservation:(RCTPromiseResolveBlock)resolve reject:(RCTPromiseRejectBlock)reject {
  resolve(@NO);
}

- (void)stopObservation {
}

- (void)echo:(double)value resolve:(RCTPromiseResolveBlock)resolve reject:(RCTPromiseRejectBlock)reject {
  resolve([NSNumber numberWithDouble:value]);
}

- (void)invalidate {
  _calls->cancelAll();
}

- (std::shared_ptr<facebook::react::TurboModule>)getTurboModule:
    (const facebook::react::ObjCTurboModule::InitParams &)params {
  return std::make_shared<facebook::react::NativeDeviceRiskSignalsSpecJSI>(params);
}

/**
 * First runs the part of the probe that needs the main thread, in one asynchronous block on that thread. Then runs the
 * other part on the queue. Neither thread waits for the other.
 */
- (void)run:(drs::Probe)probe reading:(DRSReading *)reading done:(dispatch_block_t)done {
  NSOperationQueue *queue = _queue;
  if (probe.onQueue == nullptr) [reading unavailable:DRSUnavailableUnsupported];
  dispatch_block_t onQueue = ^{
    [queue addOperationWithBlock:^{
      if (probe.onQueue != nullptr) [reading part:probe.onQueue];
      [reading part:drs::gather];
      done();
    }];
  };
  if (probe.onMain == nullptr && ![reading wantsSource:@"schemes"]) {
    onQueue();
    return;
  }
  dispatch_async(dispatch_get_main_queue(), ^{
    if (probe.onMain != nullptr) [reading part:probe.onMain];
    [reading part:drs::gatherOnMain];
    onQueue();
  });
}

@end
