import { Elysia } from "elysia";
import {
  endOldValues,
  getKeyListing,
  type KeyListing,
  OVERLAPS,
  type Overlap,
  revokeKey,
  rotateKey,
  usageOfKey,
} from "../../features/keys";
import { actorOf, formBody, seeOther, session } from "../../http";
import { createDone } from "../done";
import { NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { KEYS_PATH, keyPath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { RevokeKey, RotateKey } from "./confirm";
import { createValueReveal } from "./show-value";

/** Another value for a key, the end of its old one and of the key itself, below `/admin/settings/keys`. */
export function keyVerbRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, reveals, usage, writeAs } = deps;
  const done = createDone(deps.flashes);
  const showValue = createValueReveal(deps);
  const MAY_MANAGE = session("admin");

  /** A key as it is now, its uses of the last seconds included. Throws `not_found`. */
  function listingOf(id: string) {
    return getKeyListing(ctx.db, id, ctx.clock.now(), usage.pendingLastUse);
  }

  function showRotation(at: ScreenRequest, listing: KeyListing, complaints = NO_COMPLAINTS) {
    const title = `Rotate “${listing.name}”`;
    const formToken = newFormToken(ctx);
    const page = { title, listing, overlap: "24h", complaints, formToken, now: ctx.clock.now() };
    return render.screen(at, {
      title,
      status: statusOf(complaints),
      children: <RotateKey {...page} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/rotate",
      async ({ request, requestContext, params }) => {
        const listing = listingOf(params.id);
        if (listing.state !== "live") return seeOther(keyPath(listing.id));
        return showRotation({ request, requestContext }, listing);
      },
      screenOperation("Asks before a key is rotated", MAY_MANAGE),
    )
    .post(
      "/:id/rotate",
      async ({ request, requestContext, params, body: form }) => {
        const at = { request, requestContext };
        const overlap = form.text("overlap");
        if (!isOverlap(overlap)) {
          const complaints = { overlap: "Choose when the old value ends." };
          return showRotation(at, listingOf(params.id), complaints);
        }
        const actor = actorOf(requestContext);
        const reveal = await reveals.reveal(requestContext, form, (tx) => {
          const made = rotateKey(ctx, tx, params.id, overlap, actor);
          return { made, subjectId: made.key.id };
        });
        return showValue(at, reveal, "Copy the new value now");
      },
      { ...formBody(), ...screenOperation("Rotate a key", MAY_MANAGE) },
    )
    .post(
      "/:id/end-old-value",
      async ({ requestContext, params }) => {
        await writeAs(requestContext, (tx) =>
          endOldValues(ctx, tx, params.id, actorOf(requestContext)),
        );
        return done(requestContext, keyPath(params.id), "The old value no longer works.");
      },
      { ...formBody(), ...screenOperation("End a rotated key's old value", MAY_MANAGE) },
    )
    .get(
      "/:id/revoke",
      async ({ request, requestContext, params }) => {
        const now = ctx.clock.now();
        const listing = listingOf(params.id);
        if (listing.state !== "live") return seeOther(keyPath(listing.id));
        const title = `Revoke “${listing.name}”`;
        const page = { title, listing, usage: usageOfKey(ctx.db, params.id, now), now };
        return render.screen(
          { request, requestContext },
          { title, children: <RevokeKey {...page} /> },
        );
      },
      screenOperation("Asks before a key is revoked", MAY_MANAGE),
    )
    .post(
      "/:id/revoke",
      async ({ requestContext, params }) => {
        const key = await writeAs(requestContext, (tx) =>
          revokeKey(ctx, tx, params.id, actorOf(requestContext)),
        );
        const text = `“${key.name}” was revoked. Requests with it are now refused.`;
        return done(requestContext, KEYS_PATH, text);
      },
      { ...formBody(), ...screenOperation("Revoke a key", MAY_MANAGE) },
    );
}

function isOverlap(text: string): text is Overlap {
  return Object.hasOwn(OVERLAPS, text);
}
