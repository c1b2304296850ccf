package androidx.test.runner.intent

import android.app.Instrumentation.ActivityResult
import android.content.Intent

interface IntentMonitor

object IntentMonitorRegistry {
  private var registered: IntentMonitor? = null
  @JvmStatic fun registerInstance(instance: IntentMonitor?) = run { registered = instance }
  @JvmStatic fun getInstance(): IntentMonitor? = registered
}

interface IntentStubber {
  fun getActivityResultForIntent(intent: Intent?): ActivityResult?
}

object IntentStubberRegistry {
  @JvmStatic fun isLoaded(): Boolean = false
  @JvmStatic fun getInstance(): IntentStubber = error("nothing is stubbed")
}
