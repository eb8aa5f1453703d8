import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { notFound } from "../errors";
import { findDefaultPage } from "../features/pages";
import type { Snapshot, Snapshots } from "../features/status";
import { type Admissions, operation, PUBLIC_CACHE, representOnce } from "../http";
import { htmlRepresentation } from "./html";
import { renderEmptyHome, renderStatusPage } from "./status-page";

/** The pages that people read: `/` and `/status/{slug}`. */
export function publicRoutes(ctx: AppContext, admissions: Admissions, snapshots: Snapshots) {
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
        if (snapshot?.document.page.visibility !== "public") throw notFound("status page");
        const { slug } = snapshot.document.page;
        if (slug !== params.slug) {
          // Not for ever: the slug may come back.
          const headers = { Location: `/status/${slug}`, "Cache-Control": PUBLIC_CACHE };
          return new Response(null, { status: 308, headers });
        }
        return pageOf(snapshot).respond(request, admission);
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
