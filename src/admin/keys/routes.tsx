import { Elysia } from "elysia";
import {
  countKeys,
  getKey,
  getKeyListing,
  KEY_FILTERS,
  type KeyFilter,
  listKeyPage,
  SCOPE_NAMES,
  type Scope,
  updateKey,
  usageOfKey,
} from "../../features/keys";
import { actorOf, formBody, session } from "../../http";
import { toIso } from "../../kernel/time";
import { createDone } from "../done";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { KEYS_PATH, keyPath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { createFromForm, emptyForm, formValues, readRateLimit } from "./create";
import { KeyDetail } from "./detail";
import { KeyForm, type KeyFormValues } from "./form";
import { KeyList } from "./list";
import { createValueReveal } from "./show-value";
import { keyVerbRoutes } from "./verb-routes";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, reveals, usage, writeAs } = deps;
  const done = createDone(deps.flashes);
  const showValue = createValueReveal(deps);
  const MAY_MANAGE = session("admin");

  function showForm(at: ScreenRequest, values: KeyFormValues, complaints = NO_COMPLAINTS) {
    const page = {
      values,
      complaints,
      formToken: newFormToken(ctx),
      endpoints: endpointsByScope(deps.routes),
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
    const listing = getKeyListing(ctx.db, id, now, usage.pendingLastUse);
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

  return new Elysia({ prefix: KEYS_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext, query }) => {
        const now = ctx.clock.now();
        const search = (query["q"] ?? "").trim();
        const filter = readFilter(query["show"]);
        const before = query["before"];
        const asked = { search, filter, limit: PAGE_SIZE, now, ...(before ? { before } : {}) };
        const { keys, nextBefore } = listKeyPage(ctx.db, asked, usage.pendingLastUse);
        const list = { keys, counts: countKeys(ctx.db, now), search, filter, nextBefore, now };
        return render.screen(
          { request, requestContext },
          { title: "API Keys", children: <KeyList {...list} isContinued={before !== undefined} /> },
        );
      },
      screenOperation("The list of API keys", MAY_MANAGE),
    )
    .get(
      "/new",
      async ({ request, requestContext, query }) =>
        showForm({ request, requestContext }, emptyForm(query["preset"])),
      screenOperation("The form for a new API key", MAY_MANAGE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const at = { request, requestContext };
        try {
          const reveal = await createFromForm(ctx, reveals, requestContext, form);
          return await showValue(at, reveal, "Copy the key now");
        } catch (error) {
          return showForm(at, formValues(form), complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Create an API key", MAY_MANAGE) },
    )
    .get(
      "/:id",
      async ({ request, requestContext, params }) =>
        showDetail({ request, requestContext }, params.id),
      screenOperation("One API key", MAY_MANAGE),
    )
    .post(
      "/:id",
      async ({ request, requestContext, params, body: form }) => {
        const typed = { name: form.text("name"), rateLimit: form.text("rate_limit") };
        const input = { name: typed.name.trim(), rate_limit: readRateLimit(typed.rateLimit) };
        let isChanged: boolean;
        try {
          isChanged = await writeAs(requestContext, (tx) => {
            const { version } = getKey(tx, params.id);
            const key = updateKey(ctx, tx, params.id, input, actorOf(requestContext));
            return key.version !== version;
          });
        } catch (error) {
          const complaints = complaintsOrThrow(error);
          return showDetail({ request, requestContext }, params.id, { ...typed, complaints });
        }
        return done(
          requestContext,
          keyPath(params.id),
          isChanged ? "The key was changed." : undefined,
        );
      },
      { ...formBody(), ...screenOperation("Change a key's name and limit", MAY_MANAGE) },
    )
    .use(keyVerbRoutes(deps));
}

function readFilter(text: string | undefined): KeyFilter {
  return KEY_FILTERS.find((filter) => filter === text) ?? "all";
}

/** The endpoints that each scope opens, as the documentation writes them. */
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
