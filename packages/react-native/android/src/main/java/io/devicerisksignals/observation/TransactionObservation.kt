package io.devicerisksignals.observation

import android.app.Activity
import android.content.pm.PackageManager
import android.os.Build
import android.os.SystemClock

/**
 * Observes the window of the current activity for `transaction_safety`, from the start to the stop.
 *
 * It is started and stopped on the main thread; [window] may be read on any thread.
 *
 * @param activity returns the activity that is shown now.
 */
internal class TransactionObservation(
  private val activity: () -> Activity?,
  private val elapsedMs: () -> Long = SystemClock::elapsedRealtime
) {
  /** Null while no observation runs. */
  @Volatile
  var window: ObservedWindow? = null
    private set

  private var closed = false

  /**
   * Starts the observation unless it already runs.
   *
   * @return whether it runs. It does not run without an activity, or after [close].
   */
  fun start(): Boolean {
    if (window == null && !closed) window = activity()?.let { ObservedWindow.open(it, elapsedMs) }
    return window != null
  }

  /** Reverts everything that [start] changed. */
  fun stop() {
    window?.close()
    window = null
  }

  /** Stops permanently. */
  fun close() {
    closed = true
    stop()
  }
}

/**
 * The observed window and what has been observed.
 *
 * @property touches null if the window had no callback.
 * @property screenshots null if the system or the host app's manifest does not allow watching for them.
 */
internal class ObservedWindow private constructor(
  private val activity: Activity,
  val startedElapsedMs: Long,
  val touches: TouchObserver?,
  val screenshots: ScreenshotObserver?,
  private val recording: RecordingObserver?
) {
  /** Whether a recording shows the window; null if this is unknown. */
  val isVisibleInRecording: Boolean?
    get() = recording?.isVisible

  fun close() {
    touches?.let { observer ->
      observer.isLooking = false
      // If another wrapper was put around the observer in the meantime, the observer stays in place and only passes
      // calls on.
      if (activity.window.callback === observer) activity.window.callback = observer.wrapped
    }
    runCatching { screenshots?.stop() }
    runCatching { recording?.stop() }
  }

  companion object {
    private const val DETECT_SCREEN_CAPTURE = "android.permission.DETECT_SCREEN_CAPTURE"
    private const val DETECT_SCREEN_RECORDING = "android.permission.DETECT_SCREEN_RECORDING"

    fun open(activity: Activity, elapsedMs: () -> Long): ObservedWindow {
      val touches = activity.window.callback?.let { TouchObserver(it, elapsedMs) }
      touches?.let { activity.window.callback = it }
      return ObservedWindow(activity, elapsedMs(), touches, screenshots(activity, elapsedMs), recording(activity))
    }

    private fun screenshots(activity: Activity, elapsedMs: () -> Long): ScreenshotObserver? {
      if (Build.VERSION.SDK_INT < Build.VERSION_CODES.UPSIDE_DOWN_CAKE) return null
      if (!isGranted(activity, DETECT_SCREEN_CAPTURE)) return null
      return runCatching { ScreenshotObserver(activity, elapsedMs).also(ScreenshotObserver::start) }.getOrNull()
    }

    private fun recording(activity: Activity): RecordingObserver? {
      if (Build.VERSION.SDK_INT < Build.VERSION_CODES.VANILLA_ICE_CREAM) return null
      if (!isGranted(activity, DETECT_SCREEN_RECORDING)) return null
      return runCatching { RecordingObserver(activity.windowManager).also(RecordingObserver::start) }.getOrNull()
    }

    private fun isGranted(activity: Activity, permission: String): Boolean =
      activity.checkSelfPermission(permission) == PackageManager.PERMISSION_GRANTED
  }
}
