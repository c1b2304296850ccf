#import "GpuRun.h"

namespace drs {

namespace {

using namespace std::chrono_literals;
using Clock = Token::Clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kOperations = 40;
// Percentiles of fewer operations have no meaning.
constexpr size_t kFewestOperations = 8;
constexpr int kDrawCallsPerOperation = 8;
constexpr NSUInteger kTargetSide = 256;
constexpr auto kLongestRun = 1500ms;
/** The compiler of shaders runs in another process, which may have to start first. */
constexpr auto kLongestPreparation = 2000ms;

/** One triangle that covers the whole target, and some arithmetic for each pixel. */
NSString *const kShaders = @R"(
#include <metal_stdlib>
using namespace metal;
vertex float4 cover(uint index [[vertex_id]]) {
  return float4(index == 1 ? 3.0 : -1.0, index == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
fragment float4 shade(float4 position [[position]]) {
  float value = position.x * 0.01 + position.y * 0.02;
  for (int step = 0; step < 64; ++step) value = fract(sin(value) * 43.5453 + 0.5);
  return float4(value, value, value, 1.0);
}
)";

id<MTLLibrary> compile(id<MTLDevice> device, const std::shared_ptr<Token> &token) {
  const auto handover = std::make_shared<Handover<id<MTLLibrary>>>(token);
  [device newLibraryWithSource:kShaders
                       options:nil
             completionHandler:^(id<MTLLibrary> library, NSError *) { handover->give(library); }];
  return handover->take(kLongestPreparation).value_or(nil);
}

id<MTLRenderPipelineState> makePipeline(id<MTLDevice> device, const std::shared_ptr<Token> &token) {
  id<MTLLibrary> library = compile(device, token);
  if (library == nil) return nil;
  MTLRenderPipelineDescriptor *descriptor = [[MTLRenderPipelineDescriptor alloc] init];
  descriptor.vertexFunction = [library newFunctionWithName:@"cover"];
  descriptor.fragmentFunction = [library newFunctionWithName:@"shade"];
  descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
  const auto handover = std::make_shared<Handover<id<MTLRenderPipelineState>>>(token);
  [device newRenderPipelineStateWithDescriptor:descriptor
                             completionHandler:^(id<MTLRenderPipelineState> pipeline, NSError *) {
                               handover->give(pipeline);
                             }];
  return handover->take(kLongestPreparation).value_or(nil);
}

MTLRenderPassDescriptor *makePass(id<MTLDevice> device) {
  MTLTextureDescriptor *target = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                                                    width:kTargetSide
                                                                                   height:kTargetSide
                                                                                mipmapped:NO];
  target.usage = MTLTextureUsageRenderTarget;
  target.storageMode = MTLStorageModePrivate;
  MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
  pass.colorAttachments[0].texture = [device newTextureWithDescriptor:target];
  pass.colorAttachments[0].loadAction = MTLLoadActionDontCare;
  pass.colorAttachments[0].storeAction = MTLStoreActionStore;
  return pass;
}

/**
 * @return seconds for which the graphics processor was busy; no value if the operation failed or did not end in time.
 */
std::optional<double> operate(id<MTLCommandQueue> queue, id<MTLRenderPipelineState> pipeline,
                              MTLRenderPassDescriptor *pass, const std::shared_ptr<Token> &token) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  if (commands == nil) return std::nullopt;
  id<MTLRenderCommandEncoder> encoder = [commands renderCommandEncoderWithDescriptor:pass];
  if (encoder == nil) return std::nullopt;
  [encoder setRenderPipelineState:pipeline];
  for (int call = 0; call < kDrawCallsPerOperation; ++call) {
    [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
  }
  [encoder endEncoding];
  const auto handover = std::make_shared<Handover<double>>(token);
  [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
    const bool completed = done.status == MTLCommandBufferStatusCompleted;
    handover->give(completed ? done.GPUEndTime - done.GPUStartTime : -1);
  }];
  [commands commit];
  const auto seconds = handover->take(kLongestRun);
  return seconds && *seconds >= 0 ? seconds : std::nullopt;
}

}  // namespace

std::optional<GpuTimes> drawOffScreen(id<MTLDevice> device, const std::shared_ptr<Token> &token) {
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLRenderPipelineState> pipeline = makePipeline(device, token);
  if (queue == nil || pipeline == nil) return std::nullopt;
  MTLRenderPassDescriptor *pass = makePass(device);
  GpuTimes times;
  const auto start = Clock::now();
  for (int index = 0; index < kOperations && Clock::now() - start < kLongestRun; ++index) {
    @autoreleasepool {
      const auto before = Clock::now();
      const auto busy = operate(queue, pipeline, pass, token);
      if (!busy) break;
      times.operations.push_back(Milliseconds(Clock::now() - before).count());
      times.gpu += *busy * 1000;
      times.drawCalls += kDrawCallsPerOperation;
    }
  }
  times.whole = Milliseconds(Clock::now() - start).count();
  if (times.operations.size() < kFewestOperations) return std::nullopt;
  return times;
}

}  // namespace drs
