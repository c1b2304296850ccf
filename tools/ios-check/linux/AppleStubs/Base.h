// The types on which the derived headers depend, taken from GNUstep.
#pragma once
#include <Foundation/Foundation.h>
typedef const void *CFTypeRef;
typedef unsigned char Boolean;
#define CFBridgingRelease(value) ((__bridge_transfer id)(value))
