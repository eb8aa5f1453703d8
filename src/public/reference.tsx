import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { WHOLE_TURN } from "../base/in-slices";
import { lazy } from "../base/lazy";
import { type HtmlDocument, renderDocument } from "../ui/documents";
import { WordMark } from "../ui/pictures";
import { minifyCss } from "../ui/style-sheet";
import style from "./css/reference.css" with { type: "text" };

const referenceCss = lazy(() => minifyCss(style));

/** Named objects rendered in one turn of the event loop. */
const OBJECTS_PER_TURN = 15;

/**
 * Renders the reference of the API in several turns: every operation with its parameters, body and answers,
 * and every named object. It needs no script.
 */
export function* referenceSteps(openApi: OpenApi): Generator<number, HtmlDocument> {
  const groups = operationsByTag(openApi);
  const baseUrl = openApi.servers[0]?.url ?? "";
  const sections: string[] = [];
  for (const group of groups) {
    sections.push(renderToString(<Group {...group} baseUrl={baseUrl} />));
    yield WHOLE_TURN;
  }
  const schemas = Object.entries(openApi.components.schemas);
  const objects: string[] = [];
  for (let index = 0; index < schemas.length; index += OBJECTS_PER_TURN) {
    objects.push(
      renderToString(<Objects schemas={schemas.slice(index, index + OBJECTS_PER_TURN)} />),
    );
    yield WHOLE_TURN;
  }
  return renderDocument({
    title: "API reference · Allclear",
    css: referenceCss(),
    children: (
      <div class="reference">
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="docs-top">
          <a href="/">
            <WordMark />
          </a>
          <nav aria-label="Documentation">
            <a href="/docs" aria-current="page">
              Reference
            </a>
            <a href="/docs/try">Try it</a>
            <a href="/docs/errors">Errors</a>
            <a href="/docs/coming-from">Coming from</a>
            <a href="/openapi.json">OpenAPI</a>
          </nav>
        </header>
        <Index groups={groups} />
        <main id="main" tabIndex={-1}>
          <h1>API reference</h1>
          {openApi.info.description.split("\n\n").map((paragraph) => (
            <p key={paragraph}>{inCode(paragraph)}</p>
          ))}
          <div dangerouslySetInnerHTML={{ __html: sections.join("") }} />
          <section aria-labelledby="objects">
            <h2 id="objects">Objects</h2>
            <div dangerouslySetInnerHTML={{ __html: objects.join("") }} />
          </section>
        </main>
      </div>
    ),
  });
}

type OperationGroup = ReturnType<typeof operationsByTag>[number];

/** Links to all operations. */
function Index({ groups }: { groups: readonly OperationGroup[] }) {
  return (
    <nav class="docs-index" aria-label="Operations">
      {groups.map(({ tag, operations }) => (
        <details key={tag.name}>
          <summary>{tag.name}</summary>
          <ul>
            {operations.map(({ operationId, summary }) => (
              <li key={operationId}>
                <a href={`#${operationId}`}>{summary}</a>
              </li>
            ))}
          </ul>
        </details>
      ))}
      <p>
        <a href="#objects">Objects</a>
      </p>
    </nav>
  );
}

function Group({ tag, operations, baseUrl }: OperationGroup & { baseUrl: string }) {
  return (
    <section aria-labelledby={`tag-${tag.name}`}>
      <h2 id={`tag-${tag.name}`}>{tag.name}</h2>
      <p>{inCode(tag.description)}</p>
      {operations.map((operation) => (
        <OperationEntry
          key={operation.operationId}
          operation={operation}
          tag={tag.name}
          baseUrl={baseUrl}
        />
      ))}
    </section>
  );
}

function Objects({ schemas }: { schemas: readonly (readonly [string, Schema])[] }) {
  return (
    <>
      {schemas.map(([name, schema]) => (
        <article key={name} class="card entry" id={schemaId(name)}>
          <h3>{name}</h3>
          <ObjectShape name={name} schema={schema} />
        </article>
      ))}
    </>
  );
}

/** Description of an object with its fields, or with its type if it has none. */
function ObjectShape({ name, schema }: { name: string; schema: Schema }) {
  return (
    <>
      {schema.description ? <p>{inCode(schema.description)}</p> : null}
      {schema.properties || schema.allOf ? null : (
        <p class="type">
          <TypeName schema={schema} />
        </p>
      )}
      <FieldTable schema={schema} caption={`Fields of ${name}`} />
    </>
  );
}

interface EntryProps {
  operation: PlacedOperation;
  tag: string;
  baseUrl: string;
}

function OperationEntry({ operation, tag, baseUrl }: EntryProps) {
  const { operationId, method, path, summary, description, parameters = [] } = operation;
  const body = operation.requestBody?.content["application/json"]?.schema;
  return (
    <article class="card entry" id={operationId}>
      <h3>{summary}</h3>
      <p class="route">
        <span class={`verb ${method.toLowerCase()}`}>{method}</span>
        <code>{path}</code>
      </p>
      {description ? <p>{inCode(description)}</p> : null}
      <p class="needs">
        {accessOf(operation)} <a href={`/docs/try#/${tag}/${operationId}`}>Try it</a>
      </p>
      {parameters.length === 0 ? null : <ParameterTable parameters={parameters} />}
      {body === undefined ? null : <Body schema={body} />}
      <pre tabIndex={0}>
        <code>{curlFor(operation, baseUrl)}</code>
      </pre>
      <Answers operation={operation} />
    </article>
  );
}

function Body({ schema }: { schema: Schema }) {
  if (schema.$ref ?? schema.anyOf ?? schema.oneOf) {
    return (
      <p>
        Body: <TypeName schema={schema} />
      </p>
    );
  }
  return <FieldTable schema={schema} caption="Body" />;
}

function Answers({ operation: { responses } }: Pick<EntryProps, "operation">) {
  const entries = Object.entries(responses);
  const errors = entries.filter(([status]) => Number(status) >= 400);
  return (
    <ul class="answers">
      {entries
        .filter(([status]) => Number(status) < 400)
        .map(([status, { description, content }]) => {
          const schema = Object.values(content ?? {})[0]?.schema;
          return (
            <li key={status}>
              <b>{status}</b> {inCode(description ?? "")}{" "}
              {schema?.$ref ? <TypeName schema={schema} /> : null}
            </li>
          );
        })}
      {errors.length === 0 ? null : (
        <li>
          Errors: {errors.map(([status]) => status).join(", ")}. <a href="/docs/errors">Meanings</a>
        </li>
      )}
    </ul>
  );
}

function accessOf(operation: PlacedOperation): string {
  const scopes = operation["x-required-scopes"] ?? [];
  if (scopes.length > 0) return `Needs a key with the scope ${scopes.join(" and ")}.`;
  const schemes = (operation.security ?? []).flatMap((each) => Object.keys(each));
  if (schemes.includes("heartbeatToken")) return "Needs the token of a push monitor.";
  return schemes.includes("apiKey") ? "Needs a key." : "Needs no key.";
}

/** Returns a command that calls the operation, with the first example of its body. */
function curlFor(
  { method, path, security, requestBody }: PlacedOperation,
  baseUrl: string,
): string {
  const example = requestBody?.content["application/json"]?.schema?.examples?.[0];
  const needsKey = (security ?? []).some((each) => "apiKey" in each);
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${baseUrl}${path}`,
    ...(needsKey ? ['-H "Authorization: Bearer $ALLCLEAR_KEY"'] : []),
    ...(example === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`,
        ]),
  ];
  return lines.join(" \\\n  ");
}

const REF = "#/components/schemas/";
/** Maximum depth of nested objects in one table. Named objects have their own tables. */
const DEPTH_MAX = 4;

interface Field {
  /** Name, prefixed with the names of its parent objects: `config.headers`, `components[].id`. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** Table of the fields of an object. Renders nothing for an object without fields. */
function FieldTable({ schema, caption }: { schema: Schema; caption: string }) {
  const fields = fieldsOf(schema, "", 0);
  if (fields.length === 0) return null;
  return (
    <Table caption={caption}>
      {fields.map(({ name, schema: field, isRequired }) => (
        <Row key={name} name={name} schema={field} isRequired={isRequired}>
          {field.description}
        </Row>
      ))}
    </Table>
  );
}

/** Table of the parameters of an operation. */
function ParameterTable({ parameters }: { parameters: readonly Parameter[] }) {
  return (
    <Table caption="Parameters">
      {parameters.map(({ name, in: place, required = false, schema, description }) => (
        <Row
          key={`${place} ${name}`}
          name={name}
          schema={schema}
          isRequired={required}
          place={place === "path" ? undefined : place}
        >
          {description ?? schema.description}
        </Row>
      ))}
    </Table>
  );
}

function Table({ caption, children }: { caption: string; children: ComponentChildren }) {
  return (
    <div class="fields" tabIndex={0} role="group" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  name: string;
  schema: Schema;
  isRequired: boolean;
  place?: string | undefined;
  children: string | undefined;
}

function Row({ name, schema, isRequired, place, children }: RowProps) {
  const limits = limitsOf(schema);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
        {isRequired ? <span class="required"> required</span> : null}
      </th>
      <td>
        <span class="type">
          <TypeName schema={schema} />
          {place === undefined ? null : `, ${place}`}
          {limits === "" ? null : `, ${limits}`}
        </span>
        {children ? <p>{inCode(children)}</p> : null}
      </td>
    </tr>
  );
}

/** Type in words, with links to named objects. */
function TypeName({ schema }: { schema: Schema }) {
  const { $ref, enum: values, items, type } = schema;
  const options = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) {
    const name = nameOfRef($ref);
    return <a href={`#${schemaId(name)}`}>{name}</a>;
  }
  if (options) return <Options options={options} />;
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>;
  if (values) return <Options options={values.map((value) => ({ const: value }))} />;
  if (type === "array") {
    return (
      <>
        list of <TypeName schema={items ?? {}} />
      </>
    );
  }
  const value = valueOf(schema);
  if (value) {
    return (
      <>
        object of <TypeName schema={value} />
      </>
    );
  }
  const names = typeof type === "string" ? [type] : [...(type ?? ["any value"])];
  return <>{names.join(" or ")}</>;
}

/** Returns the type of the values of an object with any keys. */
function valueOf({ properties, additionalProperties }: Schema): Schema | undefined {
  return !properties && typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function Options({ options }: { options: readonly Schema[] }) {
  return (
    <>
      {options.map((option, index) => (
        <>
          {index === 0 ? null : " or "}
          <TypeName schema={option} />
        </>
      ))}
    </>
  );
}

/** Lists the fields of an object, of its nested objects and of the objects in its lists. */
function fieldsOf(schema: Schema, prefix: string, depth: number): Field[] {
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

/** Returns the limits and the default of a value: "1 to 255 characters", "default 60". */
function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const texts = [
    rangeOf(minimum, maximum, ""),
    rangeOf(minLength, maxLength, " characters"),
    rangeOf(minItems, maxItems, " entries"),
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ];
  return texts.filter((text) => text !== "").join(", ");
}

function rangeOf(min: number | undefined, max: number | undefined, unit: string): string {
  const write = (value: number) => value.toLocaleString("en");
  if (min !== undefined && max !== undefined) return `${write(min)} to ${write(max)}${unit}`;
  if (max !== undefined) return `at most ${write(max)}${unit}`;
  return min === undefined || min === 0 ? "" : `at least ${write(min)}${unit}`;
}

function nameOfRef(ref: string): string {
  return ref.slice(REF.length);
}

function schemaId(name: string): string {
  return `schema-${name}`;
}

/** Renders text between backticks as code. */
function inCode(text: string): ComponentChildren {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}

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

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Readonly<Record<string, { schema?: Schema }>>;

/** JSON Schema, as far as the document uses it. */
interface Schema {
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
interface PlacedOperation extends Operation {
  method: string;
  path: string;
}

/** Returns the operations of each tag, in the order of the document. Tags without operations are left out. */
function operationsByTag(
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
