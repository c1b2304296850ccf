#import "Probes.h"

namespace drs {

namespace {

struct Entry {
  NSString *__unsafe_unretained name;
  Probe probe;
};

void readNoFields(DRSReading *) {}

}  // namespace

Probe findProbe(NSString *name) {
  const Entry entries[] = {
      {@"device_identity", {readDeviceIdentityOnMain, readDeviceIdentity}},
      {@"hardware", {readHardwareOnMain, readHardware}},
      {@"fonts", {nullptr, readFonts}},
      {@"os_integrity", {nullptr, readOsIntegrity}},
      {@"os_integrity_fork_test", {nullptr, readForkTest}},
      {@"network", {nullptr, readNetwork}},
      {@"telephony", {nullptr, readTelephony}},
      {@"locale", {nullptr, readLocale}},
      {@"geolocation", {readGeolocationOnMain, readGeolocation}},
      {@"media_bluetooth_apps", {readMediaOnMain, readMedia}},
      {@"gpu_benchmark", {readGpuBenchmarkOnMain, readGpuBenchmark}},
      {@"audio_latency", {nullptr, readAudioLatency}},
      {@"application", {nullptr, readApplication}},
      {@"device_security_posture", {readSecurityPostureOnMain, readSecurityPosture}},
      {@"transaction_safety", {readTransactionSafetyOnMain, readTransactionSafety}},
      {@"runtime_timing", {nullptr, readRuntimeTiming}},
      {@"numeric_consistency", {nullptr, readNoFields}},
  };
  for (const auto &entry : entries) {
    if ([entry.name isEqualToString:name]) return entry.probe;
  }
  return {};
}

}  // namespace drs
