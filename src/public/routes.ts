import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { notFound } from "../errors";
import type { Sessions } from "../features/auth";
import { findDefaultPage } from "../features/pages";
import type { Snapshot, Snapshots } from "../features/status";
import {
  type Admissions,
  NO_STORE,
  operation,
  findCurrentSession,
  PUBLIC_CACHE,
  representOnce,
  sendHtml,
} from "../http";
import { htmlRepresentation } from "./html";
import { renderEmptyHome, renderStatusPage } from "./status-page";

/** The pages that people read: `/` and `/status/{slug}`. */
export function publicRoutes(
  ctx: AppContext,
  admissions: Admissions,
  snapshots: Snapshots,
  sessions: Sessions,
) {
  const emptyHome = htmlRepresentation(renderEmptyHome());
  const pageOf = representOnce((snapshot: Snapshot) =>
    htmlRepresentation(renderStatusPage(snapshot.document)),
  );

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/",
      ({ request, admission }) => {
        const page = findDefaultPage(ctx.db, {});
        const snapshot =
          page?.visibility === "public" ? snapshots.read(page.slug, admission.now) : undefined;
        const html = snapshot ? pageOf(snapshot) : emptyHome;
        return html.respond(request, admission);
      },
      operation({
        summary: "The default page",
        tag: "Pages",
        access: { kind: "public" },
        answers: { 200: { description: "HTML." } },
      }),
    )
    .get(
      "/status/:slug",
      ({ params, request, admission }) => {
        const snapshot = snapshots.read(params.slug, admission.now);
        if (!snapshot) throw notFound("status page");
        const { slug, visibility } = snapshot.document.page;
        const isPublic = visibility === "public";
        // To who is not signed in, a private page is not there.
        if (!isPublic && !findCurrentSession(ctx, sessions, request, admission.now)) {
          throw notFound("status page");
        }
        if (slug !== params.slug) {
          // Not for ever: the slug may come back.
          const cacheControl = isPublic ? PUBLIC_CACHE : NO_STORE;
          const headers = { Location: `/status/${slug}`, "Cache-Control": cacheControl };
          return new Response(null, { status: 308, headers });
        }
        return isPublic
          ? pageOf(snapshot).respond(request, admission)
          : sendHtml(request, renderStatusPage(snapshot.document));
      },
      operation({
        summary: "A status page",
        tag: "Pages",
        access: { kind: "public" },
        answers: { 200: { description: "HTML." } },
        errors: ["not_found"],
      }),
    );
}
