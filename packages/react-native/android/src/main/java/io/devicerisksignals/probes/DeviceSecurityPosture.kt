package io.devicerisksignals.probes

import android.app.KeyguardManager
import android.content.pm.PackageManager
import android.hardware.biometrics.BiometricManager
import android.os.Build
import android.os.UserManager
import android.provider.Settings
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api29
import io.devicerisksignals.platform.Api30
import io.devicerisksignals.platform.Api33
import io.devicerisksignals.platform.SettingsTable

internal fun deviceSecurityPosture(scope: CallScope): Fields {
  val isOn = { name: String -> { SettingsTable.GLOBAL.isOn(scope.context.contentResolver, name) } }
  return mapOf(
    "hasSecureLockScreen" to { scope.service<KeyguardManager>().isDeviceSecure },
    "isDeviceLocked" to { isDeviceLocked(scope) },
    "isUserUnlocked" to { scope.service<UserManager>().isUserUnlocked },
    "biometryAvailable" to { isBiometryAvailable(scope) },
    "biometryType" to { biometryType(scope) },
    "fingerprintHardwarePresent" to { declares(scope, PackageManager.FEATURE_FINGERPRINT) },
    // On systems that are older than the name of this feature, a missing declaration has no meaning.
    "faceHardwarePresent" to { declares(scope, PackageManager.FEATURE_FACE, since = Build.VERSION_CODES.Q) },
    "strongBoxAvailable" to {
      declares(scope, PackageManager.FEATURE_STRONGBOX_KEYSTORE, since = Build.VERSION_CODES.P)
    },
    "securityPatch" to { Build.VERSION.SECURITY_PATCH?.ifEmpty { null } },
    "automaticTimeEnabled" to isOn(Settings.Global.AUTO_TIME),
    "automaticTimeZoneEnabled" to isOn(Settings.Global.AUTO_TIME_ZONE),
    "deviceProvisioned" to isOn(Settings.Global.DEVICE_PROVISIONED),
    "userCertificateAuthorityCount" to { userCertificateAuthorities(scope) },
    "networkTimeOffsetMs" to {
      if (Build.VERSION.SDK_INT < Build.VERSION_CODES.TIRAMISU) {
        null
      } else {
        System.currentTimeMillis() - Api33.networkTimeMs()
      }
    }
  )
}

/**
 * Counts the files in which the system keeps the authorities that were added for this user (AOSP:
 * `TrustedCertificateStore`). Every app of the user may read them. The system makes their folder with the first one,
 * and its parent with the user (AOSP: `ensure_config_user_dirs`).
 *
 * The key store `AndroidCAStore` is not asked: it parses every certificate of the system, and a folder that it can't
 * list looks empty.
 */
private fun userCertificateAuthorities(scope: CallScope): Int? {
  val user = "/data/misc/user/${androidUserId()}"
  val added = "$user/cacerts-added"
  if (scope.files.exists(user) != true) return null
  return if (scope.files.exists(added) == false) 0 else scope.files.names(added).count(CERTIFICATE::matches)
}

/** A hash of the subject, and a number that distinguishes certificates of equal hash. */
private val CERTIFICATE = Regex("[0-9a-f]{8}\\.\\d+")

private fun declares(scope: CallScope, feature: String, since: Int = 0): Boolean? =
  if (Build.VERSION.SDK_INT >= since) scope.context.packageManager.hasSystemFeature(feature) else null

/**
 * The kind of biometry that the system declares, or `multiple` for several kinds. Before API 29 the system declares
 * only fingerprint readers, so without such a reader the kind is unknown.
 */
private fun biometryType(scope: CallScope): String? {
  if (Build.VERSION.SDK_INT < Build.VERSION_CODES.Q) {
    return if (declares(scope, PackageManager.FEATURE_FINGERPRINT) == true) "fingerprint" else null
  }
  return biometryName(declaredBiometry(scope))
}

internal val BIOMETRY = mapOf(
  "fingerprint" to PackageManager.FEATURE_FINGERPRINT,
  "face" to PackageManager.FEATURE_FACE,
  "iris" to PackageManager.FEATURE_IRIS
)

internal fun biometryName(kinds: Set<String>): String = when (kinds.size) {
  0 -> "none"
  1 -> kinds.single()
  else -> "multiple"
}

private fun declaredBiometry(scope: CallScope): Set<String> = BIOMETRY.filterValues { declares(scope, it) == true }.keys

/**
 * Needs the permission USE_BIOMETRIC (USE_FINGERPRINT before API 28) of the host app. Without the permission the answer
 * is known only if the system declares no hardware, because no biometry can be used then.
 */
private fun isBiometryAvailable(scope: CallScope): Boolean? = try {
  askForBiometry(scope)
} catch (_: SecurityException) {
  if (declaredBiometry(scope).isEmpty()) false else null
}

private fun askForBiometry(scope: CallScope): Boolean? = when {
  Build.VERSION.SDK_INT >= Build.VERSION_CODES.R ->
    isUsable(Api30.canAuthenticate(scope.context))

  Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q ->
    isUsable(Api29.canAuthenticate(scope.context))

  else ->
    @Suppress("DEPRECATION")
    scope.service<android.hardware.fingerprint.FingerprintManager>().let {
      it.isHardwareDetected &&
        it.hasEnrolledFingerprints()
    }
}

private fun isUsable(answer: Int?): Boolean? = when (answer) {
  BiometricManager.BIOMETRIC_SUCCESS -> true

  BiometricManager.BIOMETRIC_ERROR_NO_HARDWARE,
  BiometricManager.BIOMETRIC_ERROR_HW_UNAVAILABLE,
  BiometricManager.BIOMETRIC_ERROR_NONE_ENROLLED,
  BiometricManager.BIOMETRIC_ERROR_SECURITY_UPDATE_REQUIRED -> false

  else -> null
}
