const SHAPE_ANYWHERE = /allclear_[0-9A-Za-z]{49}/;

/** Whether a text holds anything of the shape of an API key's value, for places where none may stand. */
export function containsKeyShape(text: string): boolean {
  return SHAPE_ANYWHERE.test(text);
}

/** The first thing in a text that has the shape of an API key's value, or undefined if nothing has. */
export function findKeyShape(text: string): string | undefined {
  return SHAPE_ANYWHERE.exec(text)?.[0];
}
