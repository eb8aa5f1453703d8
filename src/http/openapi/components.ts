import type { TSchema } from "@sinclair/typebox";

/** A part of the document. */
export type Json = Record<string, unknown>;

/** Collects schemas with a title under `components/schemas` and refers to them. */
export class NamedSchemas {
  readonly #named: Record<string, Json> = {};

  refer(schema: TSchema): Json {
    return this.#hoist(toPlain(schema)) as Json;
  }

  all(): Record<string, Json> {
    return this.#named;
  }

  #hoist(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#hoist(item));
    if (typeof value !== "object" || value === null) return value;
    const hoisted = Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, this.#hoist(child)]),
    );
    const { title, ...rest } = hoisted;
    if (typeof title !== "string") return hoisted;
    this.#named[title] = rest;
    return { $ref: `#/components/schemas/${title}` };
  }
}

/** A schema as plain JSON: TypeBox's symbols are gone, and so is what is not enumerable. */
export function toPlain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
