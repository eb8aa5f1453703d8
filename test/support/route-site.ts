import { putPicture } from "../../src/features/pages/logo";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import type { Route } from "../../src/http/route-table";
import { CLI_ACTOR } from "../../src/base/actor";
import { type CompatSite, createCompatSite } from "./compat-site";
import { type HostAnswer, visit } from "./domains";
import { png } from "./pictures";

const HOST = "status.acme.example";

/** A public page with an incident, maintenance and a logo, and requests to each route. */
export interface RouteSite extends CompatSite {
  /** Value of a key with all scopes. */
  key: string;
  incidentId: string;
  pageId: string;
  /** Returns the path of a route where it finds something. */
  pathOf(route: Route): string;
  /** Sends a request to a route, at a path and a host where it finds something. */
  read(route: Route, headers?: Record<string, string>): Promise<HostAnswer>;
}

export async function createRouteSite(env: Record<string, string> = {}): Promise<RouteSite> {
  const site = await createCompatSite(
    { compat: ["uptime-kuma", "gatus"], custom_domains: [HOST], report: "public" },
    env,
  );
  const { app } = site;
  await app.app.loadRoutes();
  // Both have the same name.
  const { logo } = await app.ctx.db.write((tx) => {
    const bytes = png(16, 16);
    putPicture(app.ctx, tx, "favicon", site.row().id, { bytes }, CLI_ACTOR);
    return putPicture(app.ctx, tx, "logo", site.row().id, { bytes }, CLI_ACTOR);
  });
  const key = await app.keyWith(...SCOPE_NAMES);
  const post = async (path: string, json: object) =>
    (await app.call(`/api/v1/${path}`, { method: "POST", key, json })).body;
  const incident = await post("incidents", { page: "acme", name: "Slow", body: "Slow." });
  const maintenance = await post("maintenance", {
    page: "acme",
    name: "Upgrade",
    body: "Soon.",
    components: Object.values(site.components),
    scheduled_for: "2026-03-12T02:00:00Z",
    scheduled_until: "2026-03-12T04:00:00Z",
  });
  const [api = ""] = Object.values(site.components);
  const [group] = (await app.call("/api/v1/status/acme", { key })).body.groups;
  const home = await app.call("/status/acme");
  const [kumaGroup] = (await app.call("/api/status-page/acme")).body.publicGroupList;
  const values: Record<string, string> = {
    slug: "acme",
    key: "core_api",
    duration: "24h",
    number: String(kumaGroup.monitorList[0].id),
    resource: "incidents",
    month: "2026-03",
    name: /\/assets\/(page\.[0-9a-f]{16}\.js)/.exec(home.text)?.[1] ?? "no asset",
    file: logo ?? "no logo",
    "id.svg": `${api}.svg`,
  };
  const idOf = (path: string) => {
    if (path.includes("/incidents/")) return incident.id;
    if (path.includes("/groups/")) return group.id;
    return path.includes("/maintenance/") ? maintenance.id : api;
  };
  const pathOf = ({ path }: Route): string =>
    path.replace(/:([\w.]+)/g, (_, name: string) =>
      name === "id" ? idOf(path) : (values[name] ?? "x"),
    );
  const read: RouteSite["read"] = (route, headers = {}) =>
    visit(app, isOfGatus(route) ? HOST : "status.test", pathOf(route), {
      method: route.method,
      headers,
    });
  const pageId = site.row().id;
  return { ...site, key, incidentId: incident.id, pageId, pathOf, read };
}

/** Returns true for paths that exist on custom domains only. */
export function isOfGatus({ path }: Route): boolean {
  return /^\/(health$|api\/v1\/(endpoints|suites|config)(\/|$))/.test(path);
}
