/** A JSON schema, as an OpenAPI document has it. */
export type JsonSchema = Record<string, unknown>;

/** A body that is made to be expensive to refuse. */
export interface HostileBody {
  what: string;
  text: string;
}

/** Bytes of the largest body that the server reads. */
const BODY_MAX_BYTES = 256 * 1024;
const DEPTH = 30;
/** Items of a list, or entries of a map, that declares no limit. */
const MOST = 1_000;

/** Texts by name, each made of a number of repetitions. */
const TEXTS: Record<string, (count: number) => string> = {
  letters: (count) => "a".repeat(count),
  "combining marks": (count) => `e${"\u0301\u0327".repeat(count / 2)}`,
  "surrogate pairs": (count) => "😀".repeat(count / 2),
  "control characters": (count) => "\u0001".repeat(count),
  "overrides of direction": (count) => "\u202e".repeat(count),
  blanks: (count) => " ".repeat(count),
  "starts of API keys": (count) => "allclear_".repeat(count / 9),
  "a long host": (count) => `https://${"a.".repeat(count / 2)}`,
  "a host of composed digits": (count) => `https://${"①".repeat(count)}`,
  "open brackets": (count) => "(".repeat(count),
  "paired brackets": (count) => "(".repeat(count / 2) + ")".repeat(count / 2),
  "classes of all letters": (count) => "\\p{L}".repeat(count / 5),
  "classes in any case": (count) => `(?i)${"[\\p{L}\\p{M}]".repeat(count / 12)}`,
  "nested repetitions": (count) => "(?:a{1,30}){1,30}".repeat(count / 17),
  "a repeated choice": (count) => "(a|b|ab){1,40}".repeat(count / 14),
  "steps of a path": (count) => `$${"[0]".repeat(count / 3)}`,
  "pointer characters": (count) => "~/".repeat(count / 2),
};

interface Node {
  name: string;
  schema: JsonSchema;
  /** Returns a whole body in which this node has a value. */
  build(value: unknown): unknown;
}

/**
 * Yields hostile bodies for a schema: in each place of it, in turn, long texts, long lists, maps with
 * many entries, unknown fields and deep nesting, all else being valid. Each weighs at most 256 KiB.
 * Each of `faults` is a set of fields for which any body is refused.
 */
export function* hostileBodies(
  schema: JsonSchema,
  resolve: (reference: string) => JsonSchema,
  faults: readonly object[],
): Generator<HostileBody> {
  for (const node of nodesOf(schema, resolve)) {
    for (const [what, value] of hostileValues(node.schema, resolve)) {
      for (const fault of faults) {
        const text = largest((count) => withFault(node.build(value(count)), fault));
        const beside = Object.keys(fault).join(", ");
        if (text !== undefined) yield { what: `${node.name}: ${what}, and ${beside}`, text };
      }
    }
  }
}

function withFault(body: unknown, fault: object): unknown {
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  return isObject ? { ...body, ...fault } : body;
}

/** Returns the body of about the most repetitions that fits; undefined if none does. */
function largest(make: (count: number) => unknown): string | undefined {
  let fitting: string | undefined;
  let count = 8;
  // Coarse steps find the size, and fine ones come near the limit.
  for (const factor of [1.4, 1.03]) {
    for (let next = count; next <= BODY_MAX_BYTES; next *= factor) {
      const text = JSON.stringify(make(Math.floor(next)));
      if (Buffer.byteLength(text) > BODY_MAX_BYTES) break;
      fitting = text;
      count = next;
    }
  }
  return fitting;
}

function* nodesOf(
  given: JsonSchema,
  resolve: (reference: string) => JsonSchema,
  name = "body",
): Generator<Node> {
  const schema = plain(given, resolve);
  yield { name, schema, build: (value) => value };
  for (const variant of (schema["oneOf"] as JsonSchema[] | undefined) ?? []) {
    yield* nodesOf(variant, resolve, name);
  }
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  for (const [property, of] of properties) {
    for (const node of nodesOf(of, resolve, `${name}.${property}`)) {
      const build = (value: unknown) => ({
        ...(sample(schema, resolve) as object),
        [property]: node.build(value),
      });
      yield { ...node, build };
    }
  }
  const [item] = Object.values((schema["patternProperties"] ?? {}) as Record<string, JsonSchema>);
  if (item) {
    for (const node of nodesOf(item, resolve, `${name}.*`)) {
      yield { ...node, build: (value) => ({ key: node.build(value) }) };
    }
  }
  if (schema["items"]) {
    for (const node of nodesOf(schema["items"] as JsonSchema, resolve, `${name}[]`)) {
      yield { ...node, build: (value) => [node.build(value)] };
      const count = Number(schema["maxItems"] ?? MOST);
      const build = (value: unknown) => Array.from({ length: count }, () => node.build(value));
      yield { ...node, name: `${name}[*${count}]${node.name.slice(name.length + 2)}`, build };
    }
  }
}

type Values = [what: string, value: (count: number) => unknown];

function hostileValues(schema: JsonSchema, resolve: (reference: string) => JsonSchema): Values[] {
  const numbered = (count: number, make: (index: number) => unknown) =>
    Array.from({ length: count }, (_, index) => make(index));
  const fields = (count: number, name: (index: number) => string, value: unknown = 1) =>
    Object.fromEntries(numbered(count / 8, (index) => [name(index), value]) as [string, unknown][]);
  const nested = (count: number, open: (inner: unknown) => unknown) => {
    let value: unknown = "x".repeat(count);
    for (let depth = 0; depth < DEPTH; depth++) value = open(value);
    return value;
  };
  const values: Values[] = [
    ["a list of different texts", (count) => numbered(count / 8, (index) => `x${index}`)],
    ["a list of equal texts", (count) => numbered(count / 4, () => "x")],
    ["a list of lists", (count) => numbered(count / 3, () => [])],
    ["a list of objects", (count) => numbered(count / 8, (index) => ({ a: index }))],
    ["short fields", (count) => fields(count, (index) => index.toString(36))],
    ["long fields", (count) => fields(count / 20, (index) => `${index}${"k".repeat(1_000)}`)],
    ["fields of pointer characters", (count) => fields(count, (index) => `~/${index}~/`)],
    ["one long field", (count) => ({ ["k".repeat(count)]: 1 })],
    ["deep lists", (count) => nested(count, (inner) => [inner])],
    ["deep objects", (count) => nested(count, (inner) => ({ a: inner }))],
    ["a long number", (count) => Number("9".repeat(Math.min(count, 300)))],
  ];
  const [item] = Object.values((schema["patternProperties"] ?? {}) as Record<string, JsonSchema>);
  if (item) {
    const valid = sample(item, resolve);
    const most = Number(schema["maxProperties"] ?? MOST);
    const many = (count: number) => Math.min(count, most * 8);
    values.push(
      ["as many entries as it takes", (count) => fields(many(count), (index) => `${index}`, valid)],
      [
        "entries of long names",
        (count) => fields(many(count), (index) => `${index}`.padEnd(200), valid),
      ],
      ["wrong entries", (count) => fields(many(count), (index) => `${index}`, [1])],
    );
  }
  if (schema["type"] === "array") {
    const most = Number(schema["maxItems"] ?? MOST);
    values.push(
      [
        "as many as it takes",
        (count) => numbered(Math.min(count, most), (index) => `cmp_${index}`),
      ],
      [
        "valid items",
        (count) => numbered(count, () => sample(schema["items"] as JsonSchema, resolve)),
      ],
      [
        "long texts",
        (count) => numbered(Math.min(count, most), (index) => `${index}`.padEnd(250, "x")),
      ],
    );
  }
  if (schema["type"] === "string") {
    const most = Number(schema["maxLength"] ?? MOST);
    for (const [name, make] of Object.entries(TEXTS)) {
      values.push(
        [name, make],
        [`${name}, as long as it may be`, (count) => make(Math.min(count, most)).slice(0, most)],
      );
    }
  }
  return values;
}

/** Returns a valid value, as far as a schema says what that is. */
function sample(given: JsonSchema, resolve: (reference: string) => JsonSchema): unknown {
  const schema = plain(given, resolve);
  const [example] = (schema["examples"] as unknown[] | undefined) ?? [];
  if (example !== undefined) return example;
  if (schema["const"] !== undefined) return schema["const"];
  const options = schema["enum"] as unknown[] | undefined;
  if (options) return options.includes("matches") ? "matches" : options[0];
  const [variant] = (schema["oneOf"] as JsonSchema[] | undefined) ?? [];
  if (variant) return sample(variant, resolve);
  switch (schema["type"]) {
    case "object": {
      const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
      const required = (schema["required"] ?? []) as string[];
      return Object.fromEntries(
        required.map((name) => [name, sample(properties[name] ?? {}, resolve)]),
      );
    }
    case "array":
      return [];
    case "integer":
    case "number":
      return schema["minimum"] ?? 1;
    case "boolean":
      return true;
    default:
      return schema["format"] === "date-time" ? "2026-01-01T12:00:00Z" : "x";
  }
}

/** Follows a reference, and takes a nullable schema as what it is otherwise. */
function plain(schema: JsonSchema, resolve: (reference: string) => JsonSchema): JsonSchema {
  if (typeof schema["$ref"] === "string") return plain(resolve(schema["$ref"]), resolve);
  const branches = schema["anyOf"] as JsonSchema[] | undefined;
  const [branch] = branches?.filter(({ type }) => type !== "null") ?? [];
  return branch && schema["properties"] === undefined ? plain(branch, resolve) : schema;
}
