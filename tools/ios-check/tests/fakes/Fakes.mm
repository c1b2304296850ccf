#import "Fakes.h"

#include <cmath>
#include <thread>

// Each class implements only what the probes use. Another check compares it with Apple's declarations.
#pragma clang diagnostic ignored "-Wincomplete-implementation"
#pragma clang diagnostic ignored "-Wprotocol"
#pragma clang diagnostic ignored "-Wobjc-property-implementation"
#pragma clang diagnostic ignored "-Wunused-property-ivar"
#pragma clang diagnostic ignored "-Wobjc-protocol-property-synthesis"
#pragma clang diagnostic ignored "-Wobjc-designated-initializers"
#pragma clang diagnostic ignored "-Wobjc-protocol-method-implementation"

// ---- UIKit

@implementation UIDevice
+ (UIDevice *)currentDevice {
  static UIDevice *device = [[UIDevice alloc] init];
  return device;
}
- (NSString *)systemName {
  return @"iOS";
}
- (NSString *)systemVersion {
  return @"17.5";
}
- (UIUserInterfaceIdiom)userInterfaceIdiom {
  return fakeDevice.pad ? UIUserInterfaceIdiomPad : UIUserInterfaceIdiomPhone;
}
- (BOOL)isBatteryMonitoringEnabled {
  return fakeDevice.monitored;
}
- (void)setBatteryMonitoringEnabled:(BOOL)monitored {
  fakeDevice.monitored = monitored;
  ++fakeDevice.monitoringChanges;
}
- (UIDeviceBatteryState)batteryState {
  return fakeDevice.monitored ? fakeDevice.batteryState : UIDeviceBatteryStateUnknown;
}
- (float)batteryLevel {
  return fakeDevice.monitored ? fakeDevice.batteryLevel : -1;
}
@end

@implementation UIScreen
+ (UIScreen *)mainScreen {
  static UIScreen *screen = [[UIScreen alloc] init];
  return screen;
}
+ (NSArray<UIScreen *> *)screens {
  static UIScreen *second = [[UIScreen alloc] init];
  return fakeDevice.mirrored ? @[ UIScreen.mainScreen, second ] : @[ UIScreen.mainScreen ];
}
- (UIScreen *)mirroredScreen {
  return self == UIScreen.mainScreen ? nil : UIScreen.mainScreen;
}
- (CGRect)bounds {
  return {{0, 0}, {390, 844}};
}
- (CGRect)nativeBounds {
  return {{0, 0}, {1170, 2532}};
}
- (CGFloat)scale {
  if (fakeDevice.screenThrows) @throw [NSException exceptionWithName:@"Fault" reason:@"/with/a/path" userInfo:nil];
  return 3;
}
- (CGFloat)nativeScale {
  return 3;
}
- (CGFloat)brightness {
  return std::nan("");
}
- (BOOL)isCaptured {
  return fakeDevice.captured;
}
@end

@implementation UIResponder
@end

@implementation UIApplication
+ (UIApplication *)sharedApplication {
  static UIApplication *application = [[UIApplication alloc] init];
  return application;
}
- (UIApplicationState)applicationState {
  return fakeDevice.applicationState;
}
- (BOOL)isProtectedDataAvailable {
  return fakeDevice.protectedData;
}
- (BOOL)canOpenURL:(NSURL *)url {
  ++fakeDevice.schemesAsked;
  return [fakeDevice.openable containsObject:url.scheme];
}
@end

BOOL UIAccessibilityIsVoiceOverRunning() { return fakeDevice.voiceOver || fakeDevice.everyFeature; }
BOOL UIAccessibilityIsSwitchControlRunning() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsAssistiveTouchRunning() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsGuidedAccessEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsMonoAudioEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsClosedCaptioningEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsSpeakSelectionEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsSpeakScreenEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsInvertColorsEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsGrayscaleEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityDarkerSystemColorsEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsReduceTransparencyEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsReduceMotionEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityPrefersCrossFadeTransitions() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsBoldTextEnabled() { return fakeDevice.boldText || fakeDevice.everyFeature; }
BOOL UIAccessibilityButtonShapesEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityIsOnOffSwitchLabelsEnabled() { return fakeDevice.everyFeature; }
BOOL UIAccessibilityShouldDifferentiateWithoutColor() { return fakeDevice.everyFeature; }

// ---- security, telephony, location, audio

@implementation LAContext
- (BOOL)canEvaluatePolicy:(LAPolicy)policy error:(NSError **)error {
  const NSInteger code =
      policy == LAPolicyDeviceOwnerAuthentication ? fakeDevice.passcodeError : fakeDevice.biometryError;
  if (code != 0 && error != nullptr) *error = [NSError errorWithDomain:@"LAError" code:code userInfo:nil];
  return code == 0;
}
- (LABiometryType)biometryType {
  return fakeDevice.biometryType;
}
@end

@implementation CTCarrier {
  NSString *_name, *_country, *_mcc, *_mnc;
}
- (instancetype)initWithParts:(NSArray<NSString *> *)parts {
  if ((self = [super init])) {
    _name = parts[0];
    _country = parts[1];
    _mcc = parts[2];
    _mnc = parts[3];
  }
  return self;
}
- (NSString *)carrierName {
  return _name;
}
- (NSString *)isoCountryCode {
  return _country;
}
- (NSString *)mobileCountryCode {
  return _mcc;
}
- (NSString *)mobileNetworkCode {
  return _mnc;
}
- (BOOL)allowsVOIP {
  return YES;
}
@end

CTCarrier *makeCarrier(NSString *name, NSString *country, NSString *mcc, NSString *mnc) {
  return [[CTCarrier alloc] initWithParts:@[ name, country, mcc, mnc ]];
}

@implementation CTTelephonyNetworkInfo
- (NSDictionary<NSString *, CTCarrier *> *)serviceSubscriberCellularProviders {
  return fakeDevice.carriers;
}
- (NSDictionary<NSString *, NSString *> *)serviceCurrentRadioAccessTechnology {
  return fakeDevice.radios;
}
- (NSString *)dataServiceIdentifier {
  return fakeDevice.dataService;
}
@end

@implementation CXCall {
  BOOL _hasEnded;
}
- (instancetype)initWithParts:(NSNumber *)hasEnded {
  if ((self = [super init])) _hasEnded = hasEnded.boolValue;
  return self;
}
- (BOOL)hasEnded {
  return _hasEnded;
}
@end

CXCall *makeCall(BOOL hasEnded) {
  return [[CXCall alloc] initWithParts:[NSNumber numberWithBool:hasEnded]];
}

@implementation CXCallObserver
- (NSArray<CXCall *> *)calls {
  return fakeDevice.calls;
}
@end

@implementation CLLocationSourceInformation
- (BOOL)isSimulatedBySoftware {
  return YES;
}
- (BOOL)isProducedByAccessory {
  return NO;
}
@end

@implementation CLLocation
- (CLLocationCoordinate2D)coordinate {
  return {48.5, 2.25};
}
- (CLLocationAccuracy)horizontalAccuracy {
  return fakeDevice.horizontalAccuracy;
}
- (CLLocationAccuracy)verticalAccuracy {
  return fakeDevice.verticalAccuracy;
}
- (CLLocationDistance)altitude {
  return 35;
}
- (NSDate *)timestamp {
  return [NSDate dateWithTimeIntervalSinceNow:-60];
}
- (CLLocationSourceInformation *)sourceInformation {
  return [[CLLocationSourceInformation alloc] init];
}
@end

@implementation CLLocationManager
+ (BOOL)locationServicesEnabled {
  return YES;
}
- (CLAuthorizationStatus)authorizationStatus {
  return fakeDevice.authorization;
}
- (CLLocation *)location {
  return fakeDevice.hasLocation ? [[CLLocation alloc] init] : nil;
}
@end

AVAudioSessionPort const AVAudioSessionPortBuiltInSpeaker = @"Speaker";
AVAudioSessionPort const AVAudioSessionPortBuiltInReceiver = @"Receiver";
AVAudioSessionPort const AVAudioSessionPortHeadphones = @"Headphones";
AVAudioSessionPort const AVAudioSessionPortBluetoothA2DP = @"BluetoothA2DPOutput";
AVAudioSessionPort const AVAudioSessionPortBluetoothHFP = @"BluetoothHFP";
AVAudioSessionPort const AVAudioSessionPortBluetoothLE = @"BluetoothLE";
AVAudioSessionPort const AVAudioSessionPortUSBAudio = @"USBAudio";
AVAudioSessionPort const AVAudioSessionPortHDMI = @"HDMI";
AVAudioSessionPort const AVAudioSessionPortLineOut = @"LineOut";
AVAudioSessionPort const AVAudioSessionPortAirPlay = @"AirPlay";
AVAudioSessionPort const AVAudioSessionPortCarAudio = @"CarAudio";

@implementation AVAudioSessionPortDescription
- (AVAudioSessionPort)portType {
  return fakeDevice.port;
}
@end

@implementation AVAudioSessionRouteDescription
- (NSArray<AVAudioSessionPortDescription *> *)outputs {
  return @[ [[AVAudioSessionPortDescription alloc] init] ];
}
@end

@implementation AVAudioSession
+ (AVAudioSession *)sharedInstance {
  static AVAudioSession *session = [[AVAudioSession alloc] init];
  return session;
}
- (AVAudioSessionRouteDescription *)currentRoute {
  return [[AVAudioSessionRouteDescription alloc] init];
}
- (BOOL)isOtherAudioPlaying {
  return NO;
}
- (double)sampleRate {
  return fakeDevice.sampleRate;
}
- (NSTimeInterval)outputLatency {
  return fakeDevice.outputLatency;
}
- (NSTimeInterval)inputLatency {
  return 0;
}
- (NSTimeInterval)IOBufferDuration {
  return 0.005;
}
@end

// ---- fonts, proxies, the path

CFArrayRef CTFontManagerCopyAvailablePostScriptNames() { return (__bridge_retained CFArrayRef)fakeDevice.fonts; }
CFDictionaryRef CFNetworkCopySystemProxySettings() { return (__bridge_retained CFDictionaryRef)fakeDevice.proxies; }

@interface FakePathMonitor : NSObject <OS_nw_path_monitor>
@property(nonatomic, copy) void (^handler)(nw_path_t);
@end
@implementation FakePathMonitor
@end

@interface FakePath : NSObject <OS_nw_path>
@end
@implementation FakePath
@end

nw_path_monitor_t nw_path_monitor_create() { return [[FakePathMonitor alloc] init]; }
void nw_path_monitor_set_queue(nw_path_monitor_t, dispatch_queue_t) {}
void nw_path_monitor_set_update_handler(nw_path_monitor_t monitor, void (^handler)(nw_path_t)) {
  ((FakePathMonitor *)monitor).handler = handler;
}
void nw_path_monitor_start(nw_path_monitor_t monitor) {
  if (!fakeDevice.pathStatus) return;
  void (^handler)(nw_path_t) = ((FakePathMonitor *)monitor).handler;
  std::thread([handler] {
    @autoreleasepool {
      handler([[FakePath alloc] init]);
    }
  }).detach();
}
void nw_path_monitor_cancel(nw_path_monitor_t) {}
nw_path_status_t nw_path_get_status(nw_path_t) { return fakeDevice.pathStatus.value_or(nw_path_status_invalid); }
bool nw_path_uses_interface_type(nw_path_t, nw_interface_type_t type) { return fakeDevice.pathTypes.count(type) > 0; }

// ---- Metal

/** Any object of Metal, except the command buffer. */
@interface FakeMetal
    : NSObject <MTLDevice, MTLLibrary, MTLCommandQueue, MTLRenderPipelineState, MTLRenderCommandEncoder>
@end

@interface FakeCommandBuffer : NSObject <MTLCommandBuffer>
@end
@implementation FakeCommandBuffer {
  MTLCommandBufferHandler _handler;
}
- (id)renderCommandEncoderWithDescriptor:(MTLRenderPassDescriptor *)descriptor {
  return [[FakeMetal alloc] init];
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  _handler = handler;
}
- (void)commit {
  if (fakeDevice.gpuHangs) return;
  MTLCommandBufferHandler handler = _handler;
  handler((id<MTLCommandBuffer>)self);
  _handler = nil;
}
- (MTLCommandBufferStatus)status {
  return fakeDevice.gpuFails ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted;
}
- (CFTimeInterval)GPUStartTime {
  return 1.0;
}
- (CFTimeInterval)GPUEndTime {
  return 1.25;
}
@end

@implementation FakeMetal
- (NSString *)name {
  return @"Apple A16 GPU";
}
- (id)newCommandQueue {
  return [[FakeMetal alloc] init];
}
- (id)commandBuffer {
  return [[FakeCommandBuffer alloc] init];
}
- (void)newLibraryWithSource:(NSString *)source
                     options:(MTLCompileOptions *)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler {
  handler((id<MTLLibrary>)self, nil);
}
- (id)newFunctionWithName:(NSString *)name {
  return [[FakeMetal alloc] init];
}
- (void)newRenderPipelineStateWithDescriptor:(MTLRenderPipelineDescriptor *)descriptor
                           completionHandler:(MTLNewRenderPipelineStateCompletionHandler)handler {
  handler((id<MTLRenderPipelineState>)self, nil);
}
- (id)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor {
  return [[FakeMetal alloc] init];
}
- (void)setRenderPipelineState:(id<MTLRenderPipelineState>)pipeline {
}
- (void)drawPrimitives:(MTLPrimitiveType)type vertexStart:(NSUInteger)start vertexCount:(NSUInteger)count {
}
- (void)endEncoding {
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice() { return fakeDevice.gpu ? (id<MTLDevice>)[[FakeMetal alloc] init] : nil; }

@implementation MTLTextureDescriptor
+ (MTLTextureDescriptor *)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                       width:(NSUInteger)width
                                                      height:(NSUInteger)height
                                                   mipmapped:(BOOL)mipmapped {
  return [[MTLTextureDescriptor alloc] init];
}
- (void)setUsage:(MTLTextureUsage)usage {
}
- (void)setStorageMode:(MTLStorageMode)mode {
}
@end

@implementation MTLRenderPassDescriptor
+ (MTLRenderPassDescriptor *)renderPassDescriptor {
  return [[MTLRenderPassDescriptor alloc] init];
}
- (MTLRenderPassColorAttachmentDescriptorArray *)colorAttachments {
  return nil;
}
@end

@implementation MTLRenderPipelineDescriptor
- (void)setVertexFunction:(id<MTLFunction>)function {
}
- (void)setFragmentFunction:(id<MTLFunction>)function {
}
- (MTLRenderPipelineColorAttachmentDescriptorArray *)colorAttachments {
  return nil;
}
@end
