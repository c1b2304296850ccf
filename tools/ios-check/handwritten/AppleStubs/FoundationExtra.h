// Written by hand: variadic functions and methods, which neither source of the derived headers contains.
FOUNDATION_EXPORT void NSLog(NSString * _Nonnull format, ...) NS_FORMAT_FUNCTION(1, 2);
FOUNDATION_EXPORT NSString * _Nonnull NSStringFromClass(Class _Nonnull c);
FOUNDATION_EXPORT NSString * _Nonnull NSStringFromSelector(SEL _Nonnull s);
FOUNDATION_EXPORT Class _Nullable NSClassFromString(NSString * _Nonnull n);
@interface NSString (AppleStubsVariadic)
+ (nonnull instancetype)stringWithFormat:(NSString * _Nonnull)format, ... NS_FORMAT_FUNCTION(1, 2);
- (nonnull instancetype)initWithFormat:(NSString * _Nonnull)format, ... NS_FORMAT_FUNCTION(1, 2);
- (nonnull NSString *)stringByAppendingFormat:(NSString * _Nonnull)format, ... NS_FORMAT_FUNCTION(1, 2);
@end
@interface NSMutableString (AppleStubsVariadic)
- (void)appendFormat:(NSString * _Nonnull)format, ... NS_FORMAT_FUNCTION(1, 2);
@end
@interface NSArray<ObjectType> (AppleStubsVariadic) <NSFastEnumeration>
+ (nonnull instancetype)arrayWithObjects:(ObjectType _Nonnull)first, ... NS_REQUIRES_NIL_TERMINATION;
@end
@interface NSDictionary<KeyType, ObjectType> (AppleStubsVariadic) <NSFastEnumeration>
@end
@interface NSSet<ObjectType> (AppleStubsVariadic) <NSFastEnumeration>
@end
NS_INLINE CFTypeRef _Nullable CFBridgingRetain(id _Nullable X) { return (__bridge_retained CFTypeRef)X; }
NS_INLINE id _Nullable CFBridgingRelease(CFTypeRef __attribute__((cf_consumed)) _Nullable X) { return (__bridge_transfer id)X; }
