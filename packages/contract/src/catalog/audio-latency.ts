import { boolean, number, type Probe } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const audioLatency: Probe = {
  id: "audio_latency",
  title: "Audio latency",
  meaning: "Delays and buffer sizes of the audio path. Nothing is recorded and no microphone permission is used.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: DIAGNOSTICS,
  performed: { field: "measured" },
  fields: {
    measured: boolean("The audio path was examined; false means that it was not, and then no other field is present.", {
      required: true,
    }),
    outputLatencyMs: number(
      "ms",
      "Delay of the output. iOS: AVAudioSession.outputLatency, which depends on the route. Android: how long one native buffer plays (framesPerBuffer over nativeSampleRate), which is the least that the delay can be.",
      {
        sensitivity: "medium",
      },
    ),
    inputLatencyMs: number("ms", "AVAudioSession.inputLatency: stated delay from microphone to app.", {
      on: "ios",
      sensitivity: "medium",
    }),
    ioBufferDurationMs: number("ms", "AVAudioSession.IOBufferDuration: length of the current audio buffer.", {
      on: "ios",
      sensitivity: "medium",
    }),
    framesPerBuffer: number(
      "count",
      "AudioManager.PROPERTY_OUTPUT_FRAMES_PER_BUFFER: frames in the native output buffer.",
      { on: "android" },
    ),
    nativeSampleRate: number(
      "Hz",
      "Sample rate of the output: AudioManager.PROPERTY_OUTPUT_SAMPLE_RATE or AVAudioSession.sampleRate.",
    ),
  },
};
