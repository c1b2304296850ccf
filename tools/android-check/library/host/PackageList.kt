package host

import com.facebook.react.ReactPackage
import io.devicerisksignals.DeviceRiskSignalsPackage

/** Replaces the class that autolinking generates in a host app. */
object PackageList {
  fun packages(): List<ReactPackage> = listOf(DeviceRiskSignalsPackage())
}
