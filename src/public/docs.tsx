import interLicence from "@fontsource-variable/inter/LICENSE" with { type: "text" };
import { Type } from "@sinclair/typebox";
import lucideLicence from "lucide-static/LICENSE" with { type: "text" };
import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import { notFound } from "../base/errors";
import { makeInSlices, WHOLE_TURN } from "../base/in-slices";
import { lazy } from "../base/lazy";
import type { Ctx } from "../context";
import { PUBLIC_CACHE } from "../http/cdn";
import { declareRoutes } from "../http/elysia";
import { operation } from "../http/operation";
import { Representation } from "../http/representation";
import type { Assets, AssetSource } from "../ui/assets";
import type { HtmlDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";
import tokens from "../ui/tokens.css" with { type: "text" };
import look from "./css/explorer.css" with { type: "text" };
import { arrange, INDEX_PATH, type OpenApi } from "./reference/model";
import {
  REFERENCE_SCRIPT,
  renderErrors,
  renderIndex,
  renderSearch,
  resourceSteps,
} from "./reference/pages";
import { entriesOf, findEntries, SEARCH_MAX } from "./reference/search";
import { HTML_ANSWER, htmlRepresentation } from "./site";

const LICENCES = `Inter\n\n${interLicence}\n\nLucide\n\n${lucideLicence}`;

const PAGE = { tag: "Documentation", access: { kind: "public" } } as const;

const CROSS_ORIGIN = { cacheControl: PUBLIC_CACHE, isCrossOrigin: true } as const;

const Index = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    openapi: Type.String({ examples: ["https://status.example.com/openapi.json"] }),
    openapi_yaml: Type.String(),
    documentation: Type.String(),
    errors: Type.String(),
    resources: Type.Record(Type.String(), Type.String(), {
      description: "Addresses that are read with a key and need no id, by their path.",
    }),
  },
  { title: "Index" },
);

function jsonDocument(document: unknown): Representation {
  return new Representation(JSON.stringify(document), {
    ...CROSS_ORIGIN,
    mediaType: "application/json",
  });
}

/** Returns true for an operation that needs an API key. */
function isReadByKey(described: OpenApi["paths"][string][string] | undefined): boolean {
  return described?.security?.some((scheme) => "apiKey" in scheme) === true;
}

/**
 * `/openapi.json` and `/openapi.yaml`, `/api/v1`, `/schema/config.json`, and `/docs` with what is below it.
 * `openApi` makes the document of all routes. It is called at the first request, when all routes are known.
 */
export function docsRoutes(ctx: Ctx, openApi: () => Generator<number, unknown>, assets: Assets) {
  const made = new Map<string, Representation>();
  /** Key of the current documents, which contain the public address. */
  let edition = {};
  ctx.signals.settingsChanged.on(() => {
    made.clear();
    edition = {};
  });

  /** Makes a representation of the OpenAPI document. The turn that compresses it does nothing else. */
  function inSlices(represent: (document: OpenApi) => Generator<number, Representation>) {
    return makeInSlices(function* (_edition: object) {
      const document = (yield* openApi()) as OpenApi;
      yield WHOLE_TURN;
      const representation = yield* represent(document);
      yield WHOLE_TURN;
      return representation;
    });
  }

  /** All pages of the reference by path, and what its search finds. The document itself is not kept. */
  const referenceOf = makeInSlices(function* (_edition: object) {
    const document = (yield* openApi()) as OpenApi;
    yield WHOLE_TURN;
    const reference = yield* arrange(document);
    const pages = new Map([[INDEX_PATH, htmlRepresentation(renderIndex(reference))]]);
    yield WHOLE_TURN;
    for (const resource of reference.resources) {
      pages.set(resource.path, htmlRepresentation(yield* resourceSteps(reference, resource)));
    }
    return { pages, entries: yield* entriesOf(reference) };
  });

  /** Throws `not_found` for a resource that does not exist. */
  async function referencePage(path: string): Promise<Representation> {
    const page = (await referenceOf(edition)).pages.get(path);
    if (!page) throw notFound("resource");
    return page;
  }

  const yamlOf = inSlices(function* (document) {
    const yaml = yield* yamlSteps(document);
    return new Representation(yaml, { ...CROSS_ORIGIN, mediaType: "application/yaml" });
  });

  const jsonOf = inSlices(function* (document) {
    yield 1;
    return jsonDocument(document);
  });

  const indexOf = inSlices(function* (document) {
    yield 1;
    return jsonDocument(readIndex(document));
  });

  function readIndex({ info, paths, servers }: OpenApi) {
    const baseUrl = servers[0]?.url ?? "";
    const resources = Object.keys(paths).filter(
      (path) => /^\/api\/v1\/[^{]+$/.test(path) && isReadByKey(paths[path]?.["get"]),
    );
    return {
      name: "Allclear",
      version: info.version,
      openapi: `${baseUrl}/openapi.json`,
      openapi_yaml: `${baseUrl}/openapi.yaml`,
      documentation: `${baseUrl}/docs`,
      errors: `${baseUrl}/docs/errors`,
      resources: Object.fromEntries(
        resources.map((path) => [path.slice("/api/v1/".length), `${baseUrl}${path}`]),
      ),
    };
  }

  const comingFrom = lazy(async () => {
    // The code of all importers comes with it.
    const [text, { renderComingFrom }] = await Promise.all([
      import("../imports/coming-from"),
      import("./coming-from"),
    ]);
    return htmlRepresentation(renderComingFrom(text.comingFrom()));
  });

  function once(name: string, make: () => Representation): Representation {
    let representation = made.get(name);
    if (!representation) {
      representation = make();
      made.set(name, representation);
    }
    return representation;
  }

  return declareRoutes()
    .get(
      "/openapi.json",
      async ({ request, requestContext }) => {
        const json = await jsonOf(edition);
        return json.respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "getOpenApi",
        summary: "Read this document",
        answers: { 200: { description: "OpenAPI 3.1.", schema: Type.Object({}) } },
        conditional: "etag",
        isCrossOrigin: true,
      }),
    )
    .get(
      "/schema/config.json",
      async ({ request, requestContext }) => {
        // Loaded on demand, so that a server does not need memory for the YAML library.
        const { configFileSchema } = await import("../features/apply/schema");
        return once(
          "config schema",
          () =>
            new Representation(JSON.stringify(configFileSchema()), {
              mediaType: "application/schema+json",
              cacheControl: PUBLIC_CACHE,
              isCrossOrigin: true,
            }),
        ).respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "getConfigFileSchema",
        summary: "Read the schema of the configuration file",
        answers: {
          200: {
            description: "JSON Schema, draft 7.",
            schema: Type.Object({}),
            mediaType: "application/schema+json",
          },
        },
        conditional: "etag",
        isCrossOrigin: true,
      }),
    )
    .get(
      "/openapi.yaml",
      async ({ request, requestContext }) => {
        const yaml = await yamlOf(edition);
        return yaml.respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "getOpenApiYaml",
        summary: "Read this document as YAML",
        answers: {
          200: {
            description: "OpenAPI 3.1.",
            schema: Type.Object({}),
            mediaType: "application/yaml",
          },
        },
        conditional: "etag",
        isCrossOrigin: true,
      }),
    )
    .get(
      "/api/v1",
      async ({ request, requestContext }) => {
        const index = await indexOf(edition);
        return index.respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "getIndex",
        summary: "List the addresses of the API",
        answers: { 200: { description: "The addresses.", schema: Index } },
        conditional: "etag",
        isCrossOrigin: true,
      }),
    )
    .get(
      "/docs",
      async ({ request, requestContext }) => {
        const page = await referencePage(INDEX_PATH);
        return page.respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "showReference",
        summary: "Show the API reference",
        answers: { 200: HTML_ANSWER },
        conditional: "etag",
      }),
    )
    .get(
      "/docs/:resource",
      async ({ params, request, requestContext }) => {
        const page = await referencePage(`${INDEX_PATH}/${params.resource}`);
        return page.respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "showResource",
        summary: "Show the reference of a resource",
        path: {
          resource: Type.String({ description: "Name of the resource.", examples: ["incidents"] }),
        },
        answers: { 200: HTML_ANSWER },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .get(
      "/docs/search",
      async ({ query, request, requestContext }) => {
        const { entries } = await referenceOf(edition);
        const search = (query.q ?? "").trim().slice(0, SEARCH_MAX);
        const page = htmlRepresentation(renderSearch(search, findEntries(entries, search)));
        return page.respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "searchReference",
        summary: "Search the API reference",
        query: Type.Object({
          q: Type.Optional(
            Type.String({
              description: "Words that all appear in a result.",
              examples: ["cursor"],
            }),
          ),
        }),
        answers: { 200: HTML_ANSWER },
        conditional: "etag",
      }),
    )
    .get(
      "/docs/try",
      async ({ request, requestContext }) => {
        const document = await renderExplorer(assets);
        return once("try", () => htmlRepresentation(document)).respond(request, requestContext);
      },
      operation({
        ...PAGE,
        id: "showForms",
        summary: "Show a form for each operation of the API",
        answers: { 200: HTML_ANSWER },
        conditional: "etag",
      }),
    )
    .get(
      "/docs/errors",
      ({ request, requestContext }) =>
        once("errors", () => htmlRepresentation(renderErrors())).respond(request, requestContext),
      operation({
        ...PAGE,
        id: "showErrors",
        summary: "Show the errors",
        answers: { 200: HTML_ANSWER },
        conditional: "etag",
      }),
    )
    .get(
      "/docs/coming-from",
      async ({ request, requestContext }) => (await comingFrom()).respond(request, requestContext),
      operation({
        ...PAGE,
        id: "showMoves",
        summary: "Show how to move from other products",
        answers: { 200: HTML_ANSWER },
        conditional: "etag",
      }),
    )
    .get(
      "/docs/licences",
      ({ request, requestContext }) =>
        once(
          "licences",
          () =>
            new Representation(LICENCES, {
              mediaType: "text/plain;charset=utf-8",
              cacheControl: PUBLIC_CACHE,
            }),
        ).respond(request, requestContext),
      operation({
        ...PAGE,
        id: "getLicences",
        summary: "Show the licences of the typeface and the icons",
        answers: { 200: { description: "Plain text.", mediaType: "text/plain" } },
        conditional: "etag",
      }),
    );
}

// The validator badge is off, since it would load from another host.
const START = `if(matchMedia("(prefers-color-scheme: dark)").matches)document.documentElement.classList.add("dark-mode");SwaggerUIBundle({url:"/openapi.json",dom_id:"#docs",deepLinking:true,validatorUrl:null,defaultModelsExpandDepth:0,persistAuthorization:false});`;

/** Assets of the API documentation. */
export const DOCS_ASSETS: AssetSource[] = [
  { name: "docs.js", mediaType: "text/javascript", content: { path: bundlePath } },
  { name: "docs.css", mediaType: "text/css", content: { path: stylePath } },
  { name: "docs-look.css", mediaType: "text/css", content: { text: minifyCss(tokens + look) } },
  { name: "docs-start.js", mediaType: "text/javascript", content: { text: START } },
  REFERENCE_SCRIPT,
];

/** Renders a form for each operation, which sends it. It needs a script, which is embedded in the executable. */
async function renderExplorer(assets: Assets): Promise<HtmlDocument> {
  const [style, look, script, start] = await Promise.all(
    ["docs.css", "docs-look.css", "docs.js", "docs-start.js"].map((name) => assets.pathOf(name)),
  );
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Try the API · Allclear</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${style}"><link rel="stylesheet" href="${look}"></head><body><header class="explorer-top"><a href="/">Allclear</a><nav aria-label="Documentation"><a href="/docs">Reference</a><a href="/docs/try" aria-current="page">Try it</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a></nav></header><main id="docs"><noscript>These forms need JavaScript. The <a href="/docs">reference</a> needs none.</noscript></main><script src="${script}"></script><script src="${start}"></script></body></html>`,
    policy:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
}

/** Lines written between two steps, in less than half a millisecond. */
const LINES_PER_STEP = 200;

/**
 * Writes JSON as YAML, readable by parsers of YAML 1.1 and 1.2: all texts are quoted as in JSON, which is YAML too.
 * The library `yaml` takes 1.5 s for the OpenAPI document, in one turn of the event loop.
 */
export function* yamlSteps(value: unknown): Generator<number, string> {
  const lines: string[] = [];
  let stepAt = LINES_PER_STEP;
  for (const line of linesOf(value, "", "")) {
    lines.push(line);
    if (lines.length < stepAt) continue;
    stepAt += LINES_PER_STEP;
    yield 1;
  }
  return `${lines.join("\n")}\n`;
}

/** Keys that need no quotes: names that no parser takes for another type. */
const PLAIN_KEY = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[A-Za-z$][\w$/-]*$/i;

/** Yields the lines of a value. `lead` is the text in front of its first line, `indent` that of the others. */
function* linesOf(value: unknown, lead: string, indent: string): Generator<string> {
  const entries = childrenOf(value);
  if (!entries || entries.length === 0) {
    yield `${lead}${JSON.stringify(value)}`;
    return;
  }
  let start = lead;
  for (const [key, child] of entries) {
    const inner = `${indent}  `;
    if (key === undefined) {
      yield* linesOf(child, `${start}- `, inner);
    } else {
      const name = PLAIN_KEY.test(key) ? key : JSON.stringify(key);
      if (childrenOf(child)?.length) {
        yield `${start}${name}:`;
        yield* linesOf(child, inner, inner);
      } else {
        yield `${start}${name}: ${JSON.stringify(child)}`;
      }
    }
    start = indent;
  }
}

/** Returns the entries of a list, whose keys are undefined, or of an object; undefined for another value. */
function childrenOf(value: unknown): [string | undefined, unknown][] | undefined {
  if (Array.isArray(value)) return value.map((item) => [undefined, item]);
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).filter(([, child]) => child !== undefined);
}
