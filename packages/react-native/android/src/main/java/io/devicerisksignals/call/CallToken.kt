package io.devicerisksignals.call

import java.io.Closeable
import java.util.concurrent.TimeUnit

/** Work throws this when its caller has stopped waiting. The exception does not count as the failure of a field. */
internal class CallStopped : RuntimeException(null, null, false, false)

/**
 * The permission of one call to continue. It ends at the call's deadline or when the call is stopped.
 *
 * Work in several parts calls [check] between the parts. Blocking work is bounded by [remainingMs] and runs in
 * [closing], so that the end of the call closes its resource. A function of the platform that does not return can't be
 * ended in this way; [Calls] then rejects the call, although its thread is still blocked.
 */
internal class CallToken(timeoutMs: Long) {
  private val deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs)
  private val open = HashSet<Closeable>()
  private var stopped = false

  val isStopped: Boolean
    get() = synchronized(open) { stopped } || remainingMs() <= 0

  /** Milliseconds until the deadline, rounded up; 0 after the deadline. */
  fun remainingMs(): Long {
    val nanos = deadlineNanos - System.nanoTime()
    return if (nanos <= 0) 0 else TimeUnit.NANOSECONDS.toMillis(nanos) + 1
  }

  /** @throws CallStopped when the caller has stopped waiting. */
  fun check() {
    if (isStopped) throw CallStopped()
  }

  /** Ends the call: open resources are closed, and the next [check] throws. */
  fun stop() {
    val closeables = synchronized(open) {
      stopped = true
      open.toList().also { open.clear() }
    }
    closeables.forEach { runCatching(it::close) }
  }

  /** Runs [use], and closes [resource] afterwards, or as soon as the call is stopped. */
  inline fun <C : Closeable, R> closing(resource: C, use: (C) -> R): R {
    enter(resource)
    try {
      check()
      return use(resource)
    } finally {
      leave(resource)
    }
  }

  @PublishedApi
  internal fun enter(resource: Closeable) {
    synchronized(open) { open += resource }
  }

  @PublishedApi
  internal fun leave(resource: Closeable) {
    synchronized(open) { open -= resource }
    runCatching(resource::close)
  }

  /**
   * The result of [read], or null if the read fails, because the failure of one field must not affect the others.
   *
   * @throws CallStopped when the caller has stopped waiting.
   * @throws Unavailable if [read] throws it.
   */
  @Suppress("TooGenericExceptionCaught", "SwallowedException")
  inline fun <T> attempt(read: () -> T): T? = try {
    check()
    read()
  } catch (stopped: CallStopped) {
    throw stopped
  } catch (unavailable: Unavailable) {
    throw unavailable
  } catch (failure: Throwable) {
    check()
    null
  }
}
