#import "Screens.h"

#import "Values.h"

namespace drs {

namespace {

struct Feature {
  NSString *__unsafe_unretained name;
  BOOL (*isOn)(void);
};

bool isMirrored() {
  for (UIScreen *screen in UIScreen.screens) {
    if (screen.mirroredScreen == UIScreen.mainScreen) return true;
  }
  return false;
}

}  // namespace

void readScreenUse(DRSReading *reading) {
  [reading field:@"isScreenCaptured" read:^{ return boolean(UIScreen.mainScreen.isCaptured); }];
  [reading field:@"isScreenMirrored" read:^{ return boolean(isMirrored()); }];
  [reading field:@"accessibilityRunning"
            read:^{ return boolean(UIAccessibilityIsVoiceOverRunning() || UIAccessibilityIsSwitchControlRunning()); }];
}

NSArray<NSString *> *accessibilityFeatures() {
  const Feature features[] = {
      {@"voice_over", UIAccessibilityIsVoiceOverRunning},
      {@"switch_control", UIAccessibilityIsSwitchControlRunning},
      {@"assistive_touch", UIAccessibilityIsAssistiveTouchRunning},
      {@"guided_access", UIAccessibilityIsGuidedAccessEnabled},
      {@"mono_audio", UIAccessibilityIsMonoAudioEnabled},
      {@"closed_captioning", UIAccessibilityIsClosedCaptioningEnabled},
      {@"speak_selection", UIAccessibilityIsSpeakSelectionEnabled},
      {@"speak_screen", UIAccessibilityIsSpeakScreenEnabled},
      {@"invert_colors", UIAccessibilityIsInvertColorsEnabled},
      {@"grayscale", UIAccessibilityIsGrayscaleEnabled},
      {@"darker_system_colors", UIAccessibilityDarkerSystemColorsEnabled},
      {@"reduce_transparency", UIAccessibilityIsReduceTransparencyEnabled},
      {@"reduce_motion", UIAccessibilityIsReduceMotionEnabled},
      {@"prefers_cross_fade_transitions", UIAccessibilityPrefersCrossFadeTransitions},
      {@"bold_text", UIAccessibilityIsBoldTextEnabled},
      {@"button_shapes", UIAccessibilityButtonShapesEnabled},
      {@"on_off_switch_labels", UIAccessibilityIsOnOffSwitchLabelsEnabled},
      {@"differentiate_without_color", UIAccessibilityShouldDifferentiateWithoutColor},
  };
  NSMutableArray<NSString *> *on = [NSMutableArray array];
  for (const auto &feature : features) {
    if (feature.isOn()) [on addObject:feature.name];
  }
  return on;
}

}  // namespace drs
