package io.devicerisksignals.probes

import android.os.Build
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api29
import io.devicerisksignals.platform.sha256

internal fun fonts(scope: CallScope): Fields = mapOf(
  "fontsDigest" to {
    val names =
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) Api29.fontFileNames() else scope.files.names("system/fonts")
    names.distinct().sorted().ifEmpty { null }?.let { sha256(it.joinToString("\n").toByteArray()) }
  }
)
