import { renderToString } from "preact-render-to-string";
import { WHOLE_TURN } from "../../base/in-slices";
import { lazy } from "../../base/lazy";
import { type HtmlDocument, renderDocument } from "../../ui/documents";
import { minifyCss } from "../../ui/style-sheet";
import { WordMark } from "../../ui/pictures";
import style from "../css/reference.css" with { type: "text" };
import { FieldTable, inCode, ParameterTable, schemaId, TypeName } from "./fields";
import { type OpenApi, operationsByTag, type PlacedOperation, type Schema } from "./openapi";

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
