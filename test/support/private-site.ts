import type { PageRow } from "../../src/features/pages/store";
import type { PageInput } from "../../src/features/pages/wire";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { createPageAccess, enterByPassword, type PageAccess } from "./page-access";

/** Name of the page, its component and its incident, which strangers must not see. */
export const SECRETS = ["Inside Story", "Payroll", "Salaries are late"];

/** The private page `inside` with an incident and a maintenance, and the ways into it. */
export interface PrivateSite extends PageAccess, AsyncDisposable {
  app: TestApp;
  page: PageRow;
  componentId: string;
  incidentId: string;
  maintenanceId: string;
  /** Reads a path with a cookie, such as a grant. */
  read(path: string, cookie?: string, options?: CallOptions): Promise<Answer>;
  /** Sends the form for the password. */
  send(password: string, options?: CallOptions): Promise<Answer>;
  /** Enters by a password and returns the grant, as a request sends it. */
  enter(password?: string): Promise<string>;
}

export async function createPrivateSite(
  input: Partial<PageInput> = {},
  options: Parameters<typeof createTestApp>[0] = {},
): Promise<PrivateSite> {
  const env = { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000", ...options.env };
  const app = await createTestApp({ ...options, env });
  const { page, components } = await app.page(
    { slug: "inside", name: "Inside Story", visibility: "private", ...input },
    ["Payroll"],
  );
  const key = await app.keyWith("write:incidents", "write:maintenance");
  const post = async (path: string, json: object): Promise<string> => {
    const { status, text, body } = await app.call(`/api/v1${path}`, { method: "POST", key, json });
    if (status !== 201) throw new Error(text);
    return body.id;
  };
  const incidentId = await post("/incidents", {
    page: page.id,
    name: "Salaries are late",
    body: "We look into it.",
  });
  const maintenanceId = await post("/maintenance", {
    page: page.id,
    name: "Upgrade",
    body: "Planned.",
    components: [],
    scheduled_for: "2026-03-12T02:00:00Z",
    scheduled_until: "2026-03-12T04:00:00Z",
  });
  const send: PrivateSite["send"] = (password, more = {}) =>
    app.call("/status/inside/access", { form: { password }, ...more });
  return {
    ...createPageAccess(app, page.id),
    app,
    page,
    componentId: components["Payroll"] ?? "",
    incidentId,
    maintenanceId,
    read: (path, cookie, more = {}) =>
      app.call(path, {
        ...more,
        headers: { ...(cookie === undefined ? {} : { cookie }), ...more.headers },
      }),
    send,
    enter: (password) => enterByPassword(app.call, "inside", password),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Paths of the page for people. All of them ask for the password. */
export function pathsForPeople({ incidentId, maintenanceId }: PrivateSite): string[] {
  const below = [
    "",
    "/history",
    "/history?month=2026-03",
    "/incidents",
    `/incidents/${incidentId}`,
    `/maintenance/${maintenanceId}`,
    "/groups/other",
  ];
  return below.map((path) => `/status/inside${path}`);
}

/** Paths of the page for programs. */
export function pathsForPrograms({ componentId }: PrivateSite): string[] {
  const below = [
    "feed.atom",
    "feed.rss",
    "history.atom",
    "history.rss",
    "calendar.ics",
    "badge.svg",
    "badge.json",
    `badge/${componentId}.svg`,
    "summary.json",
    ...V2_PATHS,
  ];
  return below.map((path) => `/status/inside/${path}`);
}

export const V2_PATHS = [
  "summary",
  "status",
  "components",
  "incidents",
  "incidents/unresolved",
  "scheduled-maintenances",
  "scheduled-maintenances/upcoming",
  "scheduled-maintenances/active",
].map((name) => `api/v2/${name}.json`);

/** Paths that only public pages have. */
export const PUBLIC_ONLY = ["embed", "widget.js", "subscribe", "subscribe/sent", "rss"].map(
  (path) => `/status/inside/${path}`,
);

/** Headers of an answer that seal it, in order of the alphabet. */
export function sealOf({ headers }: Pick<Answer, "headers">) {
  return Object.fromEntries(
    [
      "access-control-allow-origin",
      "cache-control",
      "cache-tag",
      "cross-origin-resource-policy",
      "referrer-policy",
      "surrogate-key",
      "x-robots-tag",
    ].map((name) => [name, headers.get(name)]),
  );
}

export const SEALED = {
  "access-control-allow-origin": null,
  "cache-control": "no-store",
  "cache-tag": null,
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "surrogate-key": null,
  "x-robots-tag": "noindex",
};

/** Seal of an answer whose path has a token. */
export const SEALED_TOKEN = {
  ...SEALED,
  // Pictures below a link are for other sites, such as wikis.
  "cross-origin-resource-policy": null,
  "referrer-policy": "no-referrer",
};
