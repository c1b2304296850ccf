import { category, feature, field, whenObserved } from "@device-risk-signals/features";
import { compareCountries } from "./compare-countries.ts";

export const simAndNetworkCountry = feature({
  id: "sim_and_network_country",
  version: 2,
  owner: "fraud team",
  meaning: "Whether the country of the SIM is that of the mobile network",
  falseReadings: [
    "Roaming: a person travels, or lives near a border",
    "Some travel SIMs carry the country of their operator, not of the person",
  ],
  purposes: ["payments"],
  inputs: {
    sim: field("telephony.simCountryIso"),
    network: field("telephony.networkCountryIso"),
  },
  output: category(["same", "different", "unnamed"]),
  compute: ({ sim, network }) => whenObserved([sim, network], compareCountries),
  fixtures: "./sim-and-network-country.fixtures.json",
});
