package io.devicerisksignals.sources

private const val FRAMES = 256

/** Class and method of each frame of a stack trace taken here, the innermost first. */
internal fun stack(): List<String> =
  Thread.currentThread().stackTrace.take(FRAMES).map { frame -> "${frame.className}.${frame.methodName}" }
