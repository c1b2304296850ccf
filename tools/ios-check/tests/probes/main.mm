#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#import <Foundation/Foundation.h>

int main(int count, char **arguments) {
  @autoreleasepool {
    doctest::Context context(count, arguments);
    return context.run();
  }
}
