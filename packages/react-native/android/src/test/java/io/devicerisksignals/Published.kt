package io.devicerisksignals

import java.io.File
import org.json.JSONArray
import org.json.JSONObject

/**
 * The schemas of all published fields, also of fields that only iOS fills:
 * probe → field → schema.
 */
internal val PUBLISHED: Map<String, Map<String, JSONObject>> by lazy {
  val schema = JSONObject(File(System.getProperty("event.schema").orEmpty()).readText())
  val probes = schema.getJSONObject("properties").getJSONObject("probes").getJSONObject("properties")
  members(probes).mapValues { (_, probe) ->
    val success = probe.getJSONArray("oneOf").getJSONObject(0).getJSONObject("properties")
    members(success.getJSONObject("data").getJSONObject("properties"))
  }
}

internal fun JSONArray?.texts(): List<String> = this?.let { all -> List(all.length(), all::getString) }.orEmpty()

/** All values of a field on Android. */
internal fun vocabulary(probe: String, field: String): Set<String> =
  PUBLISHED.getValue(probe).getValue(field).getJSONObject("x-values").getJSONArray("android").texts().toSet()

/** Whether a value is published. For a list each item must be published, and for an object each member. */
internal fun isPublished(value: Any?, field: JSONObject): Boolean = when (value) {
  is List<*> -> value.all { isPublished(it, field) }

  is Map<*, *> -> value.all { (name, member) ->
    isPublished(member, field.getJSONObject("properties").getJSONObject(name as String))
  }

  is String -> isWord(value, field)

  is Double -> isWithin(value, field.optJSONObject("x-range")?.optJSONObject("android") ?: JSONObject())

  else -> true
}

private fun isWord(value: String, field: JSONObject): Boolean {
  val values = field.optJSONObject("x-values")?.optJSONArray("android")
  val pattern = field.optString("x-pattern")
  return (values == null || value in values.texts()) && Regex(pattern).containsMatchIn(value)
}

private fun isWithin(value: Double, range: JSONObject): Boolean {
  val min = range.optDouble("min", Double.NEGATIVE_INFINITY)
  val max = range.optDouble("max", Double.POSITIVE_INFINITY)
  return value in min..max && (!range.optBoolean("integer") || value % 1 == 0.0)
}

private fun members(value: JSONObject): Map<String, JSONObject> =
  value.keys().asSequence().associateWith(value::getJSONObject)
