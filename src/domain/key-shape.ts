const SHAPE_ANYWHERE = /allclear_[0-9A-Za-z]{49}/;

/** Returns true if a text contains something shaped like an API key's value. */
export function containsKeyShape(text: string): boolean {
  return SHAPE_ANYWHERE.test(text);
}

/** Returns the first part of a text that is shaped like an API key's value; undefined if none is. */
export function findKeyShape(text: string): string | undefined {
  return SHAPE_ANYWHERE.exec(text)?.[0];
}
