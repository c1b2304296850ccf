// Written by hand: macros of the language, and the few types that neither source of the derived headers contains.
#pragma once
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <sys/types.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <Availability.h>
#include <AvailabilityMacros.h>
#include <TargetConditionals.h>
#include <MacTypes.h>
#include <dispatch/dispatch.h>
#include <objc/objc.h>
#include <objc/NSObjCRuntime.h>
#include <os/availability.h>
#ifdef __cplusplus
#define FOUNDATION_EXPORT extern "C"
#else
#define FOUNDATION_EXPORT extern
#endif
#define FOUNDATION_EXTERN FOUNDATION_EXPORT
#define CF_EXPORT FOUNDATION_EXPORT
#define UIKIT_EXTERN FOUNDATION_EXPORT
#define NS_INLINE static __inline__ __attribute__((always_inline))
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define _NS_ENUM2(_t, _n) enum _n : _t _n; enum _n : _t
#define _NS_ENUM1(_t) enum : _t
#define _NS_ENUM_PICK(_1, _2, N, ...) N
#define NS_ENUM(...) _NS_ENUM_PICK(__VA_ARGS__, _NS_ENUM2, _NS_ENUM1)(__VA_ARGS__)
#define NS_ERROR_ENUM(_t, _d) NS_ENUM(_t)
#ifdef __cplusplus
#define NS_OPTIONS(_t, _n) _t _n; enum : _t
#else
#define NS_OPTIONS(_t, _n) enum _n : _t _n; enum _n : _t
#endif
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel(0,1)))
#define NS_FORMAT_FUNCTION(F,A) __attribute__((format(__NSString__, F, A)))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_REQUIRES_SUPER __attribute__((objc_requires_super))
#define NS_SWIFT_NAME(x)
#define NS_SWIFT_UNAVAILABLE(x)
#define NS_REFINED_FOR_SWIFT
#define NS_NOESCAPE __attribute__((noescape))
#define NS_TYPED_EXTENSIBLE_ENUM
#define NS_STRING_ENUM
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_VALID_UNTIL_END_OF_SCOPE __attribute__((objc_precise_lifetime))
#define NS_EXTENSION_UNAVAILABLE_IOS(x)
#ifndef IBOutlet
#define IBOutlet
#define IBAction void
#define IBInspectable
#endif
typedef unsigned short unichar;
typedef double CGFloat;
typedef const void *CFTypeRef;
typedef struct _NSRange { NSUInteger location; NSUInteger length; } NSRange;
typedef NS_ENUM(NSInteger, NSComparisonResult) { NSOrderedAscending = -1L, NSOrderedSame, NSOrderedDescending };
enum { NSNotFound = NSIntegerMax };
#define YES __objc_yes
#define NO __objc_no
#if __OBJC__
#include <objc/NSObject.h>
typedef struct _NSZone NSZone;
typedef struct { unsigned long state; id __unsafe_unretained _Nullable * _Nullable itemsPtr; unsigned long * _Nullable mutationsPtr; unsigned long extra[5]; } NSFastEnumerationState;
@protocol NSCopying
- (nonnull id)copyWithZone:(nullable NSZone *)zone;
@end
@protocol NSMutableCopying
- (nonnull id)mutableCopyWithZone:(nullable NSZone *)zone;
@end
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(nonnull NSFastEnumerationState *)state objects:(id __unsafe_unretained _Nullable [_Nonnull])buffer count:(NSUInteger)len;
@end
#endif
