package io.devicerisksignals.observation

import android.os.Build
import android.view.MotionEvent
import android.view.Window

/**
 * Wraps the callback of a window and examines touches before it passes them on. It reads whether another window covered
 * a touch and whether a physical device made it, and never where the touch was. It passes every call on unchanged.
 *
 * @param wrapped the previous callback of the window.
 */
internal class TouchObserver(wrapped: Window.Callback, private val elapsedMs: () -> Long) : WindowCallback(wrapped) {
  @Volatile
  var count = 0
    private set

  /**
   * Touches of no physical device. A physical device has a positive id; the system and accessibility services inject
   * events with 0 or `KeyCharacterMap.VIRTUAL_KEYBOARD`, which is -1 (AOSP: `InputDispatcher::injectInputEvent`,
   * `MotionEventInjector`).
   */
  @Volatile
  var virtualDeviceCount = 0
    private set

  @Volatile
  var lastObscuredElapsedMs: Long? = null
    private set

  @Volatile
  var lastPartiallyObscuredElapsedMs: Long? = null
    private set

  /** Older systems don't mark a touch on a window that another window covers at a different position. */
  val seesPartialCover = Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q

  /** False after the observation has ended. Another wrapper may still hold this observer then. */
  @Volatile
  var isLooking = true

  override fun dispatchTouchEvent(event: MotionEvent?): Boolean {
    if (isLooking && event != null) look(event)
    return super.dispatchTouchEvent(event)
  }

  private fun look(event: MotionEvent) {
    if (event.actionMasked == MotionEvent.ACTION_DOWN) {
      count++
      if (event.deviceId <= 0) virtualDeviceCount++
    }
    if (event.flags and MotionEvent.FLAG_WINDOW_IS_OBSCURED != 0) lastObscuredElapsedMs = elapsedMs()
    if (event.flags and MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED != 0) {
      lastPartiallyObscuredElapsedMs = elapsedMs()
    }
  }
}
