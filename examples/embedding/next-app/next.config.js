/** @type {import("next").NextConfig} */
const config = {
  distDir: "dist",
  // `npm run check:embedding` checks the types.
  typescript: { ignoreBuildErrors: true },
};

// oxlint-disable-next-line import/no-default-export -- Next requires one.
export default config;
