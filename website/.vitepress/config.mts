import { defineConfig } from "vitepress";
import { useFileLinks } from "../file-links.ts";
import { useMermaid } from "../mermaid.ts";
import { SIDEBAR, WIDE_PAGES } from "../pages.ts";
import { useTables } from "../tables.ts";

export default defineConfig({
  title: "Device Risk Signals",
  description: "Raw device observations, stored exactly, in your own infrastructure",
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: "node_modules/.vitepress",
  cleanUrls: true,
  markdown: {
    config: (markdown) => {
      useFileLinks(markdown);
      useMermaid(markdown);
      useTables(markdown);
    },
  },
  transformPageData({ relativePath, frontmatter }) {
    if (WIDE_PAGES.includes(relativePath)) frontmatter["aside"] = false;
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: "local" },
    nav: [
      { text: "HTTP API", link: "/openapi" },
      { text: "TypeScript API", link: "/api/index.html", target: "_self" },
    ],
    sidebar: SIDEBAR,
  },
});
