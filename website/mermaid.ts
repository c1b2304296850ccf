import type { MarkdownRenderer } from "vitepress";

/** Hands a fenced block of `mermaid` to the component of this name; other blocks are VitePress's. */
export function useMermaid(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info = "", content = "" } = tokens[index] ?? {};
    if (info.trim() === "mermaid") return `<Mermaid source="${encodeURIComponent(content)}" />`;
    return fence?.(tokens, index, ...rest) ?? "";
  };
}
