import interLicence from "@fontsource-variable/inter/LICENSE" with { type: "text" };
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import lucideLicence from "lucide-static/LICENSE" with { type: "text" };
import type { Ctx } from "../context";
import { readComingFrom } from "../features/imports/coming-from/load";
import type { RequestContexts } from "../http/elysia";
import { operation } from "../http/operation";
import { PUBLIC_CACHE } from "../http/cdn";
import { Representation } from "../http/representation";
import { lazy } from "../base/lazy";
import { makeInSlices, WHOLE_TURN } from "../base/in-slices";
import { yamlSteps } from "../base/yaml";
import type { Assets } from "../ui/assets";
import { renderErrorDocs, renderExplorer } from "./docs";
import type { OpenApi } from "./reference/openapi";
import { referenceSteps } from "./reference/reference";
import { HTML_ANSWER, htmlRepresentation } from "./answers";

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
export function docsRoutes(
  ctx: Ctx,
  requestContexts: RequestContexts,
  openApi: () => Generator<number, unknown>,
  assets: Assets,
) {
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

  const referenceOf = inSlices(function* (document) {
    return htmlRepresentation(yield* referenceSteps(document));
  });

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
    const [blocks, { renderComingFrom }] = await Promise.all([
      readComingFrom(),
      import("./coming-from"),
    ]);
    return htmlRepresentation(renderComingFrom(blocks));
  });

  function once(name: string, make: () => Representation): Representation {
    let representation = made.get(name);
    if (!representation) {
      representation = make();
      made.set(name, representation);
    }
    return representation;
  }

  return new Elysia()
    .use(requestContexts.plugin)
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
        const reference = await referenceOf(edition);
        return reference.respond(request, requestContext);
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
        once("errors", () => htmlRepresentation(renderErrorDocs())).respond(
          request,
          requestContext,
        ),
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
