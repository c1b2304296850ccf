package io.devicerisksignals.platform

/**
 * Marks a class whose calls are newer than the list of public API that the build checks against (API 34). That they
 * are public was looked up by hand.
 */
@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.CLASS)
internal annotation class NewerThanChecked
