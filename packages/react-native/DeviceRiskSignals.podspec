require "json"

package = JSON.parse(File.read(File.join(__dir__, "package.json")))

Pod::Spec.new do |s|
  s.name = "DeviceRiskSignals"
  s.version = package["version"]
  s.summary = package["description"]
  s.homepage = package["homepage"] if package["homepage"]
  s.license = package["license"]
  s.authors = package["author"] if package["author"]
  s.platforms = { :ios => "15.1" }
  s.source = { :path => "." }

  s.source_files = "ios/**/*.{h,mm,cpp}", "generated/ios/**/*.{h,mm}"
  s.private_header_files = "ios/**/*.h", "generated/ios/**/*.h"
  s.resource_bundles = { "DeviceRiskSignals_privacy" => ["ios/PrivacyInfo.xcprivacy"] }
  s.frameworks = %w[AVFAudio CFNetwork CoreLocation CoreTelephony CoreText LocalAuthentication Metal Network]

  install_modules_dependencies(s)
end
