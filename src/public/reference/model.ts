/*
 * The OpenAPI document as the reference shows it: a resource for each tag, with its operations, and with the objects that
 * are described on its page.
 */
import { WHOLE_TURN } from "../../base/in-slices";
import { toRef } from "../../base/text";

/** OpenAPI document, as far as the reference reads it. */
export interface OpenApi {
  info: { version: string; description: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Methods>>;
  /** Requests that the server sends, by the type of the event. */
  webhooks: Readonly<Record<string, Methods>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

type Methods = Readonly<Record<string, Operation>>;

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  security?: readonly Readonly<Record<string, readonly string[]>>[];
  "x-required-scopes"?: readonly string[];
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Readonly<Record<string, { description?: string; content?: Content }>>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}

type Content = Readonly<Record<string, { schema?: Schema }>>;

/** JSON Schema, as far as the document uses it. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  required?: readonly string[];
  description?: string;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  examples?: readonly unknown[];
}

/** Operation with its method and path. */
export interface PlacedOperation extends Operation {
  method: string;
  /** Path, or the type of an event. */
  path: string;
  /** True if this server sends the request to a webhook. */
  isSent: boolean;
}

/** A schema with a name. */
export interface NamedObject {
  name: string;
  schema: Schema;
  /** Name of the object of which this one is a shape. The fields of all shapes are listed there. */
  kind: string | undefined;
}

/** The operations of a tag, and the objects that are described with them. */
export interface Resource {
  name: string;
  description: string;
  /** Path of its page. */
  path: string;
  operations: readonly PlacedOperation[];
  objects: readonly NamedObject[];
}

/** The parts of the reference, in the order in which it shows them. */
export interface Reference {
  document: OpenApi;
  baseUrl: string;
  resources: readonly Resource[];
  /** Objects of no single resource: the body of errors. */
  commonObjects: readonly NamedObject[];
  /** Addresses of all named objects. */
  objectPaths: ReadonlyMap<string, string>;
}

/** Path of the index, which describes the common objects. */
export const INDEX_PATH = "/docs";
export const ERRORS_PATH = "/docs/errors";

/** Arranges the document. Tags without operations are left out. */
export function* arrange(document: OpenApi): Generator<number, Reference> {
  const placed = placedOperations(document).toSorted((a, b) => depthOf(a) - depthOf(b));
  const tagged = document.tags
    .map((tag) => ({ ...tag, operations: placed.filter(({ tags }) => tags.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0);
  yield WHOLE_TURN;
  const homes = yield* homesOf(document, tagged);
  const kinds = kindsOf(document);
  yield WHOLE_TURN;
  const { schemas } = document.components;
  const describe = (name: string): NamedObject[] => {
    const schema = schemas[name];
    return schema ? [{ name, schema, kind: kinds.get(name) }] : [];
  };
  const resources = tagged.map(({ name, description, operations }): Resource => {
    const objects = [...homes]
      .filter(([, home]) => home === name)
      .flatMap(([one]) => describe(one));
    return { name, description, path: `${INDEX_PATH}/${toRef(name)}`, operations, objects };
  });
  const commonObjects = Object.keys(schemas)
    .filter((name) => !homes.has(name))
    .flatMap(describe);
  const pages = [...resources, { path: INDEX_PATH, objects: commonObjects }];
  const objectPaths = new Map(
    pages.flatMap(({ path, objects }) =>
      objects.map(({ name }) => [name, `${path}#${objectId(name)}`] as const),
    ),
  );
  const baseUrl = document.servers[0]?.url ?? "";
  return { document, baseUrl, resources, commonObjects, objectPaths };
}

/** Returns the place of an operation among others: those of the API first, and lists before their entries. */
function depthOf({ path }: PlacedOperation): number {
  return path.split("/").length + (path.startsWith("/api/v1/") ? 0 : OTHER_PATHS);
}

/** More than the number of segments of any path. */
const OTHER_PATHS = 100;

/** Returns all operations, in the order of the document, and after them the events. */
export function placedOperations({ paths, webhooks }: OpenApi): PlacedOperation[] {
  const place = (all: OpenApi["paths"], isSent: boolean) =>
    Object.entries(all).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        // That of an event is a sentence.
        summary: operation.summary.replace(/\.$/, ""),
        method: method.toUpperCase(),
        path,
        isSent,
      })),
    );
  return [...place(paths, false), ...place(webhooks, true)];
}

/** Returns the id of an object on its page. */
export function objectId(name: string): string {
  return `schema-${name}`;
}

const REF = "#/components/schemas/";

export function nameOfRef(ref: string): string {
  return ref.slice(REF.length);
}

/**
 * Returns the tag with which each object is described: the one whose operations need the fewest references to
 * it, and of several the first. Nearer objects come first. The body of the errors of several tags has none.
 */
function* homesOf(
  { components: { schemas } }: OpenApi,
  tagged: readonly { name: string; operations: readonly PlacedOperation[] }[],
): Generator<number, Map<string, string>> {
  const homes = new Map<string, string>();
  const usersOfErrors = new Map<string, Set<string>>();
  const claim = (names: Iterable<string>, home: string) => {
    for (const name of names) if (!homes.has(name)) homes.set(name, home);
  };
  for (const { name: tag, operations } of tagged) {
    for (const { parameters, requestBody, responses } of operations) {
      const { errors = [], answers = [] } = Object.groupBy(Object.entries(responses), ([status]) =>
        Number(status) < 400 ? "answers" : "errors",
      );
      claim(refsIn([parameters, requestBody, answers]), tag);
      for (const name of refsIn(errors)) {
        usersOfErrors.set(name, (usersOfErrors.get(name) ?? new Set()).add(tag));
      }
      yield 1;
    }
  }
  for (const [name, [tag = "", ...others]] of usersOfErrors) {
    if (others.length === 0) claim([name], tag);
  }
  // The loop reaches what it adds to the map.
  for (const [name, home] of homes) {
    claim(refsIn(schemas[name]), home);
    yield 1;
  }
  return homes;
}

/** Yields the names of the objects to which a part of the document refers. */
function* refsIn(part: unknown): Generator<string> {
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    if (key !== "$ref") yield* refsIn(value);
    else if (String(value).startsWith(REF)) yield nameOfRef(String(value));
  }
}

/** Returns the object of several shapes to which each shape belongs, by the name of the shape. */
function kindsOf({ components: { schemas } }: OpenApi): Map<string, string> {
  const kinds = new Map<string, string>();
  for (const [name, { oneOf = [] }] of Object.entries(schemas)) {
    for (const { $ref } of oneOf) {
      const shape = $ref === undefined ? undefined : nameOfRef($ref);
      if (shape !== undefined && !kinds.has(shape)) kinds.set(shape, name);
    }
  }
  return kinds;
}
