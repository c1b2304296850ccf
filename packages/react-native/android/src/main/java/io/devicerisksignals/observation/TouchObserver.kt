package io.devicerisksignals.observation

import android.os.Build
import android.view.KeyboardShortcutGroup
import android.view.Menu
import android.view.MotionEvent
import android.view.Window
import androidx.annotation.RequiresApi

/**
 * Stands between a window and its callback, and looks at touches on their way: whether something covered them, never
 * where they were. Everything is passed on unchanged.
 *
 * @property wrapped the callback that the window had.
 */
internal class TouchObserver(val wrapped: Window.Callback, private val elapsedMs: () -> Long) :
  Window.Callback by wrapped {
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
    return wrapped.dispatchTouchEvent(event)
  }

  private fun look(event: MotionEvent) {
    if (event.actionMasked == MotionEvent.ACTION_DOWN) count++
    if (event.flags and MotionEvent.FLAG_WINDOW_IS_OBSCURED != 0) lastObscuredElapsedMs = elapsedMs()
    if (event.flags and MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED != 0) {
      lastPartiallyObscuredElapsedMs = elapsedMs()
    }
  }

  // Kotlin's delegation leaves out methods that have a body in the Java interface.

  override fun onProvideKeyboardShortcuts(data: MutableList<KeyboardShortcutGroup>?, menu: Menu?, deviceId: Int) =
    wrapped.onProvideKeyboardShortcuts(data, menu, deviceId)

  @RequiresApi(Build.VERSION_CODES.O)
  override fun onPointerCaptureChanged(hasCapture: Boolean) = wrapped.onPointerCaptureChanged(hasCapture)
}
