/** The text of a field, without spaces around it; `undefined` if it is empty. */
export function formText(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
}
