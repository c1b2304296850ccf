package io.devicerisksignals.platform

/**
 * Marks a class that calls API newer than API 34. The build checks calls against the list of the public API of API 34.
 * That the marked calls are public was verified by hand.
 */
@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.CLASS)
internal annotation class NewerThanChecked
