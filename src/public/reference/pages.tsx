/*
 * Pages of the API reference: the index with all operations, a page for each resource, the errors, and the results of a
 * search. All work without a script; `reference.js` remembers the language of the samples and searches while typing.
 */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { ERROR_CODES, ERRORS } from "../../base/errors";
import { WHOLE_TURN } from "../../base/in-slices";
import { lazy } from "../../base/lazy";
import { plural } from "../../base/text";
import { type AssetSource, assetPath, withoutComments } from "../../ui/assets";
import choices from "../../ui/css/choices.css" with { type: "text" };
import input from "../../ui/css/input.css" with { type: "text" };
import { type HtmlDocument, renderDocument } from "../../ui/documents";
import { WordMark } from "../../ui/pictures";
import { minifyCss } from "../../ui/style-sheet";
import style from "../css/reference.css" with { type: "text" };
import samples from "../css/samples.css" with { type: "text" };
import { createFieldLists } from "./fields";
import {
  ERRORS_PATH,
  INDEX_PATH,
  type NamedObject,
  objectId,
  type PlacedOperation,
  type Reference,
  type Resource,
} from "./model";
import script from "./reference.js" with { type: "text" };
import { LANGUAGES, sampleRequest } from "./samples";
import { Body, inCode, ObjectEntry, ParameterTable, TypeName } from "./schemas";
import { type Entries, type Entry, type Results, SEARCH_MAX } from "./search";

/** Operations or objects rendered in one turn of the event loop. */
const ENTRIES_PER_TURN = 10;

/** Script of all pages of the reference. */
export const REFERENCE_SCRIPT = {
  name: "reference.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: withoutComments(script) },
} satisfies AssetSource;

const referenceCss = lazy(() => minifyCss(`${input}\n${style}`));
/** Style sheet of pages with samples. */
const samplesCss = lazy(() => referenceCss() + minifyCss(`${choices}\n${samples}`));

/** Renders the index: the operations of each resource, folded, and the conventions of all of them. */
export function renderIndex(reference: Reference): HtmlDocument {
  const { resources, document, commonObjects } = reference;
  const count = resources
    .flatMap(({ operations }) => operations)
    .filter(({ isSent }) => !isSent).length;
  const languages = LANGUAGES.map(({ name }) => name);
  return renderPage({
    title: "API reference",
    path: INDEX_PATH,
    side: <ResourceList resources={resources} />,
    children: (
      <>
        <h1>API reference</h1>
        <p>
          {plural(count, "operation")}, each with a sample in {languages.slice(0, -1).join(", ")}{" "}
          and {languages.at(-1)}.
        </p>
        <section class="resources" aria-label="Resources" data-moved>
          {resources.map((resource) => (
            <ResourceCard key={resource.name} resource={resource} />
          ))}
        </section>
        <section aria-labelledby="conventions">
          <h2 id="conventions">Conventions</h2>
          {document.info.description.split("\n\n").map((paragraph) => (
            <p key={paragraph}>{inCode(paragraph)}</p>
          ))}
        </section>
        <Objects reference={reference} objects={commonObjects} />
      </>
    ),
  });
}

/**
 * A resource with links to its operations, at the ids under which one page once had all of them. The script redirects
 * from there, and from the ids of the objects.
 */
function ResourceCard({ resource }: { resource: Resource }) {
  const { name, path, description, objects } = resource;
  const names = objects.map((object) => object.name).join(" ");
  return (
    <article class="card resource" data-objects={names}>
      <h2 id={`tag-${name}`}>
        <a href={path}>{name}</a>
      </h2>
      <p>{inCode(description)}</p>
      <details>
        <summary>{contentOf(resource)}</summary>
        <Links resource={resource} hasIds isShort />
      </details>
    </article>
  );
}

/** Returns the number of operations and objects in words. */
function contentOf({ operations, objects }: Resource): string {
  const noun = operations.every(({ isSent }) => isSent) ? "event" : "operation";
  const texts = [plural(operations.length, noun)];
  if (objects.length > 0) texts.push(plural(objects.length, "object"));
  return texts.join(", ");
}

interface LinksProps {
  resource: Resource;
  /** True if the links to operations have the ids of these. */
  hasIds?: boolean;
  /** True if there is one link to all objects. */
  isShort?: boolean;
}

/** Links to the operations and objects of a resource. */
function Links({ resource, hasIds = false, isShort = false }: LinksProps) {
  const { path, operations, objects } = resource;
  const ids = isShort ? [] : objects.map(({ name }) => name);
  return (
    <ul class="links">
      {operations.map(({ operationId: id, summary, ...operation }) => (
        <li key={id} id={hasIds ? id : undefined}>
          <a href={`${path}#${id}`}>
            <Verb {...operation} /> {summary}
          </a>
        </li>
      ))}
      {ids.map((name) => (
        <li key={name}>
          <a href={`${path}#${objectId(name)}`}>
            <code>{name}</code>
          </a>
        </li>
      ))}
      {isShort && objects.length > 0 ? (
        <li>
          <a href={`${path}#objects`}>Objects</a>
        </li>
      ) : null}
    </ul>
  );
}

function Verb({ method, isSent }: Pick<PlacedOperation, "method" | "isSent">) {
  return isSent ? <b>EVENT</b> : <b class={method.toLowerCase()}>{method}</b>;
}

/** Renders the page of a resource in several turns. */
export function* resourceSteps(
  reference: Reference,
  resource: Resource,
): Generator<number, HtmlDocument> {
  const { name, description, operations, objects, path } = resource;
  const { resources, objectPaths } = reference;
  // Events have one description.
  const [shared, ...others] = new Set(operations.map((operation) => operation.description));
  const isShared = operations.length > 1 && others.length === 0;
  const entries = yield* inTurns(operations, (operation) => (
    <OperationEntry
      operation={isShared ? { ...operation, description: "" } : operation}
      tag={name}
      reference={reference}
    />
  ));
  const listFields = createFieldLists(reference.document);
  const shapes = yield* inTurns(objects, (object) => (
    <ObjectEntry object={object} fields={listFields(object)} paths={objectPaths} />
  ));
  const hasSamples = operations.some(({ isSent }) => !isSent);
  return renderPage({
    title: name,
    path,
    css: samplesCss(),
    side: <ResourceList resources={resources} current={resource} />,
    children: (
      <>
        <h1>{name}</h1>
        <p>{inCode(description)}</p>
        {isShared && shared ? <p>{inCode(shared)}</p> : null}
        <details class="on-page">
          <summary>{contentOf(resource)}</summary>
          <nav aria-label="On this page">
            <Links resource={resource} />
          </nav>
        </details>
        {hasSamples ? <LanguageChoice /> : null}
        <div dangerouslySetInnerHTML={{ __html: entries }} />
        {objects.length === 0 ? null : (
          <section aria-labelledby="objects">
            <h2 id="objects">Objects</h2>
            <div dangerouslySetInnerHTML={{ __html: shapes }} />
          </section>
        )}
      </>
    ),
  });
}

function* inTurns<Item>(
  items: readonly Item[],
  render: (item: Item) => ComponentChildren,
): Generator<number, string> {
  let html = "";
  for (let index = 0; index < items.length; index += ENTRIES_PER_TURN) {
    html += renderToString(<>{items.slice(index, index + ENTRIES_PER_TURN).map(render)}</>);
    yield WHOLE_TURN;
  }
  return html;
}

function Objects({
  reference,
  objects,
}: {
  reference: Reference;
  objects: readonly NamedObject[];
}) {
  const listFields = createFieldLists(reference.document);
  return (
    <section aria-labelledby="objects">
      <h2 id="objects">Objects</h2>
      <p>The objects of a resource are on its page. The errors of all resources have this one.</p>
      {objects.map((object) => (
        <ObjectEntry
          key={object.name}
          object={object}
          fields={listFields(object)}
          paths={reference.objectPaths}
        />
      ))}
    </section>
  );
}

/** Links to all resources, and below the current one to what is on its page. */
function ResourceList({
  resources,
  current,
}: {
  resources: readonly Resource[];
  current?: Resource;
}) {
  return (
    <nav class="docs-index" aria-label="Resources">
      <ul>
        {resources.map((resource) => (
          <li key={resource.name}>
            <a href={resource.path} aria-current={resource === current ? "page" : undefined}>
              {resource.name}
            </a>
            {resource === current ? <Links resource={resource} isShort /> : null}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Choice of the language of all samples of a page, by the style sheet alone. */
function LanguageChoice() {
  return (
    <>
      <p class="muted">
        The samples run as they are with curl 7.82, Python 3, Node 20 (as <code>.mjs</code>) or Go
        1.18, or later. They read the key from <code>ALLCLEAR_KEY</code> and a token from{" "}
        <code>ALLCLEAR_TOKEN</code> in the environment. Replace ids, words in capitals, and the
        version in <code>If-Match</code>, which is that of the object as you have read it.
      </p>
      <div class="languages">
        <div class="choice" role="radiogroup" aria-label="Language of the samples">
          {LANGUAGES.map(({ id, name }, index) => (
            <div key={id} class="choice-option">
              <input
                type="radio"
                name="language"
                id={`in-${id}`}
                value={id}
                checked={index === 0}
                autocomplete="off"
              />
              <label for={`in-${id}`}>{name}</label>
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

/** Environment variables that the samples of the reference read. */
const VARIABLES = { key: "ALLCLEAR_KEY", token: "ALLCLEAR_TOKEN" };

interface EntryProps {
  operation: PlacedOperation;
  tag: string;
  reference: Reference;
}

function OperationEntry({ operation, tag, reference }: EntryProps) {
  const { operationId, path, summary, description, parameters = [], isSent } = operation;
  const { objectPaths: paths } = reference;
  const body = operation.requestBody?.content["application/json"]?.schema;
  return (
    <article class="card entry" id={operationId}>
      <h2>
        <a href={`#${operationId}`}>{summary}</a>
      </h2>
      <p class="route">
        <Verb {...operation} />
        <code>{path}</code>
      </p>
      {description ? <p>{inCode(description)}</p> : null}
      {isSent ? null : (
        <>
          <p class="needs">
            {accessOf(operation)} <a href={`/docs/try#/${tag}/${operationId}`}>Try it</a>
          </p>
          <Samples operation={operation} reference={reference} />
        </>
      )}
      <ParameterTable parameters={parameters} paths={paths} />
      {body === undefined ? null : <Body schema={body} paths={paths} />}
      <Answers operation={operation} paths={paths} />
    </article>
  );
}

/** The sample of each language. The style sheet shows the one that is chosen. */
function Samples({ operation, reference }: Pick<EntryProps, "operation" | "reference">) {
  const { document, baseUrl: origin } = reference;
  const request = sampleRequest(document, operation, { origin, ...VARIABLES });
  return (
    <div class="samples">
      {LANGUAGES.map(({ id, name, write }) => (
        <pre key={id} class={id} data-language={name} tabIndex={0}>
          <code>{write(request)}</code>
        </pre>
      ))}
    </div>
  );
}

function Answers({
  operation: { responses, isSent },
  paths,
}: Pick<EntryProps, "operation"> & { paths: Reference["objectPaths"] }) {
  // The answers to an event are those of its receiver.
  const { errors = [], answers = [] } = Object.groupBy(Object.entries(responses), ([status]) =>
    Number(status) < 400 || isSent ? "answers" : "errors",
  );
  return (
    <ul class="answers">
      {answers.map(([status, { description, content }]) => {
        const schema = Object.values(content ?? {})[0]?.schema;
        return (
          <li key={status}>
            <b>{status}</b> {inCode(description ?? "")}{" "}
            {schema?.$ref ? <TypeName schema={schema} paths={paths} /> : null}
          </li>
        );
      })}
      {errors.length === 0 ? null : (
        <li>
          Errors: {errors.map(([status]) => status).join(", ")}. <a href={ERRORS_PATH}>Meanings</a>
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
  if (schemes.includes("reportToken")) return "Needs the token for reports about mails.";
  return schemes.includes("apiKey") ? "Needs a key." : "Needs no key.";
}

/** Renders the explanations of all errors. The `type` of a problem links to its entry. */
export function renderErrors(): HtmlDocument {
  return renderPage({
    title: "Errors",
    path: ERRORS_PATH,
    children: (
      <>
        <h1>Errors</h1>
        <p>
          Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes
          and the fields of <a href={`${INDEX_PATH}#${objectId("Problem")}`}>Problem</a>.
        </p>
        <dl class="error-list">
          {ERROR_CODES.map((code) => (
            <ErrorEntry key={code} code={code} />
          ))}
        </dl>
        <p class="muted foot">
          <a href="/docs/licences">Licences of the typeface and the icons</a>
        </p>
      </>
    ),
  });
}

function ErrorEntry({ code }: { code: (typeof ERROR_CODES)[number] }) {
  const { status, title, meaning, example } = ERRORS[code];
  return (
    <>
      <dt id={code}>
        {status} <code>{code}</code> · {title}
      </dt>
      <dd>
        <p>{inCode(meaning)}</p>
        <p class="muted">For example: {example}</p>
      </dd>
    </>
  );
}

const KIND_TITLES: Record<keyof Entries, string> = {
  operations: "Operations",
  errors: "Errors",
  objects: "Objects",
  fields: "Fields and parameters",
};

/** Renders the results of a search. */
export function renderSearch(search: string, results: readonly Results[]): HtmlDocument {
  const count = results.reduce((sum, one) => sum + one.count, 0);
  return renderPage({
    title: search === "" ? "Search the reference" : `Search: ${search}`,
    path: undefined,
    search,
    children: (
      <>
        <h1>Search the reference</h1>
        <section class="results" aria-label="Results" data-results>
          <p class="muted">
            {search === ""
              ? "Type the name of an operation, a field, an object or an error."
              : `${count === 0 ? "No results" : plural(count, "result")} for “${search}”.`}
          </p>
          {results.map((one) => (
            <ResultGroup key={one.kind} {...one} />
          ))}
        </section>
      </>
    ),
  });
}

function ResultGroup({ kind, found, count }: Results) {
  return (
    <>
      <h2>{KIND_TITLES[kind]}</h2>
      <ul>
        {found.map((one, index) => (
          <Result key={index} {...one} />
        ))}
      </ul>
      {count > found.length ? (
        <p class="muted">
          {plural(count - found.length, "more result")}. Add a word to narrow them.
        </p>
      ) : null}
    </>
  );
}

function Result({ name, about, href }: Entry) {
  return (
    <li>
      <a href={href}>{name}</a> <span class="muted">{about}</span>
    </li>
  );
}

interface PageProps {
  title: string;
  /** Path of the page, if the navigation has a link to it. */
  path: string | undefined;
  /** Style sheet; by default that of pages without samples. */
  css?: string;
  /** Text of the search, if the page has its results. */
  search?: string;
  /** Navigation next to the content. */
  side?: ComponentChildren;
  children: ComponentChildren;
}

const NAVIGATION = [
  { href: INDEX_PATH, name: "Reference" },
  { href: "/docs/try", name: "Try it" },
  { href: ERRORS_PATH, name: "Errors" },
  { href: "/docs/coming-from", name: "Coming from" },
  { href: "/openapi.json", name: "OpenAPI" },
];

function renderPage(props: PageProps): HtmlDocument {
  const { title, path, css = referenceCss(), search = "", side, children } = props;
  return renderDocument({
    title: path === INDEX_PATH ? `${title} · Allclear` : `${title} · API reference · Allclear`,
    css,
    script: assetPath(REFERENCE_SCRIPT.name, REFERENCE_SCRIPT.content.text),
    children: (
      <div class="reference">
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="docs-top">
          <a href="/">
            <WordMark />
          </a>
          <SearchForm search={search} />
          <nav aria-label="Documentation">
            {NAVIGATION.map(({ href, name }) => (
              <a key={href} href={href} aria-current={href === path ? "page" : undefined}>
                {name}
              </a>
            ))}
          </nav>
        </header>
        {side}
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    ),
  });
}

/** Search that sends its form. The script shows results below the field while it changes. */
function SearchForm({ search }: { search: string }) {
  return (
    <form role="search" action="/docs/search">
      <input
        class="input"
        type="search"
        name="q"
        value={search}
        maxLength={SEARCH_MAX}
        aria-label="Search operations, fields and errors"
        placeholder="Search operations, fields, errors"
        autocomplete="off"
      />
      <button class="button">Search</button>
      <p class="unseen" role="status" />
      <div class="found" data-found hidden />
    </form>
  );
}
