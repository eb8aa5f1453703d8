/*
 * Programs that call an operation, in four languages, with the example values of the OpenAPI document. Each runs as it is
 * with what the language brings along. A language is a row in `LANGUAGES`.
 */
import {
  nameOfRef,
  type OpenApi,
  type Parameter,
  type PlacedOperation,
  type Schema,
} from "./model";

/** Part of a text: as it is, of an environment variable, or a random one. */
type Part = string | { env: string } | { isRandom: true };

const RANDOM = { isRandom: true } as const;

/** Request of a sample. */
interface SampleRequest {
  method: string;
  url: readonly Part[];
  headers: readonly (readonly [name: string, value: readonly Part[]])[];
  body: SampleBody | undefined;
  /** True if the answer is a picture. */
  isPicture: boolean;
}

type SampleBody =
  | { kind: "json"; value: unknown }
  | { kind: "form"; fields: Readonly<Record<string, unknown>> }
  | { kind: "text"; text: string };

/** Address of the server, and the environment variables that hold a key and a token. */
export interface SampleNames {
  origin: string | { env: string };
  key: string;
  token: string;
}

/** Languages of the samples, in the order in which they are offered. */
export const LANGUAGES = [
  { id: "curl", name: "curl", write: writeCurl },
  { id: "python", name: "Python", write: writePython },
  { id: "javascript", name: "JavaScript", write: writeJavaScript },
  { id: "go", name: "Go", write: writeGo },
] as const;

/** Entries of a list that a sample asks for. */
const LISTED = "20";
const PAGE = "acme";

/** Returns the request of an operation with example values: required parameters, and those that shorten a list. */
export function sampleRequest(
  document: OpenApi,
  operation: PlacedOperation,
  { origin, key, token }: SampleNames,
): SampleRequest {
  const { method, path, parameters = [], security: [scheme] = [] } = operation;
  const has = (name: string) => parameters.some((one) => one.name === name);
  const filled = path.split(/\{(\w+)\}/).map((part, index): Part => {
    if (index % 2 === 0) return part;
    return /^(token|push)$/.test(part)
      ? { env: token }
      : exampleValue(parameters.find(({ name }) => name === part) ?? { name: part });
  });
  const headers: [string, Part[]][] = [];
  if (scheme) {
    headers.push(["Authorization", ["Bearer ", { env: "apiKey" in scheme ? key : token }]]);
  }
  if (has("Origin")) headers.push(["Origin", [origin]]);
  if (has("If-Match")) headers.push(["If-Match", ['"1"']]);
  if (has("Idempotency-Key")) headers.push(["Idempotency-Key", [RANDOM]]);
  return {
    method,
    url: joined([origin, ...filled, queryOf(parameters)]),
    headers,
    body: bodyOf(document, operation),
    isPicture: "image/png" in (operation.responses["200"]?.content ?? {}),
  };
}

function queryOf(parameters: readonly Parameter[]): string {
  const query = parameters.filter((one) => one.in === "query");
  const isList = query.some(({ name }) => name === "limit");
  const pairs = query.flatMap((one) => {
    if (one.required) return [`${one.name}=${exampleValue(one)}`];
    if (!isList) return [];
    if (one.name === "page") return [`page=${PAGE}`];
    return one.name === "limit" ? [`limit=${LISTED}`] : [];
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Returns the example of a parameter, or its name in capitals for the reader to replace. */
function exampleValue({ name, example, schema }: Pick<Parameter, "name"> & Partial<Parameter>) {
  return encodeURI(String(example ?? schema?.enum?.[0] ?? name.toUpperCase()));
}

function bodyOf(document: OpenApi, { requestBody }: PlacedOperation): SampleBody | undefined {
  if (!requestBody) return undefined;
  const { content, required } = requestBody;
  if (content["*/*"]) return { kind: "text", text: "The disk is full." };
  const [[type, { schema = {} }] = ["", {}]] = Object.entries(content);
  const value = exampleOf(document, schema);
  if (type !== "application/json") return { kind: "form", fields: Object(value) };
  return required || Object.keys(Object(value)).length > 0 ? { kind: "json", value } : undefined;
}

/** Returns an example of a schema: its own, or one of its required fields. */
function exampleOf(document: OpenApi, schema: Schema): unknown {
  if (schema.$ref !== undefined) {
    return exampleOf(document, document.components.schemas[nameOfRef(schema.$ref)] ?? {});
  }
  if (schema.examples) return schema.examples[0];
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (first) return exampleOf(document, first);
  if (schema.const !== undefined || schema.enum) return schema.const ?? schema.enum?.[0];
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [
          name,
          exampleOf(document, schema.properties?.[name] ?? {}),
        ]),
      );
    case "array":
      return [];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return schema.format === "date-time" ? "2030-01-01T00:00:00Z" : PAGE;
  }
}

/** Joins texts that follow each other. */
function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (typeof part === "string" && typeof last === "string") result.push(`${result.pop()}${part}`);
    else if (part !== "") result.push(part);
  }
  return result;
}

function writeCurl({ method, url, headers, body }: SampleRequest): string {
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${shellText(url)}`,
    ...headers.map(([name, value]) => `-H ${shellText(joined([`${name}: `, ...value]))}`),
    ...(body ? curlBody(body) : []),
  ].join(" \\\n  ");
}

function curlBody(body: SampleBody): string[] {
  switch (body.kind) {
    case "json":
      return [`--json '${literal(body.value, JSON_NOTATION, "  ").replaceAll("'", "'\\''")}'`];
    case "form":
      return pairsOfForm(body.fields).map(
        ([name, value]) => `--data-urlencode ${shellText([`${name}=${value}`])}`,
      );
    case "text":
      return [`--data-binary ${shellText([body.text])}`];
  }
}

/** Quotes a text for a POSIX shell. */
function shellText(parts: readonly Part[]): string {
  const [only = ""] = parts;
  if (parts.length === 1 && typeof only === "string" && /["\\$`]/.test(only)) {
    return `'${only.replaceAll("'", "'\\''")}'`;
  }
  const texts = parts.map((part) => {
    if (typeof part === "string") return part.replaceAll(/["\\$`]/g, "\\$&");
    return "env" in part ? `$${part.env}` : "$(openssl rand -hex 16)";
  });
  return `"${texts.join("")}"`;
}

function writePython({ method, url, headers, body, isPicture }: SampleRequest): string {
  const { isRandom, usesEnvironment } = partsOf(url, headers);
  const imports = [
    ...(body?.kind === "json" ? ["json"] : []),
    ...(usesEnvironment ? ["os"] : []),
    "urllib.error",
    ...(body?.kind === "form" ? ["urllib.parse"] : []),
    "urllib.request",
    ...(isRandom ? ["uuid"] : []),
  ];
  const written = withContentType(headers, body?.kind === "json").map(
    ([name, value]) => `        ${JSON.stringify(name)}: ${pythonText(value)},`,
  );
  return [
    ...imports.map((name) => `import ${name}`),
    "",
    "request = urllib.request.Request(",
    `    ${pythonText(url)},`,
    ...(method === "GET" ? [] : [`    method=${JSON.stringify(method)},`]),
    ...(written.length > 0 ? ["    headers={", ...written, "    },"] : []),
    ...(body ? [`    data=${pythonBody(body)}.encode(),`] : []),
    ")",
    "try:",
    "    with urllib.request.urlopen(request) as response:",
    `        print(response.status, response.read()${isPicture ? "" : ".decode()"})`,
    "except urllib.error.HTTPError as error:",
    '    raise SystemExit(f"{error.code} {error.read().decode()}")',
  ].join("\n");
}

function pythonBody(body: SampleBody): string {
  switch (body.kind) {
    case "json":
      return `json.dumps(${literal(body.value, PYTHON_NOTATION, "    ")})`;
    case "form": {
      const fields = Object.fromEntries(valuesOfForm(body.fields));
      return `urllib.parse.urlencode(${literal(fields, PYTHON_NOTATION, "    ")}, doseq=True)`;
    }
    case "text":
      return JSON.stringify(body.text);
  }
}

function pythonText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return JSON.stringify(part);
      return "env" in part ? `os.environ["${part.env}"]` : "str(uuid.uuid4())";
    })
    .join(" + ");
}

function writeJavaScript({ method, url, headers, body }: SampleRequest): string {
  const written = withContentType(headers, body?.kind === "json").map(
    ([name, value]) =>
      `    ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${javaScriptText(value)},`,
  );
  const options = [
    ...(method === "GET" ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(written.length > 0 ? ["  headers: {", ...written, "  },"] : []),
    ...(body ? [`  body: ${javaScriptBody(body)},`] : []),
  ];
  return [
    options.length === 0
      ? `const response = await fetch(${javaScriptText(url)});`
      : [`const response = await fetch(${javaScriptText(url)}, {`, ...options, "});"].join("\n"),
    "if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);",
    "console.log(response.status, await response.text());",
  ].join("\n");
}

function javaScriptBody(body: SampleBody): string {
  switch (body.kind) {
    case "json":
      return `JSON.stringify(${literal(body.value, JAVASCRIPT_NOTATION, "  ")})`;
    case "form":
      return `new URLSearchParams(${literal(pairsOfForm(body.fields), JAVASCRIPT_NOTATION, "  ")})`;
    case "text":
      return JSON.stringify(body.text);
  }
}

function javaScriptText(parts: readonly Part[]): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    return typeof only === "string" ? JSON.stringify(only) : javaScriptValue(only);
  }
  const texts = parts.map((part) =>
    typeof part === "string"
      ? part.replaceAll(/[`\\]|\$(?=\{)/g, "\\$&")
      : `\${${javaScriptValue(part)}}`,
  );
  return `\`${texts.join("")}\``;
}

function javaScriptValue(part: Exclude<Part, string>): string {
  return "env" in part ? `process.env.${part.env}` : "crypto.randomUUID()";
}

function writeGo({ method, url, headers, body }: SampleRequest): string {
  const { isRandom, usesEnvironment } = partsOf(url, headers);
  const imports = [
    ...(isRandom ? ["crypto/rand"] : []),
    "fmt",
    "io",
    "log",
    "net/http",
    ...(body?.kind === "form" ? ["net/url"] : []),
    ...(usesEnvironment ? ["os"] : []),
    ...(body ? ["strings"] : []),
  ];
  const form = body?.kind === "form" ? "application/x-www-form-urlencoded" : undefined;
  return [
    "package main",
    "",
    "import (",
    ...imports.map((name) => `\t"${name}"`),
    ")",
    "",
    "func main() {",
    ...(body ? [`\tbody := strings.NewReader(${goBody(body)})`] : []),
    `\trequest, err := http.NewRequest("${method}", ${goText(url)}, ${body ? "body" : "nil"})`,
    ...FATAL,
    ...(isRandom ? ["\tid := make([]byte, 16)", "\trand.Read(id)"] : []),
    ...withContentType(headers, body?.kind === "json", form).map(
      ([name, value]) => `\trequest.Header.Set("${name}", ${goText(value)})`,
    ),
    "\tresponse, err := http.DefaultClient.Do(request)",
    ...FATAL,
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    ...FATAL,
    "\tif response.StatusCode >= 400 {",
    '\t\tlog.Fatalf("%d %s", response.StatusCode, answer)',
    "\t}",
    "\tfmt.Println(response.StatusCode, string(answer))",
    "}",
  ].join("\n");
}

const FATAL = ["\tif err != nil {", "\t\tlog.Fatal(err)", "\t}"];

function goBody(body: SampleBody): string {
  switch (body.kind) {
    case "json": {
      const json = literal(body.value, GO_NOTATION, "\t");
      return json.includes("`") ? JSON.stringify(JSON.stringify(body.value)) : `\`${json}\``;
    }
    case "form": {
      const fields = valuesOfForm(body.fields).map(
        ([name, values]) =>
          `${JSON.stringify(name)}: {${values.map((one) => JSON.stringify(one)).join(", ")}}`,
      );
      return `url.Values{${fields.join(", ")}}.Encode()`;
    }
    case "text":
      return JSON.stringify(body.text);
  }
}

function goText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return JSON.stringify(part);
      return "env" in part ? `os.Getenv("${part.env}")` : 'fmt.Sprintf("%x", id)';
    })
    .join("+");
}

/** Returns the kinds of values that a program needs. */
function partsOf(url: readonly Part[], headers: SampleRequest["headers"]) {
  const parts = [...url, ...headers.flatMap(([, value]) => value)];
  return {
    isRandom: parts.includes(RANDOM),
    usesEnvironment: parts.some((part) => typeof part !== "string" && "env" in part),
  };
}

/** Adds the type of a JSON body, which curl sends by itself, or another type. */
function withContentType(
  headers: SampleRequest["headers"],
  isJson: boolean,
  otherType?: string,
): SampleRequest["headers"] {
  const type = isJson ? "application/json" : otherType;
  return type === undefined ? headers : [...headers, ["Content-Type", [type]]];
}

/** Returns the values of each field of a form. */
function valuesOfForm(fields: Readonly<Record<string, unknown>>): [name: string, string[]][] {
  return Object.entries(fields).map(([name, value]) => [name, [value].flat().map(String)]);
}

/** Returns the fields of a form, a pair for each value. */
function pairsOfForm(fields: Readonly<Record<string, unknown>>): string[][] {
  return valuesOfForm(fields).flatMap(([name, values]) => values.map((value) => [name, value]));
}

/** Spelling of values in a language. */
interface Notation {
  indent: string;
  words: Readonly<Record<"true" | "false" | "null", string>>;
  key(name: string): string;
  /** Space inside the braces of an object in one line. */
  padding: string;
  /** Comma after the last of several lines. */
  lastComma: string;
}

const JSON_NOTATION: Notation = {
  indent: "  ",
  words: { true: "true", false: "false", null: "null" },
  key: JSON.stringify,
  padding: "",
  lastComma: "",
};
const GO_NOTATION: Notation = { ...JSON_NOTATION, indent: "\t" };
const PYTHON_NOTATION: Notation = {
  indent: "    ",
  words: { true: "True", false: "False", null: "None" },
  key: JSON.stringify,
  padding: "",
  lastComma: ",",
};
const JAVASCRIPT_NOTATION: Notation = {
  indent: "  ",
  words: JSON_NOTATION.words,
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)),
  padding: " ",
  lastComma: ",",
};

/** Characters of an object or list up to which it is written in one line. */
const LINE_MAX = 72;

/** Writes a value of JSON in the notation of a language. `margin` is the indentation of its first line. */
function literal(value: unknown, notation: Notation, margin: string): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) {
    const word = String(value);
    return notation.words[word as keyof Notation["words"]] ?? word;
  }
  const isList = Array.isArray(value);
  const inner = margin + notation.indent;
  const items = isList
    ? value.map((item) => literal(item, notation, inner))
    : Object.entries(value).map(
        ([name, item]) => `${notation.key(name)}: ${literal(item, notation, inner)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const padding = isList || items.length === 0 ? "" : notation.padding;
  const line = `${open}${padding}${items.join(", ")}${padding}${close}`;
  if (line.length <= LINE_MAX && !line.includes("\n")) return line;
  const lines = items.map((item) => inner + item).join(",\n");
  return `${open}\n${lines}${notation.lastComma}\n${margin}${close}`;
}
