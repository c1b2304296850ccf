package androidx.test.runner.lifecycle

enum class ApplicationStage { PRE_ON_CREATE, CREATED }

enum class Stage { PRE_ON_CREATE, CREATED, STARTED, RESUMED, PAUSED, STOPPED, RESTARTED, DESTROYED }

interface ApplicationLifecycleMonitor

interface ActivityLifecycleMonitor

object ActivityLifecycleMonitorRegistry {
  private var registered: ActivityLifecycleMonitor? = null
  @JvmStatic fun registerInstance(instance: ActivityLifecycleMonitor?) = run { registered = instance }
  @JvmStatic fun getInstance(): ActivityLifecycleMonitor? = registered
}

object ApplicationLifecycleMonitorRegistry {
  private var registered: ApplicationLifecycleMonitor? = null
  @JvmStatic fun registerInstance(instance: ApplicationLifecycleMonitor?) = run { registered = instance }
  @JvmStatic fun getInstance(): ApplicationLifecycleMonitor? = registered
}
