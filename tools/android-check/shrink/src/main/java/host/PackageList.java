package host;

import com.facebook.react.ReactPackage;
import io.devicerisksignals.DeviceRiskSignalsPackage;
import java.util.List;

/** Replaces the class that autolinking generates in a host app. */
public final class PackageList {
  private PackageList() {}

  public static List<ReactPackage> packages() {
    return List.of(new DeviceRiskSignalsPackage());
  }
}
