package io.devicerisksignals

import com.facebook.react.BaseReactPackage
import com.facebook.react.bridge.NativeModule
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.module.model.ReactModuleInfo
import com.facebook.react.module.model.ReactModuleInfoProvider

/** The package that autolinking adds to the host app. It makes the module when JavaScript first uses it. */
class DeviceRiskSignalsPackage : BaseReactPackage() {
  override fun getModule(name: String, reactContext: ReactApplicationContext): NativeModule? =
    if (name == NativeDeviceRiskSignalsSpec.NAME) DeviceRiskSignalsModule(reactContext) else null

  override fun getReactModuleInfoProvider() = ReactModuleInfoProvider {
    mapOf(
      NativeDeviceRiskSignalsSpec.NAME to
        ReactModuleInfo(
          name = NativeDeviceRiskSignalsSpec.NAME,
          className = DeviceRiskSignalsModule::class.java.name,
          canOverrideExistingModule = false,
          needsEagerInit = false,
          isCxxModule = false,
          isTurboModule = true
        )
    )
  }
}
