import type { Bundle, ManifestInput } from "../manifest.ts";
import type { Reading } from "../reading.ts";
import type { ReadInput } from "../readings/readings.ts";
import { type Failure, type FeatureValue, type InputState, inputStateOf, type Result, sharedState } from "../result.ts";

/**
 * What the program in the sandbox (`sandbox/realm.js`) returns for one feature of one event: the value in an array,
 * `null` if the definition returned `null`, or a failure.
 */
export type Cell = readonly [FeatureValue] | null | Failure;

export interface SandboxBundle {
  readonly text: string;
  /** JSON for the program in the sandbox: the output, and for each input its name and its index among the readings. */
  readonly layout: string;
}

/**
 * Gives each input of each bundle an index into the readings of an event. Bundles that read the same input share an
 * index.
 */
export class InputLayout {
  readonly bundles: readonly SandboxBundle[];
  readonly #inputs: ManifestInput[] = [];
  readonly #places: readonly (readonly number[])[];

  constructor(bundles: readonly Bundle[]) {
    const placeByKey = new Map<string, number>();
    const placeOf = (input: ManifestInput): number => {
      const key = JSON.stringify([input.path, input.type, input.constantOn, input.performedBy]);
      const place = placeByKey.get(key) ?? this.#inputs.push(input) - 1;
      placeByKey.set(key, place);
      return place;
    };
    this.#places = bundles.map(({ manifest }) => manifest.inputs.map(placeOf));
    this.bundles = bundles.map(({ text, manifest }, at) => {
      const inputs = manifest.inputs.map(({ name }, input) => [name, this.#places[at]?.[input]]);
      return { text, layout: JSON.stringify({ output: manifest.output, inputs }) };
    });
  }

  read(event: ReadInput): readonly Reading<unknown>[] {
    return this.#inputs.map((input) => event(input));
  }

  /**
   * The results of one event.
   *
   * @param cells the cell of each bundle, at the bundle's index
   * @param features the indexes of the wanted bundles
   */
  results(
    readings: readonly Reading<unknown>[],
    cells: readonly Cell[],
    features = [...this.bundles.keys()],
  ): Result[] {
    const states = readings.map(inputStateOf);
    return features.map((feature) => {
      const places = this.#places[feature] ?? [];
      const inputs = places.map((place) => states[place] as InputState);
      return resultOf(cells[feature] ?? null, inputs, () => places.map((place) => readings[place] as Reading<unknown>));
    });
  }
}

function resultOf(cell: Cell, inputs: readonly InputState[], readings: () => readonly Reading<unknown>[]): Result {
  if (typeof cell === "string") return { state: "failed", failure: cell, inputs };
  if (cell !== null) return { state: "observed", value: cell[0], inputs };
  const state = sharedState(readings());
  return state === undefined ? { state: "failed", failure: "no-value", inputs } : { state, inputs };
}

/** The batch as JSON for the program in the sandbox. */
export const encodeBatch = (events: readonly (readonly Reading<unknown>[])[]): string =>
  `[${events.map(encodeEvent).join()}]`;

/** An observed reading becomes an array with only its value. */
export const encodeEvent = (readings: readonly Reading<unknown>[]): string =>
  JSON.stringify(readings.map((reading) => (reading.state === "observed" ? [reading.value] : reading)));
