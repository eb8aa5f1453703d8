import { Type } from "@sinclair/typebox";
import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import type { Sessions } from "../features/auth/sessions";
import { readLogo } from "../features/pages/logo";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import { declareRoutes } from "../http/elysia";
import { findCurrentSession } from "../http/cookies";
import { IMMUTABLE } from "../http/cdn";
import { NO_STORE, Representation, representOnce } from "../http/representation";
import { operation } from "../http/operation";

/**
 * `/status/{slug}/logo/{file}`: the logo of a page, by a name that contains its hash. The logo of a private
 * page is sent only to signed-in users, and must not be cached.
 */
export function logoRoutes(ctx: Ctx, snapshots: Snapshots, sessions: Sessions) {
  const logoOf = representOnce((snapshot: Snapshot) => {
    const { id, visibility } = snapshot.document.page;
    // Another process may have changed the logo. Its name must not be used for other bytes.
    const logo = readLogo(ctx.db, id, fileOf(snapshot));
    if (!logo) throw notFound("logo");
    return new Representation(new Uint8Array(logo.bytes), {
      mediaType: logo.mediaType,
      cacheControl: visibility === "public" ? IMMUTABLE : NO_STORE,
      isCompressed: true,
      headers: { "Content-Security-Policy": "default-src 'none'" },
    });
  });

  return declareRoutes().get(
    "/status/:slug/logo/:file",
    ({ params, request, requestContext }) =>
      snapshots.whenReady(params.slug, requestContext.now, () => {
        const snapshot = snapshots.read(params.slug, requestContext.now);
        const isPublic = snapshot?.document.page.visibility === "public";
        if (isPublic) requestContext.shownPageId = snapshot.document.page.id;
        if (!snapshot || fileOf(snapshot) !== params.file) throw notFound("logo");
        if (!isPublic && !findCurrentSession(ctx, sessions, request, requestContext.now)) {
          throw notFound("logo");
        }
        return logoOf(snapshot).respond(request, requestContext);
      }),
    operation({
      id: "getLogo",
      tag: "Pages",
      access: { kind: "file" },
      onCustomDomain: "page",
      summary: "Read the logo of a page",
      description:
        "`logo` of a page has its address. The logo of a private page is sent to signed-in users.",
      conditional: "etag",
      path: { file: Type.String({ description: "Name of the file, which contains its hash." }) },
      answers: {
        200: {
          description: "The logo.",
          mediaType: "image/png",
          alsoAs: ["image/jpeg", "image/webp"],
        },
      },
      errors: ["not_found"],
    }),
  );
}

function fileOf({ document }: Snapshot): string | undefined {
  return document.page.logo?.split("/").at(-1);
}
