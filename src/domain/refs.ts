import { Text } from "../kernel/schema";

/** Creator of an object, which keeps it up to date: a configuration file or an import. */
export type Manager = "apply" | "import";

/** Identity and manager of an object that `apply` creates. */
export interface ApplyMetadata {
  ref?: string;
  managedBy?: "apply";
}

/** Identity and manager of an object that `apply` or an import creates. */
export interface ManagedMetadata {
  ref?: string;
  managedBy?: Manager;
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
    const ref = numberedRef(desired, count);
    if (!findHolder(ref)) return ref;
  }
}

/** Returns a ref with a number, shortened to have room for it; without a number for 1. */
export function numberedRef(desired: string, count: number): string {
  const suffix = count === 1 ? "" : `-${count}`;
  return `${desired.slice(0, REF_LENGTH_MAX - suffix.length)}${suffix}`;
}
