/* Lists of the fields of schemas, which the reference shows and searches. */
import { lazy } from "../../base/lazy";
import { type NamedObject, nameOfRef, type OpenApi, type Schema } from "./model";

/** Maximum depth of nested objects in one list. Named objects have their own lists. */
const DEPTH_MAX = 4;

export interface Field {
  /** Name, prefixed with the names of its parent objects: `config.headers`, `components[].id`. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** Lists the fields of an object, of its nested objects and of the objects in its lists. */
export function fieldsOf(schema: Schema, prefix = "", depth = 0): Field[] {
  const parts = schema.allOf ?? [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, field]): Field[] => {
    const name = `${prefix}${key}`;
    const isRequired = schema.required?.includes(key) ?? false;
    return [{ name, schema: field, isRequired }, ...innerFields(field, name, depth)];
  });
  return [...parts.flatMap((part) => fieldsOf(part, prefix, depth)), ...own];
}

function innerFields(field: Schema, name: string, depth: number): Field[] {
  if (depth >= DEPTH_MAX) return [];
  if (field.items) {
    const fields = fieldsOf(field.items, `${name}[].`, depth + 1);
    return fields.length > 0 ? fields : innerFields(field.items, `${name}[]`, depth + 1);
  }
  const options = (field.anyOf ?? []).flatMap((option) => innerFields(option, name, depth + 1));
  return [...fieldsOf(field, `${name}.`, depth + 1), ...options];
}

/**
 * Returns a function to the fields that are listed with a named object: those that all of its shapes have, or, of a
 * shape, the others.
 */
export function createFieldLists({ components: { schemas } }: OpenApi) {
  const sharedOf = new Map(
    Object.entries(schemas).map(([name, schema]) => [name, lazy(() => sharedFields(schema))]),
  );

  /** Lists the fields that all shapes of an object have with the same schema. */
  function sharedFields({ oneOf = [] }: Schema): Field[] {
    const [first = [], ...others] = oneOf.map(({ $ref }) => {
      const shape = schemas[nameOfRef($ref ?? "")];
      return shape ? fieldsOf(shape) : [];
    });
    return first.filter((field) => others.every((fields) => includesField(fields, field)));
  }

  return ({ name, schema, kind }: NamedObject): Field[] => {
    if (schema.oneOf) return sharedOf.get(name)?.() ?? [];
    const shared = kind === undefined ? [] : (sharedOf.get(kind)?.() ?? []);
    return fieldsOf(schema).filter((field) => !includesField(shared, field));
  };
}

function includesField(fields: readonly Field[], field: Field): boolean {
  return fields.some((other) => other.name === field.name && Bun.deepEquals(other, field));
}
