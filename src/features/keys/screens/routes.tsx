import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { KEYS_PATH } from "../../../ui/frame/paths";
import { createArea } from "../../../ui/screens/area";
import { createKey, validateNewKey } from "../keys";
import { countKeys, listKeyPage } from "../records";
import { KEY_FILTERS, type KeyFilter } from "../rules";
import { addKeyRoutes, revealValue } from "./detail";
import { CreateKey, endpointsByScope, fillInPreset, KEY_FORM, presetValues } from "./forms";
import { creatorLinks, KeyList } from "./list";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(deps: AdminDependencies) {
  const { ctx, usage } = deps;
  const area = createArea(deps, KEYS_PATH, "admin");

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
        <KeyList {...list} links={creatorLinks(ctx, at, keys)} isContinued={before !== undefined} />
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
      const made = createKey(ctx, tx, validateNewKey(body, ctx.clock.now()), actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => revealValue(deps, reveal, "Your new key"),
  });

  addKeyRoutes(area, deps);
  return area.routes;
}

function readFilter(text: string | undefined): KeyFilter {
  return KEY_FILTERS.find((filter) => filter === text) ?? "all";
}
