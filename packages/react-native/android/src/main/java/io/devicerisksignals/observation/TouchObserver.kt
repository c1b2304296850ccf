package io.devicerisksignals.observation

import android.os.Build
import android.view.MotionEvent
import android.view.Window

/**
 * Wraps a window's callback and examines touches on their way: whether another window covered them, never where they
 * were. It passes every call on unchanged.
 *
 * @param wrapped the callback that the window had.
 */
internal class TouchObserver(wrapped: Window.Callback, private val elapsedMs: () -> Long) : WindowCallback(wrapped) {
  @Volatile
  var count = 0
    private set

  @Volatile
  var lastObscuredElapsedMs: Long? = null
    private set

  @Volatile
  var lastPartiallyObscuredElapsedMs: Long? = null
    private set

  /** Older systems don't mark a touch of a window that is covered elsewhere. */
  val seesPartialCover = Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q

  /** False once the window is over: another wrapper may hold on to this one. */
  @Volatile
  var isLooking = true

  override fun dispatchTouchEvent(event: MotionEvent?): Boolean {
    if (isLooking && event != null) look(event)
    return super.dispatchTouchEvent(event)
  }

  private fun look(event: MotionEvent) {
    if (event.actionMasked == MotionEvent.ACTION_DOWN) count++
    if (event.flags and MotionEvent.FLAG_WINDOW_IS_OBSCURED != 0) lastObscuredElapsedMs = elapsedMs()
    if (event.flags and MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED != 0) {
      lastPartiallyObscuredElapsedMs = elapsedMs()
    }
  }
}
