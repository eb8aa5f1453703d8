/** Makes something at its first use, and keeps it: what takes memory or time is not paid at the start. */
export function whenAsked<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
