// The OpenAPI document is read without types.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

/** Returns a command of curl for each operation that needs an API key, under a heading for each tag, as Markdown. */
export function apiCommands(document: Json): string {
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const needing = operations.filter(({ operation }) =>
    operation.security.some((scheme: object) => "apiKey" in scheme),
  );
  return document.tags
    .map(({ name }: { name: string }) => ({
      name,
      commands: needing
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ path, method, operation }) => {
          const [scope] = operation["x-required-scopes"] ?? [];
          const needs = scope === undefined ? "any key" : `\`${scope}\``;
          const command = commandOf(document, path, method, operation);
          return `${operation.summary} (${needs}):\n\n\`\`\`sh\n${command}\n\`\`\``;
        }),
    }))
    .filter(({ commands }: { commands: string[] }) => commands.length > 0)
    .map(
      ({ name, commands }: { name: string; commands: string[] }) =>
        `### Commands: ${name}\n\n${commands.join("\n\n")}`,
    )
    .join("\n\n");
}

function commandOf(document: Json, path: string, method: string, operation: Json): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((one: Json) => one.name === name);
    return encodeURI(parameter?.example ?? parameter?.schema.enum?.[0] ?? name.toUpperCase());
  });
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body =
    schema && JSON.stringify(exampleOf(document, schema)).replaceAll("'", String.raw`'\''`);
  const isSent = body !== undefined && (operation.requestBody.required || body !== "{}");
  return [
    `curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "$URL${filled}"`,
    `-H "Authorization: Bearer $KEY"`,
    ...(isSent ? [`--json '${body}'`] : []),
  ].join(" \\\n  ");
}

/** Returns an example of a schema: its own, or one of its required fields. */
function exampleOf(document: Json, schema: Json): Json {
  if (schema.$ref)
    return exampleOf(document, document.components.schemas[schema.$ref.split("/").at(-1)]);
  if (schema.examples) return schema.examples[0];
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (first) return exampleOf(document, first);
  if (schema.const !== undefined || schema.enum) return schema.const ?? schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") {
    const names: string[] = schema.required ?? [];
    return Object.fromEntries(
      names.map((name) => [name, exampleOf(document, schema.properties[name])]),
    );
  }
  if (type === "array") return [];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  return schema.format === "date-time" ? "2030-01-01T00:00:00Z" : "acme";
}
