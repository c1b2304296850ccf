/** The boxes of the lineage of a feature, which pages of a version and of a value share. */
import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { cloneElement, type ReactElement, type ReactNode } from "react";
import type { LineageNode, LineageStep } from "./lineage-graph.tsx";

type Layer = Answer<"readLayers">["layers"][number];

/** Gives a link the box as its content. */
const around =
  (link: ReactElement<{ readonly children?: ReactNode }>) =>
  (box: ReactNode): ReactElement =>
    cloneElement(link, {}, box);

const fieldLink = (path: string): ReactElement<{ readonly children?: ReactNode }> => (
  <Link to="/drift/$path" params={{ path }} className="lineage-node" />
);

const featureLink = (feature: string): ReactElement<{ readonly children?: ReactNode }> => (
  <Link to="/features/$feature" params={{ feature }} className="lineage-node" />
);

interface FieldInput {
  readonly name: string;
  readonly field: string;
  /** What else is known of the input: its type, or its value or state in an event. */
  readonly more: string;
}

export const fieldStep = (inputs: readonly FieldInput[]): LineageStep => ({
  name: inputs.length === 1 ? "Field" : "Fields",
  nodes: inputs.map(({ name, field, more }): LineageNode => {
    const [probe = "", ...names] = field.split(".");
    return {
      key: `field ${name}`,
      title: names.join("."),
      lines: [`${probe}: ${more}`],
      link: around(fieldLink(field)),
    };
  }),
});

interface Definition {
  readonly feature: string;
  readonly owner: string;
  readonly hash: string;
}

const idOf = (feature: string): string => feature.split("@")[0] ?? feature;

export const definitionSteps = ({ feature, owner, hash }: Definition, versions: string): readonly LineageStep[] => [
  {
    name: "Definition",
    nodes: [{ key: "definition", title: idOf(feature), lines: [owner, versions], link: around(featureLink(feature)) }],
  },
  {
    name: "Version",
    nodes: [
      { key: "version", title: feature, lines: [`program ${hash.slice(0, 12)}`], link: around(featureLink(feature)) },
    ],
  },
];

/** What is computed together for a purpose is called a layer. */
export const layerStep = (
  layers: readonly Pick<Layer, "layer" | "purpose" | "active_from" | "ended_at">[],
): LineageStep => ({
  name: layers.length === 1 ? "Layer" : "Layers",
  nodes: layers.map(({ layer, purpose, active_from: from, ended_at: to }) => ({
    key: `layer ${layer}`,
    title: `layer ${layer}, ${purpose}`,
    lines: [`since ${from.slice(0, 10)}`, to === null ? "computed now" : `until ${to.slice(0, 10)}`],
    link: around(<Link to="/features" hash="computed" className="lineage-node" />),
  })),
});

export const valueStep = (eventId: string, value: string, at: string): LineageStep => ({
  name: "Value of the event",
  nodes: [
    {
      key: "value",
      title: value,
      lines: [`event ${eventId.slice(0, 8)}…`, `computed ${at.slice(0, 16).replace("T", " ")} UTC`],
      link: around(<Link to="/events/$eventId" params={{ eventId }} className="lineage-node" />),
    },
  ],
});
