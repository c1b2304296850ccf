package io.devicerisksignals.platform

/**
 * Marks a class that calls API newer than API 34, the list of public API that the build checks against. These
 * calls were verified by hand to be public.
 */
@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.CLASS)
internal annotation class NewerThanChecked
