#!/usr/bin/env bash
# Starts the app ($2, an APK) on a new emulator with an API level ($1). Fails if the app ends within 20 seconds. Needs
# an Android SDK in ANDROID_HOME, and KVM.
set -euo pipefail
api=$1 apk=$2
package=com.example.devicerisksignals
image="system-images;android-$api;google_apis;x86_64"
PATH="$ANDROID_HOME/cmdline-tools/latest/bin:$ANDROID_HOME/emulator:$ANDROID_HOME/platform-tools:$PATH"

yes | sdkmanager --licenses >/dev/null || true
sdkmanager --install "$image" emulator platform-tools >/dev/null
echo no | avdmanager create avd --force --name "api-$api" --package "$image"
emulator -avd "api-$api" -no-window -no-audio -no-boot-anim -no-snapshot -gpu swiftshader_indirect &
emulator=$!
trap 'kill "$emulator"' EXIT

timeout 300 adb wait-for-device
timeout 300 adb shell 'while [ "$(getprop sys.boot_completed)" != 1 ]; do sleep 1; done'
adb install "$apk"
adb logcat -c
adb shell monkey -p "$package" -c android.intent.category.LAUNCHER 1
sleep 20

if ! adb shell pidof "$package" || adb logcat -d -s AndroidRuntime:E | grep "FATAL EXCEPTION"; then
  adb logcat -d -t 500
  exit 1
fi
