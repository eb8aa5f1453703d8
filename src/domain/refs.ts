import { Text } from "../kernel/schema";

/** Identity and manager of an object that `apply` creates. */
export interface ApplyMetadata {
  ref?: string;
  managedBy?: "apply";
}

const REF_LENGTH_MAX = 63;

/** Identifier by which declarative files find an object again. */
export const RefText = Text({
  minLength: 1,
  maxLength: REF_LENGTH_MAX,
  pattern: "^[a-z0-9-]+$",
  check: (value) =>
    /^[a-z0-9-]+$/.test(value)
      ? undefined
      : "must have only lower-case letters, digits and hyphens, such as checkout-api",
});

/**
 * Returns `desired` as a ref, or with the lowest number from 2 that makes it free. `findHolder` returns
 * the object that has a ref.
 */
export function freeRef(desired: string, findHolder: (ref: string) => object | undefined): string {
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? "" : `-${count}`;
    const ref = `${desired.slice(0, REF_LENGTH_MAX - suffix.length)}${suffix}`;
    if (!findHolder(ref)) return ref;
  }
}
