package io.devicerisksignals.probes

import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.sha256

private const val SYSTEM_FONTS = "system/fonts"
private const val PRODUCT_FONTS = "product/fonts"

/** Reads the names of the files and not their content, because parsing each font takes seconds on slow devices. */
internal fun fonts(scope: CallScope): Fields = mapOf(
  "fontsDigest" to {
    fontFileNames(scope)?.distinct()?.sorted()?.ifEmpty { null }?.let { sha256(it.joinToString("\n").toByteArray()) }
  }
)

/**
 * Lists the font files. Null if it is unknown whether the folder of product fonts exists, because a digest over only a
 * part of the files would differ.
 */
private fun fontFileNames(scope: CallScope): List<String>? = when (scope.files.exists(PRODUCT_FONTS)) {
  true -> scope.files.names(SYSTEM_FONTS) + scope.files.names(PRODUCT_FONTS)
  false -> scope.files.names(SYSTEM_FONTS)
  null -> null
}
