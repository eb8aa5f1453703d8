import {
  countKeys,
  createKey,
  endOldValues,
  getKey,
  getKeyListing,
  KEY_FILTERS,
  type KeyFilter,
  type KeyListing,
  listKeyPage,
  type RevealedKey,
  revokeKey,
  rotateKey,
  SCOPE_NAMES,
  type Scope,
  updateKey,
  usageOfKey,
} from "../../features/keys";
import type { AdminDependencies } from "../dependencies";
import { NO_ERRORS } from "../forms/field";
import type { StateOf } from "../forms/form";
import { KEYS_PATH, keyPath } from "../paths";
import type { Screen } from "../render";
import type { Reveal } from "../reveals";
import { createArea } from "../screens/area";
import { RevokeKey, RotateKey } from "./confirm";
import { CreateKey } from "./create";
import { KeyDetail } from "./detail";
import { KEY_EDIT_FORM, KEY_FORM, presetValues, ROTATE_FORM } from "./forms";
import { KeyList } from "./list";
import { RevealedValue, ShownBefore } from "./reveal";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(deps: AdminDependencies) {
  const { ctx, usage } = deps;
  const area = createArea(deps, KEYS_PATH, "admin");

  /** Returns a key, including uses that are not yet stored. Throws `not_found`. */
  function listingOf(id: string): KeyListing {
    return getKeyListing(ctx.db, id, ctx.clock.now(), usage.pendingLastUse);
  }

  function detail(listing: KeyListing, edit: StateOf<typeof KEY_EDIT_FORM>): Screen {
    const now = ctx.clock.now();
    const page = { listing, edit, usage: usageOfKey(ctx.db, listing.id, now), now };
    return { title: listing.name, children: <KeyDetail {...page} /> };
  }

  function showValue(reveal: Reveal<RevealedKey>, title: string): Screen {
    if ("shownBefore" in reveal) {
      const page = { title: "This value was already shown", keyId: reveal.shownBefore };
      return { title: page.title, children: <ShownBefore {...page} /> };
    }
    const { baseUrl, clock } = ctx;
    const page = { title, revealed: reveal.revealed, baseUrl, now: clock.now() };
    return { title, isSecret: true, children: <RevealedValue {...page} /> };
  }

  area.screen("", "The list of API keys", ({ query }) => {
    const now = ctx.clock.now();
    const search = (query["q"] ?? "").trim();
    const filter = readFilter(query["show"]);
    const before = query["before"];
    const request = { search, filter, limit: PAGE_SIZE, now, ...(before ? { before } : {}) };
    const { keys, nextBefore } = listKeyPage(ctx.db, request, usage.pendingLastUse);
    const list = { keys, counts: countKeys(ctx.db, now), search, filter, nextBefore, now };
    return {
      title: "API Keys",
      children: <KeyList {...list} isContinued={before !== undefined} />,
    };
  });

  area.createSecretForm("/new", {
    ask: "The form for a new API key",
    summary: "Create an API key",
    form: KEY_FORM,
    initial: ({ query }) => presetValues(query["preset"]),
    context: () => ({ now: ctx.clock.now(), endpoints: endpointsByScope(deps.routes) }),
    show: ({ formToken, ...state }) => ({
      title: "Create API Key",
      children: <CreateKey state={state} formToken={formToken} />,
    }),
    create(tx, body, actor) {
      const made = createKey(ctx, tx, body, actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => showValue(reveal, "Copy the key now"),
  });

  area.screen("/:id", "One API key", ({ params }) => {
    const listing = listingOf(params.id);
    const values = KEY_EDIT_FORM.stored(listing);
    return detail(listing, { values, errors: NO_ERRORS, context: undefined });
  });

  area.editForm("/:id", {
    summary: "Change a key's name and limit",
    form: KEY_EDIT_FORM,
    context: () => undefined,
    load: (tx, { params }) => getKey(tx, params.id),
    show: (state, { params }) => detail(listingOf(params.id), state),
    update: (tx, changes, actor, { params }) => updateKey(ctx, tx, params.id, changes, actor),
    done: ({ params }) => ({ path: keyPath(params.id), text: "The key was changed." }),
  });

  area.createSecretForm("/:id/rotate", {
    ask: "Asks before a key is rotated",
    summary: "Rotate a key",
    form: ROTATE_FORM,
    context: () => undefined,
    show({ formToken, ...state }, { params }) {
      const listing = listingOf(params.id);
      if (listing.state !== "live") return { path: keyPath(listing.id) };
      const title = `Rotate “${listing.name}”`;
      const page = { title, listing, state, formToken, now: ctx.clock.now() };
      return { title, children: <RotateKey {...page} /> };
    },
    create(tx, { overlap }, actor, { params }) {
      const made = rotateKey(ctx, tx, params.id, overlap, actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => showValue(reveal, "Copy the new value now"),
  });

  area.action("/:id/end-old-value", {
    summary: "End a rotated key's old value",
    run: (tx, { params }, actor) => endOldValues(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: keyPath(params.id), text: "The old value no longer works." }),
  });

  area.screen("/:id/revoke", "Asks before a key is revoked", ({ params }) => {
    const listing = listingOf(params.id);
    if (listing.state !== "live") return { path: keyPath(listing.id) };
    const now = ctx.clock.now();
    const title = `Revoke “${listing.name}”`;
    const page = { title, listing, usage: usageOfKey(ctx.db, params.id, now), now };
    return { title, children: <RevokeKey {...page} /> };
  });

  area.action("/:id/revoke", {
    summary: "Revoke a key",
    run: (tx, { params }, actor) => revokeKey(ctx, tx, params.id, actor),
    done: ({ name }) => ({
      path: KEYS_PATH,
      text: `“${name}” was revoked. Requests with it are now refused.`,
    }),
  });

  return area.routes;
}

function readFilter(text: string | undefined): KeyFilter {
  return KEY_FILTERS.find((filter) => filter === text) ?? "all";
}

/** Returns the endpoints that each scope opens, written as in the documentation. */
function endpointsByScope({ routes }: AdminDependencies["routes"]): Map<Scope, string[]> {
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
