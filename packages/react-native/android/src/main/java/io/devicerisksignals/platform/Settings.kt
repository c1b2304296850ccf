package io.devicerisksignals.platform

import android.content.ContentResolver
import android.net.Uri
import android.provider.Settings

/**
 * The value of a setting as the provider has it. A setting that was never set differs from a setting that could not be
 * read.
 */
internal sealed interface Setting {
  data class Value(val text: String) : Setting

  data object NotSet : Setting
}

/** The tables of settings. Each has two reads, which together distinguish a missing row from a failed read. */
internal enum class SettingsTable(private val read: (ContentResolver, String) -> String?, private val uri: Uri) {
  GLOBAL(Settings.Global::getString, Settings.Global.CONTENT_URI),
  SECURE(Settings.Secure::getString, Settings.Secure.CONTENT_URI);

  /**
   * Reads a setting. `getString` returns null both for a missing row and for a provider that can't be reached, so a
   * second read follows a null.
   *
   * @throws RuntimeException if the setting can't be read.
   */
  fun read(resolver: ContentResolver, name: String): Setting {
    read.invoke(resolver, name)?.let { return Setting.Value(it) }
    val rows = resolver.query(Uri.withAppendedPath(uri, name), arrayOf(Settings.NameValueTable.VALUE), null, null, null)
    return checkNotNull(rows).use { row ->
      val text = if (row.moveToFirst()) row.getString(0) else null
      if (text == null) Setting.NotSet else Setting.Value(text)
    }
  }

  /** Whether a switch is on; null if it was never set. */
  fun isOn(resolver: ContentResolver, name: String): Boolean? = when (val setting = read(resolver, name)) {
    is Setting.Value -> setting.text.toInt() != 0
    Setting.NotSet -> null
  }
}
