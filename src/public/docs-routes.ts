import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { notFound } from "../errors";
import { type Admissions, operation, PUBLIC_CACHE, Representation } from "../http";
import { type Assets, createAssets, UI_ASSETS } from "../ui";
import { DOCS_ASSETS, renderDocs, renderErrorDocs } from "./docs";
import { htmlRepresentation } from "./html";

const PAGE = { tag: "Documentation", access: { kind: "public" } } as const;

/** Every file that a page of this server refers to. */
export function createAllAssets(): Assets {
  return createAssets([...DOCS_ASSETS, ...UI_ASSETS]);
}

/**
 * `/openapi.json`, `/docs`, `/docs/errors`, and the assets of these and of all other pages. `openApi`
 * gives the document of all routes; it is asked at the first reading, when all of them are known.
 */
export function docsRoutes(
  ctx: AppContext,
  admissions: Admissions,
  openApi: () => unknown,
  assets: Assets,
) {
  const made = new Map<string, Representation>();
  // The document names the public address.
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
    .use(admissions.plugin)
    .get(
      "/openapi.json",
      ({ request, admission }) =>
        once(
          "openapi",
          () =>
            new Representation(JSON.stringify(openApi()), {
              mediaType: "application/json",
              cacheControl: PUBLIC_CACHE,
              isCrossOrigin: true,
            }),
        ).respond(request, admission),
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
      async ({ request, admission }) => {
        const document = await renderDocs(assets);
        return once("docs", () => htmlRepresentation(document)).respond(request, admission);
      },
      operation({
        ...PAGE,
        summary: "The API, to try",
        answers: { 200: { description: "HTML." } },
      }),
    )
    .get(
      "/docs/errors",
      ({ request, admission }) =>
        once("errors", () => htmlRepresentation(renderErrorDocs())).respond(request, admission),
      operation({ ...PAGE, summary: "The errors", answers: { 200: { description: "HTML." } } }),
    )
    .get(
      "/assets/:name",
      async ({ params, request, admission }) => {
        const asset = await assets.find(params.name);
        if (!asset) throw notFound("asset");
        return asset.respond(request, admission);
      },
      operation({
        tag: PAGE.tag,
        access: { kind: "file" },
        summary: "A file that a page needs",
        answers: { 200: { description: "The file." } },
        errors: ["not_found"],
      }),
    );
}
