import { roleAllows } from "../../base/actor";
import { sessionOf } from "../../http/request-context";
import { runInSlices } from "../../base/in-slices";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { navigationFor } from "../../ui/frame/shell";
import { SEARCH_PATH, SHORTCUTS_PATH } from "../../ui/frame/paths";
import { createArea } from "../../ui/screens/area";
import { readSearch } from "../../features/timeline/screens/list";
import { searchEverything } from "./results";
import { Search, Shortcuts } from "./search";

/** `/admin/search` and `/admin/shortcuts`, for every role. A search finds only what the role may open. */
export function searchAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, "/admin", "viewer");

  area.screen(SEARCH_PATH.slice("/admin".length), "Search everything", async (at) => {
    const search = readSearch(at.query);
    const { role } = sessionOf(at.requestContext).user;
    const searcher = { role, now: ctx.clock.now(), signal: at.request.signal };
    const groups = await runInSlices(searchEverything(ctx.db, search, searcher));
    return { title: "Search", isStill: true, children: <Search search={search} groups={groups} /> };
  });

  area.screen(SHORTCUTS_PATH.slice("/admin".length), "List the keyboard shortcuts", (at) => {
    const { role } = sessionOf(at.requestContext).user;
    const links = navigationFor(role, "", {}).flatMap((group) => group.links);
    const shortcuts = [
      { keys: ["/"], name: "Search" },
      ...(roleAllows(role, "editor") ? [{ keys: ["c"], name: "Report incident" }] : []),
      { keys: ["?"], name: "Keyboard shortcuts" },
      ...links.map(({ letter, label }) => ({ keys: ["g", letter], name: label })),
    ];
    return { title: "Keyboard shortcuts", children: <Shortcuts shortcuts={shortcuts} /> };
  });

  return area.routes;
}
