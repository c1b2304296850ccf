import { category, feature, field, whenObserved } from "@device-risk-signals/features";
import { compareCountries } from "./compare-countries.ts";

export const simAndLocaleCountry = feature({
  id: "sim_and_locale_country",
  version: 2,
  owner: "fraud team",
  meaning: "Whether the country of the SIM is that of the locale",
  falseReadings: [
    "Travellers with a local SIM, migrants and people who prefer another region",
    "A tablet or a phone without a SIM has no country of a SIM",
  ],
  purposes: ["payments"],
  inputs: {
    sim: field("telephony.simCountryIso"),
    country: field("locale.country"),
  },
  output: category(["same", "different", "unnamed"]),
  compute: ({ sim, country }) => whenObserved([sim, country], compareCountries),
  fixtures: "./sim-and-locale-country.fixtures.json",
});
