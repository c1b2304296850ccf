package io.devicerisksignals.sources

private const val FRAMES = 256

/** Class and method of each frame of a stack trace that is taken here, beginning with the innermost frame. */
internal fun stack(): List<String> =
  Thread.currentThread().stackTrace.take(FRAMES).map { frame -> "${frame.className}.${frame.methodName}" }
