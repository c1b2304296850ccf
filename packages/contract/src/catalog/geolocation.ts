import { boolean, number, type Permission, type Probe, string } from "./declare.ts";
import { POSITION } from "./disclosure.ts";

const LOCATION: Permission = { android: "ACCESS_COARSE_LOCATION", ios: "location authorisation" };
const LOCATION_ANDROID: Permission = { android: "ACCESS_COARSE_LOCATION" };
const LOCATION_IOS: Permission = { ios: "location authorisation" };

export const geolocation: Probe = {
  id: "geolocation",
  title: "Geolocation",
  meaning:
    "A position the platform already has or gives under a permission granted before; the SDK never asks the user for one.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: POSITION,
  fields: {
    authorizationStatus: string(
      "What the app is allowed to learn of the location; Android does not distinguish a denial from a request that was never made.",
      {
        sensitivity: "medium",
        values: {
          android: ["denied", "coarse", "fine"],
          ios: ["not_determined", "restricted", "denied", "authorized_when_in_use", "authorized_always"],
        },
      },
    ),
    hasCoarsePermission: boolean("The app may read at least an approximate location; false means not granted.", {
      sensitivity: "medium",
    }),
    locationServicesEnabled: boolean(
      "Location is switched on for the whole device, independent of this app's permission.",
      {
        sensitivity: "medium",
      },
    ),
    gnssSupported: boolean(
      "The device has satellite positioning hardware; false means that the SDK looked and found none.",
      {
        on: "android",
      },
    ),

    latitude: number(
      "degrees",
      "Latitude of the last known position, north positive; coarse if only coarse is granted.",
      {
        sensitivity: "high",
        permission: LOCATION,
        range: { min: -90, max: 90 },
      },
    ),
    longitude: number(
      "degrees",
      "Longitude of the last known position, east positive; coarse if only coarse is granted.",
      {
        sensitivity: "high",
        permission: LOCATION,
        range: { min: -180, max: 180 },
      },
    ),
    accuracyMeters: number("m", "Radius of horizontal uncertainty as the platform estimates it.", {
      sensitivity: "high",
      permission: LOCATION,
    }),
    altitudeMeters: number("m", "Altitude of the position; absent when the platform has none.", {
      sensitivity: "high",
      permission: LOCATION,
      range: {},
    }),
    locationAgeMs: number(
      "ms",
      "Age of the position when it was read; an old one says little about the present. Negative on iOS where the clock was set back.",
      {
        sensitivity: "high",
        permission: LOCATION,
        range: {},
      },
    ),
    provider: string("Location.getProvider: the source of the position, such as gps, network or fused.", {
      on: "android",
      sensitivity: "high",
      permission: LOCATION_ANDROID,
      raw: true,
    }),
    isFromMockProvider: boolean(
      "Location.isMock (isFromMockProvider before API 31): the system marks the position as mocked.",
      {
        on: "android",
        sensitivity: "high",
        permission: LOCATION_ANDROID,
      },
    ),
    isSimulatedBySoftware: boolean(
      "CLLocationSourceInformation.isSimulatedBySoftware (iOS 15 and later): software made up the position.",
      {
        on: "ios",
        sensitivity: "high",
        permission: LOCATION_IOS,
      },
    ),
    isProducedByAccessory: boolean(
      "CLLocationSourceInformation.isProducedByAccessory (iOS 15 and later): an accessory supplied it.",
      {
        on: "ios",
        sensitivity: "high",
        permission: LOCATION_IOS,
      },
    ),
    mockLocationAppsFound: boolean(
      "An app that can mock the location is installed. Never filled: would need to list all packages.",
      {
        on: "never",
        sensitivity: "high",
      },
    ),
  },
};
