package io.devicerisksignals.sources

import android.os.Build
import io.devicerisksignals.platform.Api31

/** The texts of `android.os.Build` by their catalog names. */
internal fun buildConstants(): Map<String, String?> = buildTexts() + mapOf(
  "manufacturer" to Build.MANUFACTURER,
  "brand" to Build.BRAND,
  "model" to Build.MODEL,
  "release" to Build.VERSION.RELEASE
)

/** The constants that the field `androidBuild` of `device_identity` contains, too. */
internal fun buildTexts(): Map<String, String?> = mapOf(
  "board" to Build.BOARD,
  "bootloader" to Build.BOOTLOADER,
  "device" to Build.DEVICE,
  "display" to Build.DISPLAY,
  "fingerprint" to Build.FINGERPRINT,
  "hardware" to Build.HARDWARE,
  "host" to Build.HOST,
  "id" to Build.ID,
  "product" to Build.PRODUCT,
  "tags" to Build.TAGS,
  "buildType" to Build.TYPE,
  "codename" to Build.VERSION.CODENAME,
  "incremental" to Build.VERSION.INCREMENTAL,
  "securityPatch" to Build.VERSION.SECURITY_PATCH,
  "baseOs" to Build.VERSION.BASE_OS,
  "socManufacturer" to if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) Api31.socManufacturer() else null,
  "socModel" to if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) Api31.socModel() else null
)
