import { Link } from "@tanstack/react-router";
import { Foreign } from "../ui/foreign.tsx";

/** Malformed names are counted under `*`, and have no page. */
export const FieldLink = ({ path }: { readonly path: string }) =>
  path.includes("*") ? (
    <Foreign text={path} isCode />
  ) : (
    <Link to="/drift/$path" params={{ path }}>
      <Foreign text={path} isCode />
    </Link>
  );
