import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import type { Snapshots } from "../features/status/snapshots";
import { type Operation, operation } from "../http/operation";
import type { RequestContexts } from "../http/elysia";
import type { Call } from "./gatus/call";
import { createReads, type Read } from "./gatus/reads";

/**
 * The public paths of Gatus, for clients that read its endpoints: below `/compat/gatus` for the default page,
 * below `/compat/gatus/{slug}` for each, and at the root of custom domains. Errors have its texts. Pages that
 * are not public or not marked do not exist here.
 */
export function gatusRoutes(ctx: Ctx, requestContexts: RequestContexts, snapshots: Snapshots) {
  const routes = new Elysia().use(requestContexts.plugin);
  for (const read of createReads(ctx, snapshots)) {
    routes.get(`/compat/gatus${read.path}`, read.answer, declare(read, ""));
    routes.get(`/compat/gatus/:slug${read.path}`, read.answer, declare(read, "OfPage"));
    routes.get(
      read.path,
      (call: Call) => {
        // The API of this server has the same place on other hosts.
        if (!call.requestContext.domain) throw notFound("path");
        return read.answer(call);
      },
      declare(read, undefined),
    );
  }
  return routes;
}

const PATH = {
  key: Type.String({
    description: "The key of the endpoint: its group and name as Gatus writes them.",
    examples: ["core_api"],
  }),
  duration: Type.String({
    description: "`30d`, `7d` or `24h`, and for single figures `1h`, which means two hours.",
    examples: ["24h"],
  }),
};

/** Declares a read; without `suffix` it is not in the OpenAPI document. */
function declare(
  { path, name, summary, schema, mediaType, more, query }: Read,
  suffix: string | undefined,
) {
  const text = { schema: Type.String(), mediaType: "text/plain" };
  const found = schema ? { schema } : { schema: Type.String(), mediaType: mediaType ?? "" };
  const rejected: Operation["answers"] = path.includes("/:duration")
    ? { 400: { description: "The duration is not supported.", ...text } }
    : {};
  return operation({
    id: suffix === undefined ? undefined : `getGatus${name}${suffix}`,
    summary,
    description: "In the form of Gatus.",
    tag: "Compatibility",
    access: { kind: "public" },
    path: PATH,
    ...(query ? { query } : {}),
    onCustomDomain: "page",
    conditional: "etag",
    isCrossOrigin: true,
    errors: suffix === undefined ? ["not_found"] : [],
    answers: {
      200: { description: `${summary}.`, ...found },
      ...more,
      ...rejected,
      404: { description: "There is no such page or component.", ...text },
    },
  });
}
