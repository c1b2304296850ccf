package io.devicerisksignals.observation

import android.app.Activity
import android.os.Build
import android.os.Looper
import android.view.KeyCharacterMap
import android.view.MotionEvent
import android.view.Window
import com.facebook.react.bridge.LifecycleEventListener
import com.facebook.react.bridge.Promise
import io.devicerisksignals.DeviceRiskSignalsModule
import io.devicerisksignals.RecordingPromise
import io.devicerisksignals.application
import io.devicerisksignals.ask
import io.devicerisksignals.moduleOf
import io.devicerisksignals.probes.PROBES
import io.devicerisksignals.reactContextOf
import io.devicerisksignals.scopeOf
import java.lang.reflect.Modifier
import java.lang.reflect.Proxy
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotSame
import org.junit.Assert.assertNull
import org.junit.Assert.assertSame
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf

@RunWith(RobolectricTestRunner::class)
class TransactionObservationTest {
  private var now = 1_000L
  private val activity = Robolectric.buildActivity(Activity::class.java).setup().get()
  private val original = activity.window.callback
  private val observation = TransactionObservation({ activity }, { now })

  @Test
  fun `the observation wraps the window once and restores it exactly`() {
    assertTrue(observation.start())
    val wrapped = activity.window.callback
    assertNotSame(original, wrapped)
    now = 2_000
    assertTrue(observation.start())
    assertSame(wrapped, activity.window.callback)
    assertEquals(1_000.0, fields()["transactionObservationStartedElapsedMs"])
    observation.stop()
    assertSame(original, activity.window.callback)
    observation.stop()
    assertSame(original, activity.window.callback)
  }

  @Test
  fun `the observation leaves a window unchanged that other code has wrapped in the meantime`() {
    observation.start()
    val ours = activity.window.callback
    val theirs = object : Window.Callback by ours {}
    activity.window.callback = theirs
    observation.stop()
    assertSame(theirs, activity.window.callback)
    (ours as TouchObserver).dispatchTouchEvent(touch())
    assertEquals(0, ours.count)
  }

  @Test
  fun `the observation does not run without an activity`() {
    val withoutActivity = TransactionObservation({ null })
    assertFalse(withoutActivity.start())
    assertNull(withoutActivity.window)
  }

  @Test
  fun `touches are counted, examined for covering windows and passed on`() {
    var passed = 0
    activity.window.callback = object : Window.Callback by original {
      override fun dispatchTouchEvent(event: MotionEvent?): Boolean {
        passed++
        return true
      }
    }
    observation.start()
    activity.window.callback.dispatchTouchEvent(touch())
    assertEquals(1.0, fields()["observedTouchCount"])
    assertEquals(false, fields()["obscuredTouchObserved"])
    assertFalse("lastObscuredTouchElapsedMs" in fields())

    now = 5_000
    activity.window.callback.dispatchTouchEvent(touch(MotionEvent.FLAG_WINDOW_IS_OBSCURED))
    activity.window.callback.dispatchTouchEvent(touch(MotionEvent.FLAG_WINDOW_IS_OBSCURED, MotionEvent.ACTION_UP))
    assertEquals(2.0, fields()["observedTouchCount"])
    assertEquals(true, fields()["obscuredTouchObserved"])
    assertEquals(5_000.0, fields()["lastObscuredTouchElapsedMs"])
    assertEquals(3, passed)
  }

  @Test
  fun `touches of no physical device are counted once each`() {
    observation.start()
    val dispatch = { event: MotionEvent -> activity.window.callback.dispatchTouchEvent(event) }
    dispatch(touch())
    assertEquals(0.0, fields()["virtualDeviceTouchCount"])
    for (device in listOf(KeyCharacterMap.VIRTUAL_KEYBOARD, 0)) {
      dispatch(touch(device = device))
      dispatch(touch(action = MotionEvent.ACTION_MOVE, device = device))
      dispatch(touch(action = MotionEvent.ACTION_UP, device = device))
    }
    assertEquals(2.0, fields()["virtualDeviceTouchCount"])
    assertEquals(3.0, fields()["observedTouchCount"])
  }

  @Test
  fun `every call is passed on, even with null in place of the menu that the framework promises`() {
    val passed = mutableListOf<Pair<String, List<Any?>>>()
    val callbacks = Window.Callback::class.java
    val recording = Proxy.newProxyInstance(callbacks.classLoader, arrayOf(callbacks)) { _, method, arguments ->
      passed += method.name to arguments.orEmpty().toList()
      true.takeIf { method.returnType == Boolean::class.java }
    }
    val observer = TouchObserver(recording as Window.Callback) { now }
    val sent = callbacks.methods.filterNot { Modifier.isStatic(it.modifiers) }.map { method ->
      val arguments = method.parameterTypes.map(::nothingOf)
      method.invoke(observer, *arguments.toTypedArray())
      method.name to arguments
    }
    assertEquals(sent, passed)
    assertTrue(sent.containsAll(MENUS_OF_NULL))
  }

  @Test
  fun `partial cover is known only if the system marks it`() {
    observation.start()
    activity.window.callback.dispatchTouchEvent(touch())
    val marks = Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q
    assertEquals(if (marks) false else null, fields()["partiallyObscuredTouchObserved"])
  }

  @Test
  fun `without an observation the only value is that screenshots are not watched for`() {
    val before = fields()
    observation.start()
    observation.stop()
    assertEquals(mapOf<String, Any?>("screenshotObservationActive" to false), before)
    assertEquals(before, fields())
  }

  @Test
  fun `screenshots and recordings are watched for only if the host app declares the permissions`() {
    observation.start()
    assertEquals(false, fields()["screenshotObservationActive"])
    assertFalse("screenshotDetectedSinceObservationStart" in fields())
    assertFalse("isVisibleInScreenRecording" in fields())
  }

  @Test
  fun `screenshots are watched for from API 34 on`() {
    shadowOf(application).grantPermissions("android.permission.DETECT_SCREEN_CAPTURE")
    observation.start()
    val watched = Build.VERSION.SDK_INT >= Build.VERSION_CODES.UPSIDE_DOWN_CAKE
    assertEquals(watched, fields()["screenshotObservationActive"])
    assertEquals(if (watched) false else null, fields()["screenshotDetectedSinceObservationStart"])
    observation.stop()
    assertEquals(false, fields()["screenshotObservationActive"])
  }

  @Test
  fun `recordings are observed from API 35 on`() {
    shadowOf(application).grantPermissions("android.permission.DETECT_SCREEN_RECORDING")
    observation.start()
    val followed = Build.VERSION.SDK_INT >= Build.VERSION_CODES.VANILLA_ICE_CREAM
    assertEquals(if (followed) false else null, fields()["isVisibleInScreenRecording"])
    observation.stop()
  }

  @Test
  fun `the module starts and stops the observation, and the module's end stops it permanently`() {
    val module = moduleOn(activity)
    assertEquals(true, start(module))
    val wrapped = activity.window.callback
    assertTrue(wrapped is TouchObserver)
    module.stopObservation()
    shadowOf(Looper.getMainLooper()).idle()
    assertSame(original, activity.window.callback)

    start(module)
    module.invalidate()
    shadowOf(Looper.getMainLooper()).idle()
    assertSame(original, activity.window.callback)
    assertEquals(false, start(module))
    assertSame(original, activity.window.callback)
  }

  @Test
  fun `a collection reads the observation that the module runs`() {
    val module = moduleOn(activity)
    start(module)
    val asked = listOf("observedTouchCount")
    assertEquals(mapOf("observedTouchCount" to 0.0), module.ask("transaction_safety", asked).fields)
    module.invalidate()
  }

  @Test
  fun `the observation ends with its activity`() {
    val context = reactContextOf().apply { onHostResume(activity) }
    start(moduleOf(reactContext = context))
    assertTrue(activity.window.callback is TouchObserver)
    context.onHostDestroy()
    assertSame(original, activity.window.callback)
  }

  @Test
  fun `an error of the host app at the start or stop of the observation does not crash the app`() {
    @Suppress("DEPRECATION")
    val refusing = object : com.facebook.react.bridge.BridgeReactContext(application) {
      override fun addLifecycleEventListener(listener: LifecycleEventListener): Unit = error("add")

      override fun removeLifecycleEventListener(listener: LifecycleEventListener): Unit = error("remove")
    }
    refusing.onHostResume(activity)
    val module = moduleOf(reactContext = refusing)
    val promise = RecordingPromise().also(module::startObservation)
    shadowOf(Looper.getMainLooper()).idle()
    assertEquals("failed", promise.code)
    assertSame(original, activity.window.callback)
    module.stopObservation()
    shadowOf(Looper.getMainLooper()).idle()
  }

  @Test
  fun `a promise that throws does not crash the app`() {
    val module = moduleOn(activity)
    val asked = mutableListOf<String>()
    val types = arrayOf<Class<*>>(Promise::class.java)
    val promise = Proxy.newProxyInstance(Promise::class.java.classLoader, types) { _, method, _ ->
      asked += method.name
      error("the host has ended")
    }
    module.startObservation(promise as Promise)
    shadowOf(Looper.getMainLooper()).idle()
    assertEquals(listOf("resolve"), asked)
    module.invalidate()
  }

  private fun nothingOf(type: Class<*>): Any? = when (type) {
    Boolean::class.java -> false
    Int::class.java -> 0
    else -> null
  }

  private fun start(module: DeviceRiskSignalsModule): Any? {
    val promise = RecordingPromise().also(module::startObservation)
    shadowOf(Looper.getMainLooper()).idle()
    return promise.value
  }

  private fun moduleOn(activity: Activity) = moduleOf(reactContext = reactContextOf().apply { onHostResume(activity) })

  private fun fields(): Map<String, Any?> {
    val fields = PROBES.getValue("transaction_safety")(scopeOf("transaction_safety", observation = observation))
    return fields.filterKeys { it in OF_THE_WINDOW }
      .mapValues { (_, read) -> read().let { if (it is Number) it.toDouble() else it } }
      .filterValues { it != null }
  }

  private fun touch(flags: Int = 0, action: Int = MotionEvent.ACTION_DOWN, device: Int = 4): MotionEvent =
    MotionEvent.obtain(
      0, 0, action, 1, arrayOf(MotionEvent.PointerProperties()), arrayOf(MotionEvent.PointerCoords()),
      0, 0, 1f, 1f, device, 0, 0, flags
    )

  private companion object {
    val MENUS_OF_NULL = listOf(
      "onMenuOpened" to listOf(0, null),
      "onPreparePanel" to listOf(0, null, null),
      "onCreatePanelMenu" to listOf(0, null)
    )

    val OF_THE_WINDOW = setOf(
      "transactionObservationStartedElapsedMs",
      "isVisibleInScreenRecording",
      "screenshotObservationActive",
      "screenshotDetectedSinceObservationStart",
      "lastScreenshotDetectedElapsedMs",
      "observedTouchCount",
      "virtualDeviceTouchCount",
      "obscuredTouchObserved",
      "lastObscuredTouchElapsedMs",
      "partiallyObscuredTouchObserved",
      "lastPartiallyObscuredTouchElapsedMs"
    )
  }
}
