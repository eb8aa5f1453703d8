import { SCOPE_NAMES } from "../../../src/features/keys/scopes";
import { listAllWebhooks, type WebhookRow } from "../../../src/features/webhooks/store";
import type { CallOptions, TestApp } from "../app";
import { type Fields, NO_BASE_URL, PASSWORD, signIn, userWithPassword } from "../dashboard";
import { typedIn } from "../html";
import { createMonitorApi } from "../monitor-api";
import { createTestFleet, type TestFleet } from "../test-fleet";

/** An installation in which each verb can be done once. */
export interface ActionInstallation extends AsyncDisposable {
  app: TestApp;
  /** The page, with the components API and Website in the group Core. */
  pageId: string;
  groupId: string;
  components: Record<string, string>;
  /** Value and id of a key with all scopes. */
  key: string;
  keyId: string;
  /** Session and id of an owner with a password. */
  session: string;
  ownerId: string;
  /** Sends JSON with the key and returns the answer's body. Throws if it is rejected. */
  api(method: string, path: string, json?: unknown): Promise<{ id: string }>;
  incident(more?: object): Promise<string>;
  maintenance(): Promise<string>;
  monitor(more?: object): Promise<string>;
  webhook(): Promise<WebhookRow>;
  /** Returns the version in the form at a path. */
  version(path: string): Promise<string>;
}

/** A request to send. */
export interface Sent {
  path: string;
  options: CallOptions;
}

/** A route that may change something, with a request that it accepts. */
export interface Verb {
  /** Audit actions that the request records, in order. */
  leaves: readonly string[];
  /** Action of `leaves` that Allclear itself performs, such as an update that it writes. */
  bySystem?: string;
  /** Reason for which it records no audit entry. */
  because?: string;
  /** Prepares the objects of the request and returns it. */
  prepare(installation: ActionInstallation): Sent | Promise<Sent>;
}

/** Requests by method and path of their route. */
export type Verbs = Readonly<Record<string, Verb>>;

/** Returns a request by API. */
export function byKey(
  { key }: ActionInstallation,
  method: string,
  path: string,
  json?: unknown,
): Sent {
  return { path: `/api/v1${path}`, options: { method, key, ...(json ? { json } : {}) } };
}

/** Returns a form of the dashboard. */
export function byForm({ session }: ActionInstallation, path: string, form: Fields = {}): Sent {
  return { path: `/admin${path}`, options: { session, form } };
}

/** Database of an earlier term that a node of the installation keeps. */
export const SET_ASIDE = { node: "oslo/node_a", file: "/data/allclear.db.term-6", events: 3 };

/** Creates the fleet of an installation, whose one replica keeps `SET_ASIDE`. */
function createFleet(): TestFleet {
  const state = { term: 7, store: "s3://status/fleet", failover: "manual", ack: "local" } as const;
  return Object.assign(createTestFleet(), {
    nodes: () => ({ ...state, nodes: [], orphans: [SET_ASIDE] }),
  });
}

const OWNER = "ada@example.com";
export { OWNER as OWNER_EMAIL, PASSWORD as OWNER_PASSWORD };

export async function createActionInstallation(): Promise<ActionInstallation> {
  const { app, components } = await createMonitorApi({ env: NO_BASE_URL, fleet: createFleet });
  const { ctx } = app;
  const { key, value } = await app.createKey({ name: "All", scopes: [...SCOPE_NAMES] });
  const { id: ownerId } = await userWithPassword(app, OWNER);
  const session = await signIn(app, OWNER);
  const api: ActionInstallation["api"] = async (method, path, json) => {
    const answer = await app.call(`/api/v1${path}`, { method, key: value, json });
    if (answer.status >= 400) throw new Error(answer.text);
    return answer.body;
  };
  const { body } = await app.call("/api/v1/status/acme", { key: value });
  const make = async (path: string, json: object) => (await api("POST", path, json)).id;
  return {
    app,
    pageId: body.page.id,
    groupId: body.groups[0].id,
    components,
    key: value,
    keyId: key.id,
    session,
    ownerId,
    api,
    incident: (more = {}) =>
      make("/incidents", { page: "acme", name: "Down", body: "It is down.", ...more }),
    maintenance: () =>
      make("/maintenance", {
        page: "acme",
        name: "Upgrade",
        body: "A minute without it.",
        components: [components["API"]],
        scheduled_for: new Date(ctx.clock.now() + 3_600_000).toISOString(),
        scheduled_until: new Date(ctx.clock.now() + 7_200_000).toISOString(),
      }),
    monitor: (more = {}) => {
      const config = { url: "https://shop.example.com/" };
      return make("/monitors", { type: "http", name: "Shop", config, ...more });
    },
    async webhook() {
      await make("/webhooks", { url: "https://receiver.example.com/hooks" });
      const [row] = listAllWebhooks(ctx.db, {});
      if (!row) throw new Error("one was made");
      return row;
    },
    async version(path) {
      const { text } = await app.call(`/admin${path}`, { session });
      const [version] = typedIn(text, "version");
      if (version === undefined) throw new Error(`${path} shows no version`);
      return version;
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
