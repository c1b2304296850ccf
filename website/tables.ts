import type { MarkdownRenderer } from "vitepress";

/**
 * Makes tables fit narrow screens: each cell gets the title of its column, which is shown there next to the cell, and a
 * long name in code breaks between its words.
 */
export function useTables(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("table-labels", ({ tokens }) => {
    let titles: string[] = [];
    let column = 0;
    tokens.forEach(({ type }, index) => {
      if (type === "thead_open") titles = [];
      if (type === "th_open") titles.push((tokens[index + 1]?.content ?? "").replaceAll("`", ""));
      if (type === "tr_open") column = 0;
      if (type === "td_open") tokens[index]?.attrSet("data-label", titles[column++] ?? "");
    });
  });
  const { code_inline: code } = markdown.renderer.rules;
  markdown.renderer.rules.code_inline = (...token) =>
    (code?.(...token) ?? "").replaceAll(/(?<=>[^<]*)(?:[._/,](?=[^<\d])|[a-z](?=[A-Z]))/g, "$&<wbr>");
}
