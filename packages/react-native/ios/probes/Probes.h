#pragma once

#import "Reading.h"

NS_ASSUME_NONNULL_BEGIN

namespace drs {

/** The parts of a probe, either of which may be missing. */
struct Probe {
  using Part = void (*)(DRSReading *);

  /** What must be read on the main thread (UIKit), in one go and before the rest. */
  Part onMain = nullptr;
  Part onQueue = nullptr;
};

/** @return neither part when iOS has no such probe. */
Probe findProbe(NSString *name);

void readDeviceIdentityOnMain(DRSReading *reading);
void readDeviceIdentity(DRSReading *reading);
void readHardwareOnMain(DRSReading *reading);
void readHardware(DRSReading *reading);
void readFonts(DRSReading *reading);
void readOsIntegrity(DRSReading *reading);
void readForkTest(DRSReading *reading);
void readNetwork(DRSReading *reading);
void readTelephony(DRSReading *reading);
void readLocale(DRSReading *reading);
void readGeolocationOnMain(DRSReading *reading);
void readGeolocation(DRSReading *reading);
void readMediaOnMain(DRSReading *reading);
void readMedia(DRSReading *reading);
void readGpuBenchmarkOnMain(DRSReading *reading);
void readGpuBenchmark(DRSReading *reading);
void readAudioLatency(DRSReading *reading);
void readApplication(DRSReading *reading);
void readSecurityPostureOnMain(DRSReading *reading);
void readSecurityPosture(DRSReading *reading);
void readTransactionSafetyOnMain(DRSReading *reading);
void readRuntimeTiming(DRSReading *reading);

/** The sources of the interface: any probe may ask for any of them. */
void gatherOnMain(DRSReading *reading);
void gather(DRSReading *reading);

}  // namespace drs

NS_ASSUME_NONNULL_END
