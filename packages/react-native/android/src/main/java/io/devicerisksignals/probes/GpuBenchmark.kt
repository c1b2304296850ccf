package io.devicerisksignals.probes

import android.opengl.GLES20
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.platform.Distribution
import java.util.concurrent.TimeUnit

private const val OPERATIONS = 48
private const val DRAWS_PER_OPERATION = 4
private const val MIN_OPERATIONS = 8
private const val MAX_DURATION_MS = 1_500L

/** Time that is reserved for closing the context and answering. */
private const val RESERVE_MS = 100L

internal fun gpuBenchmark(scope: CallScope): Fields {
  val run = Once { runOffscreen(scope.token) }
  return fieldsOf(
    run,
    "benchmarkPerformed" to { skippedReason == null },
    "skippedReason" to { skippedReason },
    "rendererName" to { names[GLES20.GL_RENDERER] },
    "vendorName" to { names[GLES20.GL_VENDOR] },
    "apiVersion" to { names[GLES20.GL_VERSION] },
    "shadingLanguageVersion" to { names[GLES20.GL_SHADING_LANGUAGE_VERSION] },
    "maxTextureSize" to { maxTextureSize }
  ) + timesOf(run)
}

private fun timesOf(run: Once<GpuRun>): Fields {
  val times = Once { run.value.operationsMs.takeIf { run.value.skippedReason == null }?.let(::Distribution) }
  return fieldsOf(
    times,
    "operationTimeP50Ms" to { this?.median },
    "operationTimeP95Ms" to { this?.p95 },
    "operationTimeMadMs" to { this?.mad },
    "operationTimeCoefficientOfVariation" to { this?.coefficientOfVariation },
    "warmupSlope" to { this?.trend },
    "drawCallsCompleted" to { this?.let { run.value.operationsMs.size * DRAWS_PER_OPERATION } },
    "durationMs" to { this?.let { run.value.operationsMs.sum() } }
  )
}

/** @property skippedReason `no_context`, `no_shader` or `time`; null if at least [MIN_OPERATIONS] operations ended. */
private class GpuRun(
  val skippedReason: String?,
  val names: Map<Int, String?> = emptyMap(),
  val maxTextureSize: Int? = null,
  val operationsMs: List<Double> = emptyList()
)

private fun runOffscreen(token: CallToken): GpuRun {
  val context = token.attempt { OffscreenContext() } ?: return GpuRun("no_context")
  // The token does not close the context, because only the thread that made the context may close it.
  return context.use {
    val names = listOf(
      GLES20.GL_RENDERER,
      GLES20.GL_VENDOR,
      GLES20.GL_VERSION,
      GLES20.GL_SHADING_LANGUAGE_VERSION
    ).associateWith(GLES20::glGetString)
    val size = IntArray(1).also { GLES20.glGetIntegerv(GLES20.GL_MAX_TEXTURE_SIZE, it, 0) }.first().takeIf { it > 0 }
    val drawing = token.attempt { Drawing() } ?: return GpuRun("no_shader", names, size)
    val operations = drawing.use { time(it, token) }
    GpuRun("time".takeIf { operations.size < MIN_OPERATIONS }, names, size, operations)
  }
}

/** Durations of the operations that began within the time limit. */
private fun time(drawing: Drawing, token: CallToken): List<Double> {
  val bound = minOf(MAX_DURATION_MS, token.remainingMs() - RESERVE_MS)
  val start = System.nanoTime()
  val operations = ArrayList<Double>()
  var last = start
  while (operations.size < OPERATIONS && last - start < TimeUnit.MILLISECONDS.toNanos(bound)) {
    token.check()
    repeat(DRAWS_PER_OPERATION) { drawing.draw() }
    drawing.finish()
    val now = System.nanoTime()
    operations += (now - last) / NANOS_PER_MS
    last = now
  }
  return operations
}

private const val NANOS_PER_MS = 1e6
