/**
 * A program for a fresh realm of any engine; its value is the harness that computes definitions. It keeps only what
 * ECMAScript specifies exactly, and freezes it, so that no definition changes what another one sees. It uses no
 * extension of an engine. Values cross its border as JSON text and numbers.
 */
(() => {
  "use strict";
  const GLOBALS = [
    "undefined",
    "NaN",
    "Infinity",
    "Object",
    "Array",
    "String",
    "Number",
    "Boolean",
    "BigInt",
    "Map",
    "Set",
    "JSON",
    "Math",
    "Error",
    "TypeError",
    "RangeError",
    "parseInt",
    "parseFloat",
    "isNaN",
    "isFinite",
  ];
  const MATH = ["abs", "min", "max", "floor", "ceil", "round", "trunc", "sign", "sqrt"];
  const INEXACT = new Set([
    "normalize",
    "localeCompare",
    "toLocaleString",
    "toLocaleLowerCase",
    "toLocaleUpperCase",
    "toLowerCase",
    "toUpperCase",
    "captureStackTrace",
    "stackTraceLimit",
    "prepareStackTrace",
    // Changes an expression that other events use, too.
    "compile",
    // Make an expression of a text, which the lint can't read.
    "match",
    "matchAll",
    "search",
    // Give an object the members or the prototype of another one, such as the prototype of expressions.
    "__defineGetter__",
    "__defineSetter__",
    "__proto__",
    "assign",
    "create",
    "defineProperties",
    "defineProperty",
    "getOwnPropertySymbols",
    "setPrototypeOf",
    // Run a function of the language on another object.
    "apply",
    "bind",
    "call",
    // The work of this function would continue after the definition has returned.
    "fromAsync",
  ]);
  const MAX_TEXT = 256;

  /** Deletes the properties that are not kept; what can't be deleted is a constant, such as `Math.PI`. */
  function deleteUnless(isKept, target) {
    for (const [name, { configurable }] of Object.entries(Object.getOwnPropertyDescriptors(target))) {
      if (configurable && !isKept(name)) delete target[name];
    }
  }

  const keepOnly = (target, names) => deleteUnless((name) => names.includes(name), target);

  /** The prototypes of what the methods of iterators return. */
  const iteratorHelpers = ({ from }) => [
    Object.getPrototypeOf([].values().map(() => 0)),
    Object.getPrototypeOf(from({ next() {} })),
  ];

  /** Finds every object that code of this realm can reach. */
  function intrinsics() {
    const hidden = [
      globalThis,
      Object.getPrototypeOf(function* () {}),
      Object.getPrototypeOf(async () => {}),
      Object.getPrototypeOf(async function* () {}),
      Object.getPrototypeOf([][Symbol.iterator]()),
      Object.getPrototypeOf(""[Symbol.iterator]()),
      Object.getPrototypeOf(new Map()[Symbol.iterator]()),
      Object.getPrototypeOf(new Set()[Symbol.iterator]()),
      Object.getPrototypeOf("".matchAll(/./g)),
      // Engines have the functions that read and write its stack, which all errors share.
      new Error(),
      ...(globalThis.Iterator ? iteratorHelpers(globalThis.Iterator) : []),
    ];
    const found = new Set();
    while (hidden.length > 0) {
      const next = hidden.pop();
      if (next === null || (typeof next !== "object" && typeof next !== "function") || found.has(next)) continue;
      found.add(next);
      hidden.push(Object.getPrototypeOf(next));
      for (const key of Reflect.ownKeys(next)) {
        hidden.push(...Object.values(Object.getOwnPropertyDescriptor(next, key)));
      }
    }
    return found;
  }

  const { freeze, fromEntries, is } = Object;
  const { isArray } = Array;
  const { isFinite: isFiniteNumber, isSafeInteger } = Number;
  const { parse, stringify } = JSON;

  keepOnly(Math, MATH);
  // Other properties have the text that an expression of another definition matched last.
  keepOnly(RegExp, ["length", "name"]);
  // A literal is an expression that the lint has read.
  delete RegExp.prototype.constructor;
  const reachable = intrinsics();
  for (const object of reachable) deleteUnless((name) => !INEXACT.has(name), object);
  keepOnly(globalThis, GLOBALS);
  for (const object of reachable) freeze(object);

  function frozen(value) {
    if (isArray(value)) for (const item of value) frozen(item);
    return typeof value === "object" ? freeze(value) : value;
  }

  /** @returns the failure of a value that is not of the output, or `undefined`. */
  function failureOf(output, value) {
    if (typeof value === "string" && value.length > MAX_TEXT) return "too-large";
    if (typeof value === "number" && (!isFiniteNumber(value) || is(value, -0))) return "not-a-value";
    if (typeof value !== "number" && typeof value !== "string" && typeof value !== "boolean") return "not-a-value";
    switch (output.type) {
      case "flag":
        return typeof value === "boolean" ? undefined : "wrong-type";
      case "count":
        return isSafeInteger(value) && value >= 0 ? undefined : "wrong-type";
      case "number":
        return typeof value === "number" ? undefined : "wrong-type";
      default:
        return output.values.includes(value) ? undefined : "wrong-type";
    }
  }

  const features = [];
  let events = [];
  let cells = [];
  let taken = 0;

  return freeze({
    /** @param layout is JSON: the output, and for each input its name and its index among the readings of an event. */
    add(layout, compute) {
      const { output, inputs } = parse(layout);
      features.push({ output, inputs, compute, names: fromEntries(inputs) });
    },

    /** @param batch is JSON: for each event its readings. An observed reading is an array with only its value. */
    begin(batch) {
      events = parse(batch);
      for (const readings of events) {
        for (let at = 0; at < readings.length; at++) {
          const reading = readings[at];
          readings[at] = freeze(isArray(reading) ? { state: "observed", value: frozen(reading[0]) } : reading);
        }
      }
      // What is not computed was skipped, or not reached in time.
      cells = events.map(() => features.map(() => "time-limit"));
      taken = 0;
    },

    /** Computes one feature of one event: a cell is `[value]`, `null` for no value, or the name of a failure. */
    compute(feature, event) {
      const { compute, output, inputs, names } = features[feature];
      const readings = { ...names };
      for (const [name, at] of inputs) readings[name] = events[event][at];
      let cell;
      try {
        const value = compute(readings);
        if (value === null) cell = null;
        else cell = failureOf(output, value) ?? [value];
      } catch {
        cell = "threw";
      }
      cells[event][feature] = cell;
    },

    /** Marks a feature that was too slow for an event. */
    stop(feature, event) {
      cells[event][feature] = "time-limit";
    },

    /** @returns the cells of the events from the last end on, up to this one, as JSON. */
    take(end) {
      const text = stringify(cells.slice(taken, end));
      taken = end;
      return text;
    },
  });
})();
