import { Kind, type Static, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";

/** The body that a route declares. */
export interface DeclaredBody<Schema extends TSchema = TSchema> {
  /** Its schema; for a form, one of the kind `FORM_KIND`. */
  schema: Schema;
  /** True if a request may leave the body out. */
  isOptional: boolean;
}

/** The kind of the schema that Elysia gets in place of a JSON body's own. */
const JSON_KIND = "AllclearJson";
const Declared = Symbol("declared");

// Elysia's own check is quadratic in the length of a list, and composes a message of all errors.
TypeRegistry.Set(JSON_KIND, () => true);

/** Returns a schema that passes every value, typed by the declared one, which it carries. */
export function hideSchema<Schema extends TSchema>(declared: DeclaredBody<Schema>) {
  return Type.Unsafe<Static<Schema>>({ [Kind]: JSON_KIND, [Declared]: declared });
}

/** Returns the body that a route's options declare; undefined for a route that reads none. */
export function declaredBodyOf({ body }: { body?: TSchema }): DeclaredBody | undefined {
  if (!body) return undefined;
  const declared = (body as { [Declared]?: DeclaredBody })[Declared];
  return declared ?? { schema: body, isOptional: false };
}
