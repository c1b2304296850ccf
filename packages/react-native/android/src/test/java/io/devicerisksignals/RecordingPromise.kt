package io.devicerisksignals

import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.WritableMap
import io.devicerisksignals.call.plain
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/** A promise that records its end, so that a test can wait for it. */
internal class RecordingPromise : Promise {
  /** @property message the message of a rejection, in addition to its code. */
  class End(val value: Any?, val code: String?, val message: String?)

  val settlements = AtomicInteger()
  private val end = CompletableFuture<End>()

  val value: Any?
    get() = await().also { check(it.code == null) { "rejected: ${it.code}" } }.value

  val code: String?
    get() = await().code

  val message: String?
    get() = await().message

  val fields: Map<String, Any?>
    get() = member("fields")

  val evidence: Map<String, Any?>
    get() = member("evidence")

  fun await(): End = end.get(SECONDS, TimeUnit.SECONDS)

  @Suppress("UNCHECKED_CAST")
  private fun member(name: String) = (plain(value) as Map<*, *>)[name] as Map<String, Any?>

  private fun settle(value: Any?, code: String?, message: String?) {
    settlements.incrementAndGet()
    end.complete(End(value, code, message))
  }

  override fun resolve(value: Any?) = settle(value, null, null)

  override fun reject(code: String?, message: String?) = settle(null, code.orEmpty(), message)

  override fun reject(code: String?, throwable: Throwable?) = settle(null, code.orEmpty(), throwable.toString())

  override fun reject(code: String?, message: String?, throwable: Throwable?) =
    settle(null, code.orEmpty(), "$message $throwable")

  override fun reject(throwable: Throwable) = settle(null, "", throwable.toString())

  override fun reject(throwable: Throwable, userInfo: WritableMap) = settle(null, "", "$throwable $userInfo")

  override fun reject(code: String?, userInfo: WritableMap) = settle(null, code.orEmpty(), userInfo.toString())

  override fun reject(code: String?, throwable: Throwable?, userInfo: WritableMap) =
    settle(null, code.orEmpty(), "$throwable $userInfo")

  override fun reject(code: String?, message: String?, userInfo: WritableMap) =
    settle(null, code.orEmpty(), "$message $userInfo")

  override fun reject(code: String?, message: String?, throwable: Throwable?, userInfo: WritableMap?) =
    settle(null, code.orEmpty(), "$message $throwable $userInfo")

  @Deprecated("Prefer passing a module-specific error code to JS.", replaceWith = ReplaceWith("reject(code, message)"))
  override fun reject(message: String) = settle(null, "", message)

  private companion object {
    const val SECONDS = 20L
  }
}
