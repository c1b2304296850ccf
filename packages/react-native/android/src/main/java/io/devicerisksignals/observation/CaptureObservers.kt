package io.devicerisksignals.observation

import android.app.Activity
import android.os.Build
import android.view.WindowManager
import androidx.annotation.RequiresApi
import io.devicerisksignals.platform.NewerThanChecked
import java.util.concurrent.Executor
import java.util.function.Consumer

/** Watches for screenshots of one activity. The host app must declare DETECT_SCREEN_CAPTURE. */
@RequiresApi(Build.VERSION_CODES.UPSIDE_DOWN_CAKE)
internal class ScreenshotObserver(private val activity: Activity, elapsedMs: () -> Long) {
  /** The time of the last screenshot; null before the first one. */
  @Volatile
  var lastElapsedMs: Long? = null
    private set

  private val notice = Activity.ScreenCaptureCallback { lastElapsedMs = elapsedMs() }

  fun start() = activity.registerScreenCaptureCallback(ON_SAME_THREAD, notice)

  fun stop() = activity.unregisterScreenCaptureCallback(notice)
}

/**
 * Observes whether a recording shows this app. The host app must declare DETECT_SCREEN_RECORDING. The system reports
 * the current state at the start.
 */
@NewerThanChecked
@RequiresApi(Build.VERSION_CODES.VANILLA_ICE_CREAM)
internal class RecordingObserver(private val windows: WindowManager) {
  @Volatile
  var isVisible = false
    private set

  private val notice = Consumer<Int> { state ->
    isVisible = state == WindowManager.SCREEN_RECORDING_STATE_VISIBLE
  }

  fun start() = notice.accept(windows.addScreenRecordingCallback(ON_SAME_THREAD, notice))

  fun stop() = windows.removeScreenRecordingCallback(notice)
}

private val ON_SAME_THREAD = Executor(Runnable::run)
