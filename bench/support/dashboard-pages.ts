import { createApp } from "../../src/app";
import type { Ctx } from "../../src/context";

/** One request for something that the dashboard shows. */
export interface DashboardPage {
  /** Name in figures: its declared path, or a description. */
  name: string;
  path: string;
  /** True if it needs no session. */
  isPublic: boolean;
  /** Expected HTTP status; an answer with another status is a different page. */
  status: number;
  /** Fields of the form that has to be submitted to get it, if any. */
  form?: Record<string, string>;
}

/** Ids and other path parameters for opening screens, by kind. */
export interface DashboardIds {
  key: string;
  user: string;
  /** Of an invitation. */
  token: string;
  page: string;
  /** A slug that the page had before. */
  oldSlug: string;
  component: string;
  group: string;
  openIncident: string;
  template: string;
  update: string;
  scheduled: string;
  underWay: string;
  schedule: string;
  /** With the suppression `bounced`. */
  subscriber: string;
  /** Without waiting mails. */
  mailing: string;
  /** Start of a hold of all mailings, in unix ms. */
  hold: string;
  /** About no known mail. */
  report: string;
  /** HMAC of a suppressed address. */
  suppressed: string;
  monitor: string;
  pushMonitor: string;
  /** Name of a token of `pushMonitor`. */
  pushToken: string;
  webhook: string;
  delivery: string;
}

/** Returns the parameters of a path, from the first entry whose prefix matches. */
function valuesOf(path: string, ids: DashboardIds): Record<string, string> {
  const values: [string, Record<string, string>][] = [
    ["/admin/incidents/templates/", { id: ids.template }],
    ["/admin/incidents/", { id: ids.openIncident, update_id: ids.update }],
    ["/admin/maintenance/:id/finish", { id: ids.underWay }],
    ["/admin/maintenance/schedules/", { id: ids.schedule }],
    ["/admin/maintenance/", { id: ids.scheduled }],
    ["/admin/monitors/:id/rotate", { id: ids.pushMonitor }],
    ["/admin/monitors/:id/tokens/", { id: ids.pushMonitor, key: ids.pushToken }],
    ["/admin/monitors/", { id: ids.monitor }],
    ["/admin/components/groups/", { id: ids.group }],
    ["/admin/components/", { id: ids.component }],
    ["/admin/subscribers/", { id: ids.subscriber, reason: "bounced" }],
    ["/admin/mailings/", { id: ids.mailing, at: ids.hold }],
    ["/admin/mail/reports/", { id: ids.report }],
    ["/admin/mail/suppressions/", { reason: "bounced", mark: ids.suppressed }],
    ["/admin/pages/", { id: ids.page, slug: ids.oldSlug }],
    ["/admin/settings/import/from/", { kind: "uptime-kuma" }],
    ["/admin/settings/keys/", { id: ids.key }],
    ["/admin/settings/users/", { id: ids.user }],
    ["/admin/settings/webhooks/", { id: ids.webhook, delivery_id: ids.delivery }],
    ["/admin/join/", { token: ids.token }],
    [SET_UP, { token: ids.token }],
  ];
  return values.find(([beginning]) => path.startsWith(beginning))?.[1] ?? {};
}

const SET_UP = "/admin/setup/";
const LIST = "/admin/settings/keys";

/**
 * Lists the pages of all GET routes of the dashboard, the list of keys first. The route table is
 * the source, so that new screens are included. Throws for a path with unknown parameters.
 */
export async function listPages(ctx: Ctx, ids: DashboardIds): Promise<DashboardPage[]> {
  const app = createApp(ctx);
  await app.loadRoutes();
  app.usage.stop();
  const pages = app.routes.routes
    // What begins with an underscore is for those who work on Allclear, and not in the executable.
    .filter(({ method, path }) => method === "GET" && /^\/admin(\/(?!_)|$)/.test(path))
    // A file to keep is no page.
    .filter(({ path }) => !path.endsWith(".csv"))
    // A plan of an import lives in the server's memory, and a report needs an import.
    .filter(({ path }) => !/^\/admin\/settings\/import\/(plans|reports)\//.test(path))
    .map(({ path, operation }): DashboardPage => {
      const values = valuesOf(path, ids);
      return {
        name: `\`${path.replace(/:(\w+)/g, "{$1}")}\``,
        path: path.replace(/:(\w+)/g, (_parameter, name: string) => {
          const value = values[name];
          if (value === undefined) throw new Error(`nothing is known to open ${path} with`);
          return value;
        }),
        isPublic: operation.access.kind === "public",
        status: statusOf(path, operation.summary),
      };
    });
  const list = pages.findIndex(({ path }) => path === LIST);
  return [...pages.splice(list, 1), ...pages];
}

function statusOf(path: string, summary: string): number {
  // Its link works for the first user only.
  if (path.startsWith(SET_UP)) return 404;
  // The server ends the mailing, since none of its mails waits.
  if (path === "/admin/mailings/:id/stop") return 303;
  return summary.startsWith("Redirect ") ? 303 : 200;
}

/** Screens of a page of 200 components and a long past, where those of a usual page say little. */
export function listLargePages(slug: string, incident: string): DashboardPage[] {
  const paths = {
    "the list of its components": `/admin/components?page=${slug}`,
    "the list of its incidents": `/admin/incidents?page=${slug}`,
    "its past incidents by a word": `/admin/incidents?page=${slug}&show=resolved&q=no.+77`,
    "the form to report an incident": `/admin/incidents/new?page=${slug}`,
    "an incident of it": `/admin/incidents/${incident}`,
    "the form to plan maintenance": `/admin/maintenance/new?page=${slug}`,
  };
  return Object.entries(paths).map(([name, path]) => ({
    name,
    path,
    isPublic: false,
    status: 200,
  }));
}
