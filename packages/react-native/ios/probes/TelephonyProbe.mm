#import <CoreTelephony/CTCarrier.h>
#import <CoreTelephony/CTTelephonyNetworkInfo.h>

#import "../core/Texts.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

/** The carrier for data, or the only carrier. */
CTCarrier *carrierOf(CTTelephonyNetworkInfo *info) {
  NSDictionary<NSString *, CTCarrier *> *carriers = info.serviceSubscriberCellularProviders;
  NSString *service = info.dataServiceIdentifier;
  if (service != nil && carriers[service] != nil) return carriers[service];
  return carriers.count == 1 ? carriers.allValues.firstObject : nil;
}

NSString *unlessPlaceholder(NSString *value) {
  NSString *known = text(value);
  return known == nil || isCarrierPlaceholder(bytesOf(known)) ? nil : known;
}

}  // namespace

void readTelephony(DRSReading *reading) {
  CTTelephonyNetworkInfo *info = [[CTTelephonyNetworkInfo alloc] init];
  // Without a registered plan (flight mode, no SIM, an iPad) the dictionary is empty. The count is then unknown, and
  // not 0.
  [reading field:@"simCount"
            read:^{
              const NSUInteger count = info.serviceCurrentRadioAccessTechnology.count;
              return count == 0 ? nil : number(count);
            }];
  CTCarrier *carrier = carrierOf(info);
  if (carrier == nil) return;
  [reading field:@"networkOperatorName" read:^{ return unlessPlaceholder(carrier.carrierName); }];
  [reading field:@"networkCountryIso" read:^{ return unlessPlaceholder(carrier.isoCountryCode); }];
  [reading field:@"carrierMobileCountryCode" read:^{ return unlessPlaceholder(carrier.mobileCountryCode); }];
  [reading field:@"carrierMobileNetworkCode" read:^{ return unlessPlaceholder(carrier.mobileNetworkCode); }];
  [reading field:@"carrierAllowsVoip"
            read:^{ return unlessPlaceholder(carrier.mobileCountryCode) == nil ? nil : boolean(carrier.allowsVOIP); }];
}

}  // namespace drs
