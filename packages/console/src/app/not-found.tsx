import { Link } from "@tanstack/react-router";

export const NotFound = () => (
  <main className="page">
    <h1>There is no such page</h1>
    <p>
      The address may be of another release. <Link to="/events">Search events</Link>
    </p>
  </main>
);
