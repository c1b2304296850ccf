package io.devicerisksignals.call

import java.io.Closeable
import java.util.concurrent.TimeUnit

/** Thrown where work finds that nobody waits for it any more. It is never taken for the failure of one field. */
internal class CallStopped : RuntimeException(null, null, false, false)

/**
 * One call's leave to go on, until its deadline or until it is stopped.
 *
 * Work that is split up asks [check] between its parts. What blocks is bounded by [remainingMs] and runs in [closing],
 * so that the end of the call closes it. A call of the platform that does not return can't be ended this way; [Calls]
 * then settles without it.
 */
internal class CallToken(timeoutMs: Long) {
  private val deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs)
  private val open = HashSet<Closeable>()
  private var stopped = false

  val isStopped: Boolean
    get() = synchronized(open) { stopped } || remainingMs() <= 0

  /** Milliseconds that are left, rounded up; 0 once the deadline has passed. */
  fun remainingMs(): Long {
    val nanos = deadlineNanos - System.nanoTime()
    return if (nanos <= 0) 0 else TimeUnit.NANOSECONDS.toMillis(nanos) + 1
  }

  /** @throws CallStopped when nobody waits any more. */
  fun check() {
    if (isStopped) throw CallStopped()
  }

  /** Ends the call: what is open is closed, and the next [check] throws. */
  fun stop() {
    val closeables = synchronized(open) {
      stopped = true
      open.toList().also { open.clear() }
    }
    closeables.forEach { runCatching(it::close) }
  }

  /** Runs [use] and closes [resource] after it, or as soon as the call is stopped. */
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
   * What [read] gives, or null where it throws, whatever it throws: one field that fails never takes its neighbours
   * with it.
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
