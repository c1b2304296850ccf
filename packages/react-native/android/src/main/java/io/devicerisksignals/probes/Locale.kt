package io.devicerisksignals.probes

import android.os.LocaleList
import android.text.format.DateFormat
import android.view.inputmethod.InputMethodManager
import android.view.inputmethod.InputMethodSubtype
import io.devicerisksignals.call.CallScope
import java.text.DecimalFormatSymbols
import java.util.Calendar
import java.util.Currency
import java.util.Locale
import java.util.TimeZone

private const val MS_PER_MINUTE = 60_000

internal fun locale(scope: CallScope): Fields {
  val symbols = Once { DecimalFormatSymbols.getInstance() }
  return mapOf(
    "language" to { Locale.getDefault().language.ifEmpty { null } },
    "languages" to { LocaleList.getDefault().let { all -> List(all.size()) { all[it].toLanguageTag() } } },
    "keyboardLanguages" to { keyboardLanguages(scope) },
    "country" to { Locale.getDefault().country.ifEmpty { null } },
    "timezoneId" to { TimeZone.getDefault().id },
    "timezoneOffsetMinutes" to { TimeZone.getDefault().getOffset(System.currentTimeMillis()) / MS_PER_MINUTE },
    "uses24HourClock" to { DateFormat.is24HourFormat(scope.context) },
    "firstDayOfWeek" to { Calendar.getInstance().firstDayOfWeek },
    "currencyCode" to { Currency.getInstance(Locale.getDefault())?.currencyCode },
    "decimalSeparator" to { symbols.value.decimalSeparator.toString() },
    "groupingSeparator" to { symbols.value.groupingSeparator.toString() }
  )
}

/** Null, and not an empty list, if the system shows this app no keyboard at all. */
private fun keyboardLanguages(scope: CallScope): List<String>? {
  val inputs = scope.service<InputMethodManager>()
  return inputs.enabledInputMethodList.ifEmpty { null }
    ?.flatMap { method -> inputs.getEnabledInputMethodSubtypeList(method, true) }
    ?.filter { it.mode == "keyboard" }
    ?.map(::languageOf)
    ?.filter(String::isNotEmpty)
    ?.distinct()
}

private fun languageOf(subtype: InputMethodSubtype): String {
  @Suppress("DEPRECATION")
  return subtype.languageTag.ifEmpty { subtype.locale.replace('_', '-') }
}
