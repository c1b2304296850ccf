package io.devicerisksignals.platform

import android.content.ContentResolver
import android.net.Uri
import android.provider.Settings

/** A setting as the provider has it: one that was never set is not one that could not be read. */
internal sealed interface Setting {
  data class Value(val text: String) : Setting

  data object NotSet : Setting
}

/** The tables of settings, with the two reads that distinguish a missing row from a failed look-up. */
internal enum class SettingsTable(private val read: (ContentResolver, String) -> String?, private val uri: Uri) {
  GLOBAL(Settings.Global::getString, Settings.Global.CONTENT_URI),
  SECURE(Settings.Secure::getString, Settings.Secure.CONTENT_URI);

  /**
   * Reads a setting. `getString` answers null for a missing row and for a provider out of reach alike, so that a null
   * is looked at once more.
   *
   * @throws RuntimeException when the setting can't be read.
   */
  fun read(resolver: ContentResolver, name: String): Setting {
    read.invoke(resolver, name)?.let { return Setting.Value(it) }
    val rows = resolver.query(Uri.withAppendedPath(uri, name), arrayOf(Settings.NameValueTable.VALUE), null, null, null)
    return checkNotNull(rows).use { row ->
      val text = if (row.moveToFirst()) row.getString(0) else null
      if (text == null) Setting.NotSet else Setting.Value(text)
    }
  }

  /** Whether a switch is on; null where it was never set. */
  fun isOn(resolver: ContentResolver, name: String): Boolean? = when (val setting = read(resolver, name)) {
    is Setting.Value -> setting.text.toInt() != 0
    Setting.NotSet -> null
  }
}
