package androidx.test.platform.app

import android.app.Instrumentation
import android.os.Bundle

object InstrumentationRegistry {
  private var registered: Instrumentation? = null
  @JvmStatic fun registerInstance(instrumentation: Instrumentation?, arguments: Bundle?) = run { registered = instrumentation }
  @JvmStatic fun getInstrumentation(): Instrumentation? = registered
}
