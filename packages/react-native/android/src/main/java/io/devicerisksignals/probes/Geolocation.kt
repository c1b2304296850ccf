package io.devicerisksignals.probes

import android.Manifest
import android.annotation.SuppressLint
import android.content.Context
import android.content.pm.PackageManager
import android.location.Location
import android.location.LocationManager
import android.os.Build
import android.os.SystemClock
import android.provider.Settings
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.Lack
import io.devicerisksignals.call.Unavailable
import io.devicerisksignals.platform.Api28
import io.devicerisksignals.platform.Api31
import java.util.concurrent.TimeUnit

/**
 * Reads positions that the system already has, with a permission that the app already has. The SDK requests no
 * permission.
 */
internal fun geolocation(scope: CallScope): Fields {
  val fine = Once { isGranted(scope.context, Manifest.permission.ACCESS_FINE_LOCATION) }
  val coarse = Once { fine.value || isGranted(scope.context, Manifest.permission.ACCESS_COARSE_LOCATION) }
  return mapOf(
    "authorizationStatus" to { authorizationName(fine.value, coarse.value) },
    "hasCoarsePermission" to { coarse.value },
    "locationServicesEnabled" to { locationServicesEnabled(scope) },
    "gnssSupported" to { scope.context.packageManager.hasSystemFeature(PackageManager.FEATURE_LOCATION_GPS) }
  ) + position(Once { if (coarse.value) lastKnown(scope) else throw Unavailable(Lack.PERMISSION) })
}

internal fun authorizationName(fine: Boolean, coarse: Boolean): String = when {
  fine -> "fine"
  coarse -> "coarse"
  else -> "denied"
}

private fun position(last: Once<Location?>): Fields = fieldsOf(
  last,
  "latitude" to { this?.latitude },
  "longitude" to { this?.longitude },
  "accuracyMeters" to { this?.takeIf(Location::hasAccuracy)?.accuracy },
  "altitudeMeters" to { this?.takeIf(Location::hasAltitude)?.altitude },
  "locationAgeMs" to { this?.let { SystemClock.elapsedRealtime() - elapsedRealtimeMs(it) } },
  "provider" to { this?.provider },
  "isFromMockProvider" to { this?.let(::isMock) }
)

/** The most recent of the last known positions of all enabled providers. */
@SuppressLint("MissingPermission")
private fun lastKnown(scope: CallScope): Location? {
  val locations = scope.service<LocationManager>()
  return locations.getProviders(true)
    .mapNotNull { provider -> scope.token.attempt { locations.getLastKnownLocation(provider) } }
    .maxByOrNull(Location::getElapsedRealtimeNanos)
}

private fun isGranted(context: Context, permission: String): Boolean =
  context.checkSelfPermission(permission) == PackageManager.PERMISSION_GRANTED

private fun locationServicesEnabled(scope: CallScope): Boolean = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) {
  Api28.isLocationEnabled(scope.service())
} else {
  @Suppress("DEPRECATION")
  Settings.Secure.getInt(scope.context.contentResolver, Settings.Secure.LOCATION_MODE) !=
    Settings.Secure.LOCATION_MODE_OFF
}

private fun elapsedRealtimeMs(location: Location): Long = TimeUnit.NANOSECONDS.toMillis(location.elapsedRealtimeNanos)

private fun isMock(location: Location): Boolean = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) {
  Api31.isMock(location)
} else {
  @Suppress("DEPRECATION")
  location.isFromMockProvider
}
