package io.devicerisksignals

import io.devicerisksignals.probes.BIOMETRY
import io.devicerisksignals.probes.TRANSPORTS
import io.devicerisksignals.probes.WIFI_SECURITY_TYPES
import io.devicerisksignals.probes.audioModeName
import io.devicerisksignals.probes.authorizationName
import io.devicerisksignals.probes.biometryName
import io.devicerisksignals.probes.dataStateName
import io.devicerisksignals.probes.healthName
import io.devicerisksignals.probes.orientationName
import io.devicerisksignals.probes.phoneTypeName
import io.devicerisksignals.probes.powerSourceName
import io.devicerisksignals.probes.routeName
import io.devicerisksignals.probes.simStateName
import io.devicerisksignals.probes.sourceName
import io.devicerisksignals.probes.stateName
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner

/** Each closed vocabulary contains exactly the values that the Android half can report. */
@RunWith(RobolectricTestRunner::class)
class VocabulariesTest {
  @Test
  fun `constants of the platform have the published names`() {
    mapOf<Pair<String, String>, (Int) -> String?>(
      ("hardware" to "batteryState") to ::stateName,
      ("hardware" to "batteryHealth") to ::healthName,
      ("hardware" to "powerSource") to ::powerSourceName,
      ("hardware" to "screenOrientation") to ::orientationName,
      ("telephony" to "phoneType") to ::phoneTypeName,
      ("telephony" to "simState") to ::simStateName,
      ("telephony" to "dataState") to ::dataStateName,
      ("transaction_safety" to "audioMode") to ::audioModeName,
      ("application" to "installPackageSource") to ::sourceName,
      ("media_bluetooth_apps" to "audioOutputRoute") to ::routeName
    ).forEach { (field, nameOf) ->
      assertEquals(field.toString(), vocabulary(field.first, field.second), CONSTANTS.mapNotNull(nameOf).toSet())
    }
  }

  @Test
  fun `names that are no constants of the platform are also published`() {
    assertEquals(vocabulary("network", "connectionType"), TRANSPORTS.values.toSet())
    assertEquals(vocabulary("network", "networkTransportTypes"), TRANSPORTS.values.toSet())
    assertEquals(vocabulary("network", "wifiSecurityType"), WIFI_SECURITY_TYPES.values.toSet())
    val kinds = BIOMETRY.keys.map(::setOf) + listOf(emptySet(), BIOMETRY.keys)
    assertEquals(vocabulary("device_security_posture", "biometryType"), kinds.map(::biometryName).toSet())
    val granted = listOf(false to false, false to true, true to true)
    assertEquals(
      vocabulary("geolocation", "authorizationStatus"),
      granted.map { (fine, coarse) -> authorizationName(fine, coarse) }.toSet()
    )
  }

  @Test
  fun `a value that is not published is detected`() {
    val word = JSONObject("""{"x-values": {"android": ["wifi"]}}""")
    assertTrue(isPublished("wifi", word))
    assertFalse(isPublished("WIFI", word))
    assertFalse(isPublished(listOf("wifi", ""), word))
    assertFalse(isPublished("ABC", JSONObject("""{"x-pattern": "^[a-f]*$"}""")))
    val range = JSONObject("""{"x-range": {"android": {"min": 0, "integer": true}}}""")
    assertTrue(isPublished(7.0, range))
    assertFalse(isPublished(-1.0, range))
    assertFalse(isPublished(0.5, range))
  }

  private companion object {
    /** Every family of constants that this test reads is within this range. */
    val CONSTANTS = -1..64
  }
}
