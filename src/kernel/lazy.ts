export interface Lazy<T> {
  (): T;
  /** Value, if it was made already; undefined before the first use. */
  peek(): T | undefined;
}

/** Makes something at its first use, and keeps it: what takes memory or time is not paid at the start. */
export function lazy<T>(make: () => T): Lazy<T> {
  let made: { value: T } | undefined;
  return Object.assign(() => (made ??= { value: make() }).value, { peek: () => made?.value });
}
