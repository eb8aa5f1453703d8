import { notFound } from "../base/errors";
import { declareRoutes } from "../http/elysia";
import { operation } from "../http/operation";
import { type Assets, createAssets, UI_ASSETS } from "../ui/assets";
import { DOCS_ASSETS } from "./docs";
import { PAGE_SCRIPT, PREVIEW_PICTURES, STATIC_COPY_SCRIPT } from "./page-document";
import { COPY_SCRIPT } from "./subscribe";

/** Assets of status pages and of their copies. */
export const PUBLIC_ASSETS = [PAGE_SCRIPT, STATIC_COPY_SCRIPT, COPY_SCRIPT, ...PREVIEW_PICTURES];

/** Creates the assets of all pages. */
export function createAllAssets(): Assets {
  return createAssets([...DOCS_ASSETS, ...UI_ASSETS, ...PUBLIC_ASSETS]);
}

/** `/assets/{name}`: assets of all pages, by names that contain a hash. */
export function assetRoutes(assets: Assets) {
  return declareRoutes().get(
    "/assets/:name",
    async ({ params, request, requestContext }) => {
      const asset = await assets.find(params.name);
      if (!asset) throw notFound("asset");
      return asset.respond(request, requestContext);
    },
    operation({
      tag: "Documentation",
      access: { kind: "file" },
      onCustomDomain: "shared",
      summary: "Read a file of a page",
      answers: { 200: { description: "The file." } },
      errors: ["not_found"],
    }),
  );
}
