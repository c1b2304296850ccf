#import <Foundation/Foundation.h>

#import "../core/Texts.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

/** In a template, `j` means the hour in the form that the user prefers. */
NSNumber *uses24HourClock(NSLocale *locale) {
  NSString *pattern = [NSDateFormatter dateFormatFromTemplate:@"j" options:0 locale:locale];
  return pattern == nil ? nil : boolean(shows24Hours(bytesOf(pattern)));
}

NSString *measurementSystem(NSLocale *locale) {
  NSString *label = text([locale objectForKey:NSLocaleMeasurementSystem]);
  return label == nil ? nil : text(measurementSystemName(bytesOf(label)));
}

}  // namespace

void readLocale(DRSReading *reading) {
  NSLocale *locale = NSLocale.currentLocale;
  NSCalendar *calendar = NSCalendar.currentCalendar;
  NSTimeZone *zone = NSTimeZone.systemTimeZone;
  [reading field:@"language" read:^{ return text(locale.languageCode); }];
  [reading field:@"languages" read:^{ return NSLocale.preferredLanguages; }];
  [reading field:@"country" read:^{ return text(locale.countryCode); }];
  [reading field:@"timezoneId" read:^{ return text(zone.name); }];
  [reading field:@"timezoneOffsetMinutes" read:^{ return number(static_cast<double>(zone.secondsFromGMT) / 60); }];
  [reading field:@"uses24HourClock" read:^{ return uses24HourClock(locale); }];
  [reading field:@"calendar" read:^{ return text(locale.calendarIdentifier); }];
  [reading field:@"firstDayOfWeek" read:^{ return number(calendar.firstWeekday); }];
  [reading field:@"currencyCode" read:^{ return text(locale.currencyCode); }];
  [reading field:@"decimalSeparator" read:^{ return text(locale.decimalSeparator); }];
  [reading field:@"groupingSeparator" read:^{ return text(locale.groupingSeparator); }];
  [reading field:@"measurementSystem" read:^{ return measurementSystem(locale); }];
}

}  // namespace drs
