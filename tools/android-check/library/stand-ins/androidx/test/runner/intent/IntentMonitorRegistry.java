package androidx.test.runner.intent;

public final class IntentMonitorRegistry {
  private static IntentMonitor registered;

  private IntentMonitorRegistry() {}

  public static void registerInstance(IntentMonitor instance) {
    registered = instance;
  }

  public static IntentMonitor getInstance() {
    return registered;
  }
}
