package io.devicerisksignals.call

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.ThreadFactory
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

/**
 * Receives the result of a call, once and on any thread. An exception of the receiver is dropped, because the call has
 * no other receiver.
 */
internal interface Settlement<in T> {
  fun answered(answer: T)

  fun rejected(code: RejectionCode)
}

/** The codes with which a promise is rejected. `docs/native-interface.md` defines them. */
internal enum class RejectionCode(val wireName: String) {
  CANCELLED("cancelled"),
  FAILED("failed")
}

/**
 * Runs calls in parallel on a bounded pool, and resolves each call exactly once, with its answer or with a code.
 *
 * At its deadline a call is rejected, even if a function of the platform that does not return still blocks the thread
 * of the call. A later answer is dropped. Idle threads end.
 */
internal class Calls(threads: Int = THREADS, queue: Int = QUEUE) {
  private val running = ConcurrentHashMap<String, Call<*>>()

  private val workers =
    ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, LinkedBlockingQueue(queue), Threads)
      .apply { allowCoreThreadTimeOut(true) }

  private val timer = ScheduledThreadPoolExecutor(1, Threads).apply {
    setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS)
    allowCoreThreadTimeOut(true)
    removeOnCancelPolicy = true
  }

  /**
   * Starts [work] under [name]. If a running call has this name, the new call is rejected.
   *
   * @param timeoutMs milliseconds after which the caller stops waiting.
   */
  fun <T> start(name: String, timeoutMs: Long, settlement: Settlement<T>, work: (CallToken) -> T) {
    val call = Call(CallToken(timeoutMs), settlement)
    if (running.putIfAbsent(name, call) != null) {
      call.reject(RejectionCode.FAILED)
      return
    }
    try {
      val deadline = timer.schedule({ stop(name, call, RejectionCode.CANCELLED) }, timeoutMs, TimeUnit.MILLISECONDS)
      workers.execute { run(name, call, deadline, work) }
    } catch (_: RejectedExecutionException) {
      stop(name, call, RejectionCode.FAILED)
    }
  }

  /** Stops the call with this name, if it runs. */
  fun cancel(name: String) {
    running[name]?.let { stop(name, it, RejectionCode.CANCELLED) }
  }

  /** Stops all calls and accepts no more. */
  fun close() {
    running.forEach { (name, call) -> stop(name, call, RejectionCode.CANCELLED) }
    workers.shutdownNow()
    timer.shutdownNow()
  }

  @Suppress("TooGenericExceptionCaught", "SwallowedException")
  private fun <T> run(name: String, call: Call<T>, deadline: ScheduledFuture<*>, work: (CallToken) -> T) {
    val answer = try {
      call.token.check()
      Result.success(work(call.token))
    } catch (failure: Throwable) {
      Result.failure(failure)
    }
    deadline.cancel(false)
    // The name is removed before the caller learns that the call has ended, so that the caller can use it again.
    running.remove(name, call)
    answer.onSuccess(call::answer).onFailure {
      call.reject(if (call.token.isStopped) RejectionCode.CANCELLED else RejectionCode.FAILED)
    }
  }

  private fun stop(name: String, call: Call<*>, code: RejectionCode) {
    running.remove(name, call)
    call.token.stop()
    call.reject(code)
  }

  private class Call<T>(val token: CallToken, private val settlement: Settlement<T>) {
    private val settled = AtomicBoolean()

    fun answer(answer: T) {
      if (settled.compareAndSet(false, true)) runCatching { settlement.answered(answer) }
    }

    fun reject(code: RejectionCode) {
      if (settled.compareAndSet(false, true)) runCatching { settlement.rejected(code) }
    }
  }

  private object Threads : ThreadFactory {
    override fun newThread(work: Runnable) = Thread(work, "DeviceRiskSignals").apply { isDaemon = true }
  }

  companion object {
    /** More threads than one collection has probes that run in parallel. */
    const val THREADS = 16
    const val QUEUE = 64
    private const val IDLE_SECONDS = 5L
  }
}
