/** Decodes a percent-encoded text; returns one with other percent signs as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
