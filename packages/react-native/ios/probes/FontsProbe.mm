#import <CoreText/CoreText.h>

#import "../darwin/Sha256.h"
#import "Probes.h"
#import "Values.h"

#include <set>

namespace drs {

namespace {

/**
 * SHA-256 over the PostScript names. Each name occurs once; the names are sorted by their bytes and separated by a line
 * feed.
 */
NSString *digest() {
  NSArray *names = CFBridgingRelease(CTFontManagerCopyAvailablePostScriptNames());
  std::set<std::string> sorted;
  for (id name in names) {
    if ([name isKindOfClass:NSString.class]) sorted.insert(bytesOf(name));
  }
  if (sorted.empty()) return nil;
  std::string lines;
  for (const auto &name : sorted) lines += (lines.empty() ? "" : "\n") + name;
  return text(sha256(lines));
}

}  // namespace

void readFonts(DRSReading *reading) {
  [reading field:@"fontsDigest" read:^{ return digest(); }];
}

}  // namespace drs
