#pragma once

#import "Reading.h"

NS_ASSUME_NONNULL_BEGIN

namespace drs {

/** The parts of a probe. Either of them may be missing. */
struct Probe {
  using Part = void (*)(DRSReading *);

  /** Reads what must be read on the main thread (UIKit). It runs once, before the other part. */
  Part onMain = nullptr;
  Part onQueue = nullptr;
};

/** @return a probe without parts if iOS has no such probe. */
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
void readTransactionSafety(DRSReading *reading);
void readRuntimeTiming(DRSReading *reading);

/** Gathers the sources of the interface. Any probe may request any of them. */
void gatherOnMain(DRSReading *reading);
void gather(DRSReading *reading);

}  // namespace drs

NS_ASSUME_NONNULL_END
