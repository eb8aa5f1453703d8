import { startSession } from "../../src/features/auth/sessions";
import { findPageBySlug } from "../../src/features/pages/store";
import { createUser } from "../../src/features/users/users";
import { sessionCookie } from "../../src/http/cookies";
import { CLI_ACTOR } from "../../src/base/actor";
import type { TakenMails } from "../programs/mail-relay";
import { addSubscribers } from "./add-subscribers";
import { compileProgram } from "./compile";
import { mailEnv, openMailData } from "./mail-site";
import { seed } from "./seed";
import { type Server, startAllclear, startServer } from "./server";
import type { Workspace } from "./workspace";

/** A message that a receiver of webhooks got. */
export interface Message {
  /** Arrival in unix ms. */
  at: number;
  /** True if the receiver answered with success. */
  isAccepted: boolean;
  body: string;
}

/** Receiver of one endpoint. */
export interface Inbox {
  messages: readonly Message[];
}

/** Answers a message that arrives at `at` (unix ms); undefined accepts it. */
export type Limit = (at: number) => Response | undefined;

type Body = Record<string, unknown>;

/** Allclear with a page, one subscriber, a relay, receivers of webhooks, and one target of all monitors. */
export interface StormSite extends AsyncDisposable {
  slug: string;
  componentIds: readonly string[];
  /** Calls a path below `/api/v1` with a key of all scopes. Throws if the answer is an error. */
  call(method: string, path: string, json?: Body): Promise<Body>;
  /** Creates an endpoint with its own receiver. */
  endpoint(input: Body, limit?: Limit): Promise<Inbox>;
  /** Creates monitors of the target, in turn for each component, and waits until all are up. */
  watch(monitors: { count: number; componentIds: readonly string[] }): Promise<void>;
  /** Stops the target, or starts it again, and waits until all monitors are down or up. Returns its start (unix ms). */
  turn(state: "down" | "up"): Promise<number>;
  incidentCount(): Promise<number>;
  mails(): Promise<TakenMails>;
  /** Opens an incident by the form of the dashboard. */
  openAsPerson(name: string): Promise<void>;
}

const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 250;
const LIST_MAX = 100;
const LOOPBACK = { hostname: "127.0.0.1", reusePort: false, development: false } as const;

const SCOPES = [
  "read:status",
  "write:incidents",
  "manage:monitors",
  "manage:webhooks",
  "read:analytics",
] as const;

/** Starts Allclear on a new data directory. */
export async function createStormSite(workspace: Workspace): Promise<StormSite> {
  const page = await seed(workspace.path("data"), { keys: 1, scopes: [...SCOPES] });
  const { dataDir, slug, componentIds } = page;
  const [key = ""] = page.keys;
  const session = await addPeople(dataDir, slug);
  const relay = await startServer(workspace, [compileProgram(workspace, "mail-relay")]);
  const mails = async () => (await (await fetch(relay.url)).json()) as TakenMails;
  const env = {
    ...mailEnv(String((await mails()).port)),
    ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8",
  };
  const server = await startAllclear(workspace, dataDir, { env });
  const inboxes = new Map<string, { messages: Message[]; limit: Limit }>();
  const receiver = Bun.serve({
    ...LOOPBACK,
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const at = Date.now();
      const [, name = ""] = new URL(request.url).pathname.split("/");
      const inbox = inboxes.get(name);
      if (!inbox) return new Response(null, { status: 404 });
      const refusal = inbox.limit(at);
      inbox.messages.push({ at, isAccepted: refusal === undefined, body: await request.text() });
      return refusal ?? new Response("ok");
    },
  });
  let target = startTarget(0);
  const targetPort = Number(target.port);
  let count = 0;

  const site: StormSite = {
    slug,
    componentIds,
    async call(method, path, json) {
      const answer = await fetch(`${server.url}/api/v1/${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        ...(json && { body: JSON.stringify(json) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path} was answered with ${text}`);
      return JSON.parse(text) as Body;
    },
    async endpoint(input, limit = () => undefined) {
      const name = `endpoint-${inboxes.size}`;
      const inbox = { messages: [], limit };
      inboxes.set(name, inbox);
      const url = `http://127.0.0.1:${receiver.port}/${name}`;
      await site.call("POST", "webhooks", { url, ...input });
      return inbox;
    },
    async watch(monitors) {
      for (let n = 0; n < monitors.count; n++) {
        await site.call("POST", "monitors", {
          type: "http",
          name: `Service ${n}`,
          config: { url: `http://127.0.0.1:${targetPort}/service/${n}` },
          component_ids: [monitors.componentIds[n % monitors.componentIds.length]],
          interval_seconds: 5,
          failure_threshold: 2,
          retry_interval_seconds: 1,
          on_down: "major_outage",
          open_incident: "automatic",
        });
      }
      count = monitors.count;
      await untilAll("up");
    },
    async turn(state) {
      const at = Date.now();
      if (state === "up") target = startTarget(targetPort);
      else await target.stop(true);
      await untilAll(state);
      return at;
    },
    async incidentCount() {
      let found = 0;
      for (let path = `incidents?page=${slug}&limit=${LIST_MAX}`; ;) {
        const { data, next_cursor: next } = await site.call("GET", path);
        found += (data as unknown[]).length;
        if (typeof next !== "string") return found;
        path = `incidents?page=${slug}&limit=${LIST_MAX}&cursor=${next}`;
      }
    },
    mails,
    openAsPerson: (name) => openByForm(server, session, { page: slug, name }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await relay.stop();
      await Promise.all([receiver.stop(true), target.stop(true)]);
    },
  };

  async function untilAll(state: string): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const states: unknown[] = [];
      for (let cursor: unknown = ""; typeof cursor === "string";) {
        const path = `monitors?limit=${LIST_MAX}${cursor && `&cursor=${cursor}`}`;
        const { data, next_cursor: next } = await site.call("GET", path);
        states.push(...(data as Body[]).map((monitor) => monitor["state"]));
        cursor = next;
      }
      const left = count - states.filter((one) => one === state).length;
      if (left === 0) return;
      if (performance.now() > until) throw new Error(`${left} monitors are not ${state}`);
      await Bun.sleep(LOOK_EVERY_MS);
    }
  }
  return site;
}

function startTarget(port: number) {
  return Bun.serve({ ...LOOPBACK, port, fetch: () => new Response("It works.") });
}

/** Adds a subscriber of the page, and an owner. Returns the cookie of the owner's session. */
async function addPeople(dataDir: string, slug: string): Promise<string> {
  const { ctx, close } = openMailData(dataDir);
  try {
    const pageId = findPageBySlug(ctx.db, { slug })?.id ?? "";
    await addSubscribers(ctx, { pageId, count: 1 });
    const token = await ctx.db.write((tx) => {
      const user = { email: "ada@acme.example", name: "Ada", role: "owner" as const };
      const { id } = createUser(ctx, tx, user, CLI_ACTOR);
      return startSession(ctx, tx, id, { ip: "127.0.0.1", userAgent: "bench" });
    });
    return sessionCookie(ctx, token).split(";", 1)[0] ?? "";
  } finally {
    close();
  }
}

async function openByForm(
  { url }: Server,
  cookie: string,
  { page, name }: { page: string; name: string },
): Promise<void> {
  const path = `${url}/admin/incidents/new`;
  const screen = await fetch(`${path}?page=${page}`, { headers: { Cookie: cookie } });
  const html = await screen.text();
  const hidden = [...html.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
    /name="([^"]*)"/.exec(input)?.[1] ?? "",
    /value="([^"]*)"/.exec(input)?.[1] ?? "",
  ]);
  const answer = await fetch(path, {
    method: "POST",
    redirect: "manual",
    headers: { Cookie: cookie, Origin: url },
    body: new URLSearchParams({
      ...Object.fromEntries(hidden),
      name,
      status: "investigating",
      body: "We are looking into it.",
      notify: "yes",
    }),
  });
  if (answer.status !== 303) {
    throw new Error(`the form was answered with ${answer.status}: ${await answer.text()}`);
  }
}

/** Waits until a count has not changed for `quietMs`, and returns it. */
export async function untilQuiet(
  count: () => number | Promise<number>,
  quietMs: number,
): Promise<number> {
  let last = await count();
  for (let since = performance.now(); performance.now() - since < quietMs;) {
    await Bun.sleep(LOOK_EVERY_MS);
    const now = await count();
    if (now !== last) since = performance.now();
    last = now;
  }
  return last;
}
