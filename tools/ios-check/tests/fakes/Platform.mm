// Parts that are needed only on Linux: a main thread that a test runs, and methods that GNUstep's Foundation lacks.
#import "Fakes.h"

#include <deque>
#include <mutex>

#pragma clang diagnostic ignored "-Wobjc-protocol-method-implementation"

FakeDevice fakeDevice;

// ---- the main thread

namespace {
std::mutex mainMutex;
std::deque<dispatch_block_t> &waiting() {
  static auto *blocks = new std::deque<dispatch_block_t>;
  return *blocks;
}
}  // namespace

dispatch_queue_t dispatch_get_main_queue() { return @"main"; }
dispatch_queue_t dispatch_get_global_queue(long, unsigned long) { return @"global"; }
void dispatch_async(dispatch_queue_t, dispatch_block_t block) {
  std::lock_guard lock(mainMutex);
  waiting().push_back(block);
}

int runMainThread() {
  int ran = 0;
  while (true) {
    dispatch_block_t block = nil;
    {
      std::lock_guard lock(mainMutex);
      if (waiting().empty()) return ran;
      block = waiting().front();
      waiting().pop_front();
    }
    block();
    ++ran;
  }
}

// ---- React Native

extern "C" void RCTRegisterModule(Class) {}

// ---- Classes of frameworks that an app may not link

#undef NSClassFromString
Class fakeClassFromString(NSString *name) {
  const bool isLinked = fakeDevice.linksCallKit || ![name isEqualToString:@"CXCallObserver"];
  return isLinked ? NSClassFromString(name) : Nil;
}

// ---- Foundation beyond GNUstep

@implementation NSProcessInfo (Apple)
- (BOOL)isiOSAppOnMac {
  return fakeDevice.onMac;
}
- (BOOL)isMacCatalystApp {
  return NO;
}
- (BOOL)isLowPowerModeEnabled {
  return YES;
}
@end

/** GNUstep stores blocks in an array, which accepts only objects. GNUstep's own queue runs unchanged. */
@interface BlockOperation : NSOperation
@property(nonatomic, copy) dispatch_block_t block;
@end
@implementation BlockOperation
- (void)main {
  self.block();
}
@end

@implementation NSOperationQueue (Apple)
- (void)setQualityOfService:(NSQualityOfService)quality {
}
- (void)addOperationWithBlock:(dispatch_block_t)block {
  BlockOperation *operation = [[BlockOperation alloc] init];
  operation.block = block;
  [self addOperation:operation];
}
@end

@implementation NSLocale (Apple)
- (NSString *)calendarIdentifier {
  return @"gregorian";
}
- (NSString *)currencyCode {
  return [self objectForKey:NSLocaleCurrencyCode];
}
- (NSString *)decimalSeparator {
  return [self objectForKey:NSLocaleDecimalSeparator];
}
- (NSString *)groupingSeparator {
  return [self objectForKey:NSLocaleGroupingSeparator];
}
@end

@implementation NSBundle (Apple)
- (NSString *)bundlePath {
  return fakeDevice.bundlePath ?: @"/nowhere/Example.app";
}
- (NSURL *)appStoreReceiptURL {
  return fakeDevice.receipt;
}
- (id)objectForInfoDictionaryKey:(NSString *)key {
  return fakeDevice.information[key];
}
@end
