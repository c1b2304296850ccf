#!/usr/bin/env bash
# Builds the app with Xcode and starts it on a new simulator. Fails if the app ends within 20 seconds. Needs macOS, and
# the files that `expo prebuild` and `pod install` have made.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=com.example.devicerisksignals
runtime=$(xcrun simctl list runtimes ios --json | jq --raw-output '[.runtimes[] | select(.isAvailable)][-1].identifier')
device=$(xcrun simctl create inspector "iPhone 16" "$runtime")
trap 'xcrun simctl delete "$device"' EXIT

xcodebuild -workspace ios/*.xcworkspace -scheme "$(basename ios/*.xcworkspace .xcworkspace)" -configuration Release \
  -destination "id=$device" -derivedDataPath ios/build -quiet CODE_SIGNING_ALLOWED=NO build

xcrun simctl boot "$device"
xcrun simctl bootstatus "$device"
xcrun simctl install "$device" ios/build/Build/Products/Release-iphonesimulator/*.app
process=$(xcrun simctl launch "$device" "$bundle" | awk '{ print $2 }')
sleep 20
kill -0 "$process"
