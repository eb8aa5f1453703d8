import { sessionOf } from "../../../http/request-context";
import type { StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { keyPath, KEYS_PATH } from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import type { Reveal } from "../../../ui/frame/changes";
import { createArea } from "../../../ui/screens/area";
import { shownBefore } from "../../../ui/screens/form-screen";
import { ShowInstead } from "../../../ui/screens/routes";
import { linksOf } from "../../activity/screens/target-links";
import {
  countKeys,
  createKey,
  endOldValues,
  getKey,
  getKeyListing,
  type KeyListing,
  listKeyPage,
  type RevealedKey,
  revokeKey,
  rotateKey,
  updateKey,
  usageOfKey,
} from "../keys";
import { KEY_FILTERS, type KeyFilter } from "../rules";
import { type Scope, SCOPE_NAMES } from "../scopes";
import { KeyDetail, RevealedValue, RevokeKey, RotateKey } from "./detail";
import {
  CreateKey,
  fillInPreset,
  KEY_EDIT_FORM,
  KEY_FORM,
  presetValues,
  ROTATE_FORM,
} from "./forms";
import { KeyList } from "./list";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(deps: AdminDependencies) {
  const { ctx, usage } = deps;
  const area = createArea(deps, KEYS_PATH, "admin");

  /** Returns a key, including uses that are not yet stored. Throws `not_found`. */
  function listingOf(id: string): KeyListing {
    return getKeyListing(ctx.db, id, ctx.clock.now(), usage.pendingLastUse);
  }

  /** Returns a key that still works. Shows the key instead if it has ended. */
  function requireLive(id: string): KeyListing {
    const listing = listingOf(id);
    if (listing.state !== "live") throw new ShowInstead({ path: keyPath(id) });
    return listing;
  }

  /** Returns the paths of the creators of keys whose screens the reader may open. */
  function creatorLinks({ requestContext }: ScreenRequest, keys: readonly KeyListing[]) {
    const ids = keys.flatMap(({ created_by: { id } }) => (id === null ? [] : [id]));
    return linksOf(ctx.db, ids, sessionOf(requestContext).user.role);
  }

  function detail(
    at: ScreenRequest,
    listing: KeyListing,
    edit: StateOf<typeof KEY_EDIT_FORM>,
  ): Screen {
    const now = ctx.clock.now();
    const usage = usageOfKey(ctx.db, listing.id, now);
    const page = { listing, edit, usage, links: creatorLinks(at, [listing]), now };
    return { title: listing.name, children: <KeyDetail {...page} /> };
  }

  function showValue(reveal: Reveal<RevealedKey>, title: string): Screen {
    if ("shownBefore" in reveal) {
      return shownBefore({
        secret: "value",
        ifLost: "rotate the key to get a new one",
        object: { href: keyPath(reveal.shownBefore), label: "Open key" },
        list: { href: KEYS_PATH, label: "API Keys" },
      });
    }
    const { baseUrl, clock } = ctx;
    const endpoints = endpointsByScope(deps.routes);
    const page = { title, revealed: reveal.revealed, endpoints, baseUrl, now: clock.now() };
    return { title, isSecret: true, children: <RevealedValue {...page} /> };
  }

  area.screen("", (at) => {
    const { query } = at;
    const now = ctx.clock.now();
    const search = (query["q"] ?? "").trim();
    const filter = readFilter(query["show"]);
    const before = query["before"];
    const request = { search, filter, limit: PAGE_SIZE, now, ...(before ? { before } : {}) };
    const { keys, nextBefore } = listKeyPage(ctx.db, request, usage.pendingLastUse);
    const list = { keys, counts: countKeys(ctx.db, now), search, filter, nextBefore, now };
    return {
      title: "API Keys",
      children: (
        <KeyList {...list} links={creatorLinks(at, keys)} isContinued={before !== undefined} />
      ),
    };
  });

  area.secretForm("/new", {
    form: KEY_FORM,
    initial: ({ query }) => presetValues(query["preset"]),
    load: () => ({ now: ctx.clock.now(), endpoints: endpointsByScope(deps.routes) }),
    show: (state) => ({ title: "Create API Key", children: <CreateKey state={state} /> }),
    redisplay: fillInPreset,
    create(tx, body, actor) {
      const made = createKey(ctx, tx, body, actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => showValue(reveal, "Your new key"),
  });

  area.editForm("/:id", {
    form: KEY_EDIT_FORM,
    load(reader, { params }) {
      const resource = getKey(reader, params.id);
      return { resource, version: resource.version, context: undefined };
    },
    show: (state, at) => detail(at, listingOf(at.params.id), state),
    update(tx, changes, actor, { params }) {
      updateKey(ctx, tx, params.id, changes, actor);
    },
    done: ({ params }) => ({ path: keyPath(params.id), text: "The key was changed." }),
  });

  area.secretForm("/:id/rotate", {
    form: ROTATE_FORM,
    load(_, { params, sent }) {
      // A submitted form is rejected by the service, with the reason.
      if (sent === undefined) requireLive(params.id);
    },
    show(state, { params }) {
      const listing = listingOf(params.id);
      const title = `Rotate “${listing.name}”`;
      const page = { title, listing, state, now: ctx.clock.now() };
      return { title, children: <RotateKey {...page} /> };
    },
    create(tx, { overlap }, actor, { params }) {
      const made = rotateKey(ctx, tx, params.id, overlap, actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => showValue(reveal, "Your new value"),
  });

  area.action("/:id/end-old-value", {
    run: (tx, { params }, actor) => endOldValues(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: keyPath(params.id), text: "The old value no longer works." }),
  });

  area.confirmation("/:id/revoke", {
    show({ params }) {
      const listing = requireLive(params.id);
      const now = ctx.clock.now();
      const title = `Revoke “${listing.name}”`;
      const page = { title, listing, usage: usageOfKey(ctx.db, params.id, now), now };
      return { title, children: <RevokeKey {...page} /> };
    },
    run: (tx, { params }, actor) => revokeKey(ctx, tx, params.id, actor),
    done: async ({ name }) => ({
      path: KEYS_PATH,
      text: `“${name}” was revoked. ${describeReach(await ctx.findNodesBehind?.())}`,
    }),
  });

  return area.routes;
}

/** Says which nodes reject a revoked key; on one machine there is no list of nodes. */
function describeReach(behind: readonly string[] | undefined): string {
  if (behind === undefined) return "Requests with this key are now rejected.";
  if (behind.length === 0) return "It is revoked on all nodes.";
  return `Not confirmed yet: ${behind.join(", ")}. A node that cannot know refuses all keys.`;
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
