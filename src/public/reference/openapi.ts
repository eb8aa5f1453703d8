/** OpenAPI document, as far as the reference shows it. */
export interface OpenApi {
  info: { version: string; description: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
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
  path: string;
}

/** Returns the operations of each tag, in the order of the document. Tags without operations are left out. */
export function operationsByTag(
  openApi: OpenApi,
): { tag: OpenApi["tags"][number]; operations: PlacedOperation[] }[] {
  const all = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
  return openApi.tags
    .map((tag) => ({ tag, operations: all.filter(({ tags }) => tags.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0);
}
