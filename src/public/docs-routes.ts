import interLicence from "@fontsource-variable/inter/LICENSE" with { type: "text" };
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import lucideLicence from "lucide-static/LICENSE" with { type: "text" };
import type { AppContext } from "../context";
import { type RequestContexts, operation, PUBLIC_CACHE, Representation } from "../http";
import type { Assets } from "../ui";
import { renderDocs, renderErrorDocs } from "./docs";
import { htmlRepresentation } from "./answers";

const LICENCES = `Inter\n\n${interLicence}\n\nLucide\n\n${lucideLicence}`;

const PAGE = { tag: "Documentation", access: { kind: "public" } } as const;

/**
 * `/openapi.json`, `/docs` and `/docs/errors`. `openApi` returns the document of all routes. It is called at
 * the first request, when all routes are known.
 */
export function docsRoutes(
  ctx: AppContext,
  requestContexts: RequestContexts,
  openApi: () => unknown,
  assets: Assets,
) {
  const made = new Map<string, Representation>();
  // The document contains the public address.
  ctx.signals.settingsChanged.on(() => made.delete("openapi"));

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
      ({ request, requestContext }) =>
        once(
          "openapi",
          () =>
            new Representation(JSON.stringify(openApi()), {
              mediaType: "application/json",
              cacheControl: PUBLIC_CACHE,
              isCrossOrigin: true,
            }),
        ).respond(request, requestContext),
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
      "/docs",
      async ({ request, requestContext }) => {
        const document = await renderDocs(assets);
        return once("docs", () => htmlRepresentation(document)).respond(request, requestContext);
      },
      operation({
        ...PAGE,
        summary: "Show the API documentation",
        answers: { 200: { description: "HTML." } },
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
        summary: "Show the errors",
        answers: { 200: { description: "HTML." } },
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
        summary: "Show the licences of the typeface and the icons",
        answers: { 200: { description: "Plain text." } },
      }),
    );
}
