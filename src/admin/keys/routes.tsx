import { Elysia } from "elysia";
import {
  countKeys,
  endOldValues,
  getKey,
  getKeyListing,
  KEY_FILTERS,
  type KeyFilter,
  type KeyListing,
  listKeyPage,
  OVERLAPS,
  type Overlap,
  type RevealedKey,
  revokeKey,
  rotateKey,
  SCOPE_NAMES,
  type Scope,
  updateKey,
  usageOfKey,
} from "../../features/keys";
import { actorOf, formBody, seeOther, session } from "../../http";
import { toIso } from "../../kernel/time";
import { createDone } from "../done";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminParts } from "../parts";
import { KEYS_PATH, keyPath } from "../paths";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { screenOperation } from "../screen-operation";
import { RevokeKey, RotateKey } from "./confirm";
import { createFromForm, emptyForm, formValues, readRateLimit } from "./create";
import { KeyDetail } from "./detail";
import { KeyForm, type KeyFormValues } from "./form";
import { KeyList } from "./list";
import { RevealedValue, ShownBefore } from "./reveal";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(parts: AdminParts) {
  const { ctx, admissions, render, reveals, usage, writeAs } = parts;
  const done = createDone(parts.flashes);
  const MAY_MANAGE = session("admin");

  /** A key as it is now, its uses of the last seconds included. Throws `not_found`. */
  function listingOf(id: string) {
    return getKeyListing(ctx.db, id, ctx.clock.now(), usage.pendingLastUse);
  }

  function showForm(at: ScreenRequest, values: KeyFormValues, complaints = NO_COMPLAINTS) {
    const page = {
      values,
      complaints,
      formToken: newFormToken(ctx),
      endpoints: endpointsByScope(parts.routes),
      today: toIso(ctx.clock.now()).slice(0, 10),
    };
    return render.screen(at, {
      title: "Create API Key",
      status: statusOf(complaints),
      children: <KeyForm {...page} />,
    });
  }

  function showDetail(
    at: ScreenRequest,
    id: string,
    form?: { name: string; rateLimit: string; complaints: Complaints },
  ) {
    const now = ctx.clock.now();
    const listing = listingOf(id);
    const values = form ?? { name: listing.name, rateLimit: String(listing.rate_limit) };
    return render.screen(at, {
      title: listing.name,
      status: statusOf(form?.complaints ?? NO_COMPLAINTS),
      children: (
        <KeyDetail
          listing={listing}
          usage={usageOfKey(ctx.db, id, now)}
          values={values}
          complaints={form?.complaints ?? NO_COMPLAINTS}
          now={now}
        />
      ),
    });
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

  /** What a form has made, named by `title`, or the word that it was shown before. */
  function showReveal(at: ScreenRequest, reveal: Reveal<RevealedKey>, title: string) {
    if ("shownBefore" in reveal) {
      const page = { title: "This value was already shown", keyId: reveal.shownBefore };
      return render.screen(at, { title: page.title, children: <ShownBefore {...page} /> });
    }
    const { baseUrl } = ctx;
    const page = { title, revealed: reveal.revealed, baseUrl, now: ctx.clock.now() };
    return render.screen(at, { title, isSecret: true, children: <RevealedValue {...page} /> });
  }

  return new Elysia({ prefix: KEYS_PATH })
    .use(admissions.plugin)
    .get(
      "",
      async ({ request, admission, query }) => {
        const now = ctx.clock.now();
        const search = (query["q"] ?? "").trim();
        const filter = readFilter(query["show"]);
        const before = query["before"];
        const asked = { search, filter, limit: PAGE_SIZE, now, ...(before ? { before } : {}) };
        const { keys, nextBefore } = listKeyPage(ctx.db, asked, usage.pendingLastUse);
        const list = { keys, counts: countKeys(ctx.db, now), search, filter, nextBefore, now };
        return render.screen(
          { request, admission },
          { title: "API Keys", children: <KeyList {...list} isContinued={before !== undefined} /> },
        );
      },
      screenOperation("The list of API keys", MAY_MANAGE),
    )
    .get(
      "/new",
      async ({ request, admission, query }) =>
        showForm({ request, admission }, emptyForm(query["preset"])),
      screenOperation("The form for a new API key", MAY_MANAGE),
    )
    .post(
      "/new",
      async ({ request, admission, body: form }) => {
        const at = { request, admission };
        try {
          const reveal = await createFromForm(ctx, reveals, admission, form);
          return await showReveal(at, reveal, "Copy the key now");
        } catch (error) {
          return showForm(at, formValues(form), complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Create an API key", MAY_MANAGE) },
    )
    .get(
      "/:id",
      async ({ request, admission, params }) => showDetail({ request, admission }, params.id),
      screenOperation("One API key", MAY_MANAGE),
    )
    .post(
      "/:id",
      async ({ request, admission, params, body: form }) => {
        const typed = { name: form.text("name"), rateLimit: form.text("rate_limit") };
        const input = { name: typed.name.trim(), rate_limit: readRateLimit(typed.rateLimit) };
        let isChanged: boolean;
        try {
          isChanged = await writeAs(admission, (tx) => {
            const { version } = getKey(tx, params.id);
            const key = updateKey(ctx, tx, params.id, input, actorOf(admission));
            return key.version !== version;
          });
        } catch (error) {
          const complaints = complaintsOrThrow(error);
          return showDetail({ request, admission }, params.id, { ...typed, complaints });
        }
        return done(admission, keyPath(params.id), isChanged ? "The key was changed." : undefined);
      },
      { ...formBody(), ...screenOperation("Change a key's name and limit", MAY_MANAGE) },
    )
    .get(
      "/:id/rotate",
      async ({ request, admission, params }) => {
        const listing = listingOf(params.id);
        if (listing.state !== "live") return seeOther(keyPath(listing.id));
        return showRotation({ request, admission }, listing);
      },
      screenOperation("Asks before a key is rotated", MAY_MANAGE),
    )
    .post(
      "/:id/rotate",
      async ({ request, admission, params, body: form }) => {
        const at = { request, admission };
        const overlap = form.text("overlap");
        if (!isOverlap(overlap)) {
          const complaints = { overlap: "Choose when the old value ends." };
          return showRotation(at, listingOf(params.id), complaints);
        }
        const actor = actorOf(admission);
        const reveal = await reveals.reveal(admission, form, (tx) => {
          const made = rotateKey(ctx, tx, params.id, overlap, actor);
          return { made, subjectId: made.key.id };
        });
        return showReveal(at, reveal, "Copy the new value now");
      },
      { ...formBody(), ...screenOperation("Rotate a key", MAY_MANAGE) },
    )
    .post(
      "/:id/end-old-value",
      async ({ admission, params }) => {
        await writeAs(admission, (tx) => endOldValues(ctx, tx, params.id, actorOf(admission)));
        return done(admission, keyPath(params.id), "The old value no longer works.");
      },
      { ...formBody(), ...screenOperation("End a rotated key's old value", MAY_MANAGE) },
    )
    .get(
      "/:id/revoke",
      async ({ request, admission, params }) => {
        const now = ctx.clock.now();
        const listing = listingOf(params.id);
        if (listing.state !== "live") return seeOther(keyPath(listing.id));
        const title = `Revoke “${listing.name}”`;
        const page = { title, listing, usage: usageOfKey(ctx.db, params.id, now), now };
        return render.screen({ request, admission }, { title, children: <RevokeKey {...page} /> });
      },
      screenOperation("Asks before a key is revoked", MAY_MANAGE),
    )
    .post(
      "/:id/revoke",
      async ({ admission, params }) => {
        const key = await writeAs(admission, (tx) =>
          revokeKey(ctx, tx, params.id, actorOf(admission)),
        );
        const text = `“${key.name}” was revoked. Requests with it are now refused.`;
        return done(admission, KEYS_PATH, text);
      },
      { ...formBody(), ...screenOperation("Revoke a key", MAY_MANAGE) },
    );
}

function readFilter(text: string | undefined): KeyFilter {
  return KEY_FILTERS.find((filter) => filter === text) ?? "all";
}

function isOverlap(text: string): text is Overlap {
  return Object.hasOwn(OVERLAPS, text);
}

/** The endpoints that each scope opens, as the documentation writes them. */
function endpointsByScope({ routes }: AdminParts["routes"]): Map<Scope, string[]> {
  return new Map(
    SCOPE_NAMES.map((scope) => [
      scope,
      routes
        .filter(
          ({ operation: { access } }) => access.kind === "key" && access.scopes.includes(scope),
        )
        .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`),
    ]),
  );
}
