package io.devicerisksignals.probes

import android.os.Build
import android.system.Os
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.sources.buildTexts

private const val TABLET_WIDTH_DP = 600

internal fun deviceIdentity(scope: CallScope): Fields {
  val kernel = Once(Os::uname)
  return mapOf(
    "manufacturer" to { Build.MANUFACTURER },
    "model" to { Build.MODEL },
    "brand" to { Build.BRAND },
    "isTablet" to { scope.context.resources.configuration.smallestScreenWidthDp >= TABLET_WIDTH_DP },
    "systemName" to { "Android" },
    "systemVersion" to { Build.VERSION.RELEASE },
    "osBuild" to { Build.ID },
    "androidBuild" to {
      buildTexts() + mapOf(
        "supportedAbis" to Build.SUPPORTED_ABIS.toList(),
        "sdkInt" to Build.VERSION.SDK_INT,
        "buildTimeMs" to Build.TIME
      )
    }
  ) + fieldsOf(
    kernel,
    "kernelVersion" to { version },
    "kernelOsRelease" to { release },
    "kernelOsType" to { sysname }
  )
}
