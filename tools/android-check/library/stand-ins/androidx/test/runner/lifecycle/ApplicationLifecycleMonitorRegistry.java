package androidx.test.runner.lifecycle;

public final class ApplicationLifecycleMonitorRegistry {
  private static ApplicationLifecycleMonitor registered;

  private ApplicationLifecycleMonitorRegistry() {}

  public static void registerInstance(ApplicationLifecycleMonitor instance) {
    registered = instance;
  }

  public static ApplicationLifecycleMonitor getInstance() {
    return registered;
  }
}
