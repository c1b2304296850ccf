#import <TargetConditionals.h>

#import "../darwin/Images.h"
#import "../darwin/Kernel.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

void readOsIntegrity(DRSReading *reading) {
  [reading field:@"isEmulator" read:^{ return boolean(TARGET_OS_SIMULATOR != 0); }];
  [reading field:@"isDebuggerAttached" read:^{ return boolean(kernel::isTraced()); }];
  [reading field:@"dyldImageCount" read:^{ return number(images::count()); }];
  [reading field:@"mainExecutableEncrypted" read:^{ return boolean(images::isMainExecutableEncrypted()); }];
}

}  // namespace drs
