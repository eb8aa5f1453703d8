// The OpenAPI document is read without types.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

/** A command of curl for an operation. */
export interface ApiCommand {
  tag: string;
  summary: string;
  /** Its scope in Markdown, "any key", or undefined for an operation that needs no API key. */
  needs: string | undefined;
  method: string;
  path: string;
  command: string;
}

/** Returns a command for each operation, in the order of the document. */
export function apiCommands(document: Json): ApiCommand[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => {
      const needsKey = operation.security.some((scheme: object) => "apiKey" in scheme);
      const [scope] = operation["x-required-scopes"] ?? [];
      return {
        tag: operation.tags[0],
        summary: operation.summary,
        needs: needsKey ? (scope === undefined ? "any key" : `\`${scope}\``) : undefined,
        method,
        path,
        command: commandOf(document, path, method, operation),
      };
    }),
  );
}

/** Returns the commands as Markdown: a heading for each tag, a block for each command, or one for those without a key. */
export function commandsAsMarkdown(document: Json): string {
  const byTag = Map.groupBy(apiCommands(document), ({ tag }) => tag);
  return (document.tags as { name: string }[])
    .flatMap(({ name }) => {
      const commands = byTag.get(name);
      if (!commands) return [];
      const blocks = commands
        .filter(({ needs }) => needs !== undefined)
        .map(({ summary, needs, command }) => `${summary} (${needs}):\n\n${shell(command)}`);
      const open = commands
        .filter(({ needs }) => needs === undefined)
        .map(({ summary, command }) => `# ${summary}\n${command}`);
      const openBlock = open.length > 0 ? [`Without an API key:\n\n${shell(open.join("\n"))}`] : [];
      return [`### Commands: ${name}`, ...blocks, ...openBlock];
    })
    .join("\n\n");
}

const shell = (code: string) => `\`\`\`sh\n${code}\n\`\`\``;

function commandOf(document: Json, path: string, method: string, operation: Json): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    valueOf(operation.parameters.find((one: Json) => one.name === name)),
  );
  const query = operation.parameters
    .filter((one: Json) => one.in === "query" && one.required)
    .map((one: Json) => `${one.name}=${valueOf(one)}`)
    .join("&");
  return [
    `curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "$URL${filled}${query && `?${query}`}"`,
    ...credentialsOf(operation).map((value) => `-H "Authorization: Bearer ${value}"`),
    ...(operation.parameters.some((one: Json) => one.name === "Origin")
      ? [`-H "Origin: $URL"`]
      : []),
    ...bodyOf(document, operation),
  ].join(" \\\n  ");
}

/** Returns the value of a parameter; a credential or an unknown one as a variable or a word to be replaced. */
function valueOf({ name, example, schema }: Json): string {
  if (name === "token" || name === "push") return "$TOKEN";
  return encodeURI(example ?? schema.enum?.[0] ?? name.toUpperCase());
}

function credentialsOf({ security: [scheme] }: Json): string[] {
  if (!scheme) return [];
  return ["apiKey" in scheme ? "$KEY" : "$TOKEN"];
}

function bodyOf(document: Json, { requestBody }: Json): string[] {
  const { content = {}, required } = requestBody ?? {};
  if (content["*/*"]) return [`--data-binary "The disk is full."`];
  const [type, media] = Object.entries<Json>(content)[0] ?? [];
  if (type === undefined) return [];
  const example = exampleOf(document, media.schema);
  if (type !== "application/json") {
    return Object.entries(example).flatMap(([name, value]) =>
      [value].flat().map((one) => `--data-urlencode "${name}=${one}"`),
    );
  }
  const body = JSON.stringify(example).replaceAll("'", String.raw`'\''`);
  return required || body !== "{}" ? [`--json '${body}'`] : [];
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
