/** A text that a client or a person chose: it changes nothing around it, and hides nothing. */
export const Foreign = ({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) => (
  <bdi className={isCode ? "foreign mono" : "foreign"}>{visible(text)}</bdi>
);

/**
 * Shows what a reader could not see, or what would move other characters: control and format characters, and surrogates
 * (https://www.unicode.org/reports/tr44/, Cc, Cf, Cs, and line separators).
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
