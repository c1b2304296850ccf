#import <TargetConditionals.h>

#import "../core/ForkResult.h"
#import "../darwin/ForkAttempt.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

/** Whether the app runs on a Mac. What a Mac allows its processes is no evidence about the sandbox of an iPhone. */
bool runsOnMac() {
  NSProcessInfo *process = NSProcessInfo.processInfo;
  return TARGET_OS_SIMULATOR != 0 || process.isiOSAppOnMac || process.isMacCatalystApp;
}

}  // namespace

void readForkTest(DRSReading *reading) {
  const bool onMac = runsOnMac();
  [reading field:@"testPerformed" read:^{ return boolean(!onMac); }];
  if (onMac) return;
  [reading field:@"forkSucceeded" read:^{ return boolean(mayFork(attemptFork(*reading.token))); }];
}

}  // namespace drs
