package io.devicerisksignals.platform

import android.content.ContentProvider
import android.content.ContentValues
import android.database.Cursor
import android.database.MatrixCursor
import android.net.Uri
import android.provider.Settings
import io.devicerisksignals.application
import io.devicerisksignals.ask
import io.devicerisksignals.moduleOf
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner

@RunWith(RobolectricTestRunner::class)
class SettingsTableTest {
  private val resolver = application.contentResolver

  @Test
  fun `a setting that was set is read`() {
    Settings.Global.putInt(resolver, Settings.Global.AUTO_TIME, 0)
    assertEquals(Setting.Value("0"), SettingsTable.GLOBAL.read(resolver, Settings.Global.AUTO_TIME))
    assertEquals(false, SettingsTable.GLOBAL.isOn(resolver, Settings.Global.AUTO_TIME))
  }

  @Test
  fun `a setting that was never set is reported as not set, and not as off`() {
    Robolectric.setupContentProvider(EmptySettings::class.java, "settings")
    assertEquals(Setting.NotSet, SettingsTable.GLOBAL.read(resolver, Settings.Global.AUTO_TIME))
    assertNull(SettingsTable.GLOBAL.isOn(resolver, Settings.Global.AUTO_TIME))
  }

  @Test
  fun `a setting that can't be read is unknown`() {
    assertThrows(RuntimeException::class.java) {
      SettingsTable.SECURE.read(resolver, Settings.Secure.ENABLED_ACCESSIBILITY_SERVICES)
    }
  }

  @Test
  fun `developer options that were never enabled are off, and unreadable ones are unknown`() {
    val asked = listOf("developerModeEnabled")
    assertEquals(emptyMap<String, Any>(), moduleOf().ask("os_integrity", asked).fields)
    Robolectric.setupContentProvider(EmptySettings::class.java, "settings")
    assertEquals(mapOf("developerModeEnabled" to false), moduleOf().ask("os_integrity", asked).fields)
    Settings.Global.putInt(resolver, Settings.Global.DEVELOPMENT_SETTINGS_ENABLED, 1)
    assertEquals(mapOf("developerModeEnabled" to true), moduleOf().ask("os_integrity", asked).fields)
  }

  @Test
  fun `accessibility services that can't be listed are absent, and not an empty list`() {
    val asked = listOf("enabledAccessibilityServices")
    assertEquals(emptyMap<String, Any>(), moduleOf().ask("media_bluetooth_apps", asked).fields)
    Robolectric.setupContentProvider(EmptySettings::class.java, "settings")
    assertEquals(
      mapOf("enabledAccessibilityServices" to emptyList<String>()),
      moduleOf().ask("media_bluetooth_apps", asked).fields
    )
    Settings.Secure.putString(resolver, Settings.Secure.ENABLED_ACCESSIBILITY_SERVICES, "a.b/.One:c.d/.Two")
    assertEquals(
      mapOf("enabledAccessibilityServices" to listOf("a.b/.One", "c.d/.Two")),
      moduleOf().ask("media_bluetooth_apps", asked).fields
    )
  }
}

/** A provider that exists and has no row. */
class EmptySettings : ContentProvider() {
  override fun onCreate() = true

  override fun query(uri: Uri, p: Array<String>?, s: String?, a: Array<String>?, o: String?): Cursor =
    MatrixCursor(arrayOf("value"))

  override fun getType(uri: Uri): String? = null

  override fun insert(uri: Uri, values: ContentValues?): Uri? = null

  override fun delete(uri: Uri, selection: String?, selectionArgs: Array<String>?) = 0

  override fun update(uri: Uri, values: ContentValues?, selection: String?, selectionArgs: Array<String>?) = 0
}
