package io.devicerisksignals

import com.facebook.react.bridge.LifecycleEventListener
import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.ReadableMap
import com.facebook.react.bridge.UiThreadUtil
import io.devicerisksignals.call.BridgeValues
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.Calls
import io.devicerisksignals.call.RejectionCode
import io.devicerisksignals.call.Request
import io.devicerisksignals.call.Settlement
import io.devicerisksignals.call.collect
import io.devicerisksignals.observation.TransactionObservation
import io.devicerisksignals.platform.SystemFiles

/**
 * The Android half of the SDK, as React Native's codegen declares it. It only reads; the TypeScript half judges what
 * was read.
 *
 * It does no work before the first call, and no method blocks its caller.
 */
class DeviceRiskSignalsModule internal constructor(
  context: ReactApplicationContext,
  private val values: BridgeValues,
  private val files: SystemFiles
) : NativeDeviceRiskSignalsSpec(context) {
  private val started = lazy { Calls() }
  private val calls by started
  private val observation = TransactionObservation({ reactApplicationContext.currentActivity })

  /** Stops the observation when its activity ends, because an observation must not outlive the activity. */
  private val endOfActivity = object : LifecycleEventListener {
    override fun onHostResume() = Unit

    override fun onHostPause() = Unit

    override fun onHostDestroy() {
      runCatching(observation::stop)
    }
  }

  constructor(context: ReactApplicationContext) : this(context, BridgeValues(), SystemFiles())

  /** Runs one probe. `docs/native-interface.md` describes the request and the answer. */
  override fun collect(call: String, probe: String, request: ReadableMap, promise: Promise) {
    val settlement = PromiseSettlement(promise)
    val wanted = runCatching { Request.from(request) }.getOrNull()
    if (wanted == null) {
      settlement.rejected(RejectionCode.FAILED)
      return
    }
    calls.start(call, wanted.timeoutMs, settlement) { token ->
      val scope = CallScope(probe, reactApplicationContext, token, files, observation)
      values.mapOf(collect(scope, wanted))
    }
  }

  /** Stops the call with this name, if it runs. */
  override fun cancel(call: String) {
    if (started.isInitialized()) calls.cancel(call)
  }

  /** Begins the observation of `transaction_safety`, and answers whether it runs. */
  override fun startObservation(promise: Promise) {
    val settlement = PromiseSettlement(promise)
    UiThreadUtil.runOnUiThread {
      runCatching(::observe).onSuccess(settlement::answered).onFailure {
        // Stops an observation that started only partly, because no later call would stop it.
        runCatching(observation::stop)
        settlement.rejected(RejectionCode.FAILED)
      }
    }
  }

  private fun observe(): Boolean {
    val runs = observation.start()
    if (runs) reactApplicationContext.addLifecycleEventListener(endOfActivity)
    return runs
  }

  /** Stops the observation of `transaction_safety`. */
  override fun stopObservation() {
    UiThreadUtil.runOnUiThread {
      runCatching { reactApplicationContext.removeLifecycleEventListener(endOfActivity) }
      runCatching(observation::stop)
    }
  }

  /** Returns the value at once. */
  override fun echo(value: Double, promise: Promise) = promise.resolve(value)

  /** Stops all calls and the observation when React Native discards the module, for example at a reload. */
  override fun invalidate() {
    if (started.isInitialized()) calls.close()
    UiThreadUtil.runOnUiThread { runCatching(observation::close) }
    super.invalidate()
  }
}

/**
 * A rejection has a code and no message, because a message could contain a path. If the promise throws, for example
 * because React Native has discarded the module, the app must not crash.
 */
private class PromiseSettlement(private val promise: Promise) : Settlement<Any> {
  override fun answered(answer: Any) {
    runCatching { promise.resolve(answer) }
  }

  override fun rejected(code: RejectionCode) {
    runCatching { promise.reject(code.wireName, null as String?) }
  }
}
