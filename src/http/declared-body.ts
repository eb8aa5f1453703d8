import { Kind, type Static, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";

/** The body that a route declares. */
export interface DeclaredBody<Schema extends TSchema = TSchema> {
  /** Its schema; for a form, one of the kind `FORM_KIND`. */
  schema: Schema;
  /** True if a request may leave the body out. */
  isOptional: boolean;
  /** Number of bytes that are read of it, where the rest is ignored; such a body may be of any media type. */
  beginningBytes?: number;
}

/** Kind of the schema that Elysia gets in place of the declared one. */
const DECLARED_KIND = "AllclearBody";
const Declared = Symbol("declared");

// Elysia's own check is quadratic in the length of a list, and composes a message of all errors.
TypeRegistry.Set(DECLARED_KIND, () => true);

/**
 * Returns the schema given to Elysia: accepts any value, has the static type of the declared schema, and
 * stores the declaration.
 */
export function hideSchema<Schema extends TSchema>(declared: DeclaredBody<Schema>) {
  return Type.Unsafe<Static<Schema>>({ [Kind]: DECLARED_KIND, [Declared]: declared });
}

/** Returns the body that a route's options declare; undefined for a route that reads none. */
export function declaredBodyOf({ body }: { body?: TSchema }): DeclaredBody | undefined {
  if (!body) return undefined;
  const declared = (body as { [Declared]?: DeclaredBody })[Declared];
  return declared ?? { schema: body, isOptional: false };
}
