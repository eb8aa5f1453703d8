import { Elysia } from "elysia";
import {
  countKeys,
  endOldValues,
  getKeyListing,
  KEY_FILTERS,
  type KeyFilter,
  listKeyPage,
  OVERLAPS,
  type Overlap,
  revokeKey,
  rotateKey,
  SCOPE_NAMES,
  type Scope,
  updateKey,
  usageOfKey,
} from "../../features/keys";
import { actorOf, formBody, operation, seeOther, session, sessionOf } from "../../http";
import { toIso } from "../../kernel/time";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../form-errors";
import { newFormToken } from "../form-token";
import { type AdminParts, screen } from "../parts";
import type { ScreenRequest } from "../screens";
import { RevokeKey, RotateKey } from "./confirm";
import { createFromForm, emptyForm, formValues, readRateLimit } from "./create";
import { KeyDetail } from "./detail";
import { KeyForm, type KeyFormValues } from "./form";
import { KeyList } from "./list";
import { KEYS_PATH, keyPath } from "./paths";
import { RevealedValue, ShownBefore } from "./reveal";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyScreens(parts: AdminParts) {
  const { ctx, admissions, screens, flashes, reveals, usage } = parts;
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
      endpoints: endpointsByScope(parts.routes()),
      today: toIso(ctx.clock.now()).slice(0, 10),
    };
    return screens.show(at, {
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
    return screens.show(at, {
      title: listing.name,
      status: form ? 422 : 200,
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

  function showRotation(at: ScreenRequest, id: string, overlap: string, complaint?: string) {
    const page = {
      listing: listingOf(id),
      overlap,
      formToken: newFormToken(ctx),
      now: ctx.clock.now(),
    };
    return screens.show(at, {
      title: "Rotate key",
      status: complaint === undefined ? 200 : 422,
      children: <RotateKey {...page} {...(complaint === undefined ? {} : { complaint })} />,
    });
  }

  function showReveal(
    at: ScreenRequest,
    reveal: Awaited<ReturnType<typeof createFromForm>>,
    isRotation: boolean,
  ) {
    if ("shownBefore" in reveal) {
      return screens.show(at, {
        title: "The value was shown",
        children: <ShownBefore keyId={reveal.shownBefore} isRotation={isRotation} />,
      });
    }
    const { baseUrl } = ctx;
    const page = { revealed: reveal.revealed, baseUrl, isRotation, now: ctx.clock.now() };
    return screens.show(at, {
      title: "Copy the key now",
      isSecret: true,
      children: <RevealedValue {...page} />,
    });
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
        return screens.show(
          { request, admission },
          { title: "API Keys", children: <KeyList {...list} isContinued={before !== undefined} /> },
        );
      },
      operation(screen("The list of API keys", MAY_MANAGE)),
    )
    .get(
      "/new",
      async ({ request, admission, query }) =>
        showForm({ request, admission }, emptyForm(query["preset"])),
      operation(screen("The form for a new API key", MAY_MANAGE)),
    )
    .post(
      "/new",
      async ({ request, admission, body: form }) => {
        const at = { request, admission };
        try {
          const actor = actorOf(admission);
          const { id } = sessionOf(admission);
          return await showReveal(at, await createFromForm(ctx, reveals, id, form, actor), false);
        } catch (error) {
          return showForm(at, formValues(form), complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...operation(screen("Create an API key", MAY_MANAGE)) },
    )
    .get(
      "/:id",
      async ({ request, admission, params }) => showDetail({ request, admission }, params.id),
      operation(screen("One API key", MAY_MANAGE)),
    )
    .post(
      "/:id",
      async ({ request, admission, params, body: form }) => {
        const typed = { name: form.text("name"), rateLimit: form.text("rate_limit") };
        const input = { name: typed.name, rate_limit: readRateLimit(typed.rateLimit) };
        try {
          await ctx.db.write((tx) => updateKey(ctx, tx, params.id, input, actorOf(admission)));
        } catch (error) {
          const complaints = complaintsOrThrow(error);
          return showDetail({ request, admission }, params.id, { ...typed, complaints });
        }
        flashes.put(sessionOf(admission).id, { tone: "success", text: "The key was changed." });
        return seeOther(keyPath(params.id));
      },
      { ...formBody(), ...operation(screen("Change a key's name and limit", MAY_MANAGE)) },
    )
    .get(
      "/:id/rotate",
      async ({ request, admission, params }) =>
        showRotation({ request, admission }, params.id, "24h"),
      operation(screen("Asks before a key is rotated", MAY_MANAGE)),
    )
    .post(
      "/:id/rotate",
      async ({ request, admission, params, body: form }) => {
        const at = { request, admission };
        const overlap = form.text("overlap");
        if (!isOverlap(overlap)) {
          return showRotation(at, params.id, "24h", "Choose when the old value ends.");
        }
        const actor = actorOf(admission);
        const reveal = await reveals.reveal(sessionOf(admission).id, form, (tx) => {
          const made = rotateKey(ctx, tx, params.id, overlap, actor);
          return { made, subjectId: made.key.id };
        });
        return showReveal(at, reveal, true);
      },
      { ...formBody(), ...operation(screen("Rotate a key", MAY_MANAGE)) },
    )
    .post(
      "/:id/end-old-value",
      async ({ admission, params }) => {
        await ctx.db.write((tx) => endOldValues(ctx, tx, params.id, actorOf(admission)));
        flashes.put(sessionOf(admission).id, { tone: "success", text: "The old value has ended." });
        return seeOther(keyPath(params.id));
      },
      { ...formBody(), ...operation(screen("End a rotated key's old value", MAY_MANAGE)) },
    )
    .get(
      "/:id/revoke",
      async ({ request, admission, params }) => {
        const now = ctx.clock.now();
        const listing = listingOf(params.id);
        const lastDay = usageOfKey(ctx.db, params.id, now);
        return screens.show(
          { request, admission },
          {
            title: "Revoke key",
            children: <RevokeKey listing={listing} usage={lastDay} now={now} />,
          },
        );
      },
      operation(screen("Asks before a key is revoked", MAY_MANAGE)),
    )
    .post(
      "/:id/revoke",
      async ({ admission, params }) => {
        const key = await ctx.db.write((tx) => revokeKey(ctx, tx, params.id, actorOf(admission)));
        const text = `“${key.name}” is revoked. Its next request is refused.`;
        flashes.put(sessionOf(admission).id, { tone: "success", text });
        return seeOther(KEYS_PATH);
      },
      { ...formBody(), ...operation(screen("Revoke a key", MAY_MANAGE)) },
    );
}

function readFilter(text: string | undefined): KeyFilter {
  return KEY_FILTERS.find((filter) => filter === text) ?? "all";
}

function isOverlap(text: string): text is Overlap {
  return Object.hasOwn(OVERLAPS, text);
}

/** The endpoints that each scope opens, as the documentation writes them. */
function endpointsByScope({ routes }: ReturnType<AdminParts["routes"]>): Map<Scope, string[]> {
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
