import type { MarkdownRenderer } from "vitepress";

/** Passes fenced blocks of `mermaid` to the component with this name. VitePress renders other blocks. */
export function useMermaid(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info = "", content = "" } = tokens[index] ?? {};
    if (info.trim() === "mermaid") return `<Mermaid source="${encodeURIComponent(content)}" />`;
    return fence?.(tokens, index, ...rest) ?? "";
  };
}
