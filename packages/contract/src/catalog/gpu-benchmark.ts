import { boolean, number, type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const gpuBenchmark: Probe = {
  id: "gpu_benchmark",
  title: "GPU benchmark",
  meaning:
    "Name of the graphics processor and the times of a short drawing run. Off by default: it costs time and power.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: DIAGNOSTICS,
  performed: { field: "benchmarkPerformed", reason: "skippedReason" },
  fields: {
    benchmarkPerformed: boolean(
      "The drawing run took place; false means that it did not, and skippedReason may say why.",
      {
        required: true,
      },
    ),
    skippedReason: string("Why the run did not take place; absent when it did.", {
      values: { android: ["no_context", "no_shader", "time"], ios: ["background", "no_device", "failed"] },
    }),
    rendererName: string("Name of the graphics processor: GL_RENDERER on Android, MTLDevice.name on iOS.", {
      raw: true,
    }),
    vendorName: string("GL_VENDOR: maker of the graphics driver.", { on: "android", raw: true }),
    apiVersion: string("GL_VERSION: version of OpenGL ES and of the driver.", { on: "android", raw: true }),
    shadingLanguageVersion: string("GL_SHADING_LANGUAGE_VERSION: version of the shader language.", {
      on: "android",
      raw: true,
    }),
    maxTextureSize: number("px", "GL_MAX_TEXTURE_SIZE: longest side a texture may have.", { on: "android" }),
    drawCallsCompleted: number("count", "Draw calls that were finished within the run's bounds.", {
      sensitivity: "medium",
      range: { android: { min: 32, max: 192, integer: true }, ios: { min: 64, max: 320, integer: true } },
    }),
    durationMs: number("ms", "Duration of the whole run, measured outside the graphics processor.", {
      sensitivity: "medium",
    }),
    gpuTimeMs: number("ms", "Time the graphics processor itself was busy, by Metal's command buffer times.", {
      on: "ios",
      sensitivity: "medium",
    }),
    operationTimeP50Ms: number("ms", "Median time of one operation.", { sensitivity: "medium" }),
    operationTimeP95Ms: number("ms", "95th percentile of the time of one operation.", { sensitivity: "medium" }),
    operationTimeMadMs: number("ms", "Median absolute deviation of the operation times.", { sensitivity: "medium" }),
    operationTimeCoefficientOfVariation: number(
      "ratio",
      "Standard deviation of the operation times divided by their mean.",
      { sensitivity: "medium" },
    ),
    warmupSlope: number(
      "ratio",
      "Relative trend of operation times over the run; positive means later operations took longer.",
      { sensitivity: "medium", range: {} },
    ),
  },
};
