package io.devicerisksignals.sources

import io.devicerisksignals.call.CallScope

/**
 * Determines which properties this app may read.
 *
 * The system keeps properties in files of `/dev/__properties__`, one for each SELinux context. An index
 * (`property_info`, from API 28 on) maps each property to its context. A property in a file that this app may not open
 * looks as if it were not set.
 */
internal class PropertyAccess(private val index: PropertyIndex, private val isFileReadable: (String) -> Boolean?) {
  /** Whether a property that looks as if it were not set is indeed not set. */
  fun isReadable(name: String): Boolean = index.contextOf(name)?.let(isFileReadable) == true

  companion object {
    private const val FOLDER = "dev/__properties__"
    private const val INDEX_BYTES = 1024 * 1024

    /**
     * @throws java.io.IOException if there is no index, because then it is unknown which properties this app may read.
     */
    fun of(scope: CallScope): PropertyAccess {
      val index = PropertyIndex(scope.files.bytes("$FOLDER/property_info", INDEX_BYTES, scope.token))
      return PropertyAccess(index) { context -> scope.files.isReadable("$FOLDER/$context") }
    }
  }
}
