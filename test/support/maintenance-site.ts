import { asc, eq } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { componentCauses } from "../../src/db/tables/components";
import { startMaintenanceClock } from "../../src/features/maintenance/clock";
import type { PageRow } from "../../src/features/pages/store";
import type { Timer } from "../../src/base/clock";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { settle, type TestClock } from "./clock";

export const MAINTENANCE_PATH = "/api/v1/maintenance";

/** Returns a time on the day of the tests, whose clock starts at noon. */
export const at = (time: string) => `2026-03-10T${time}.000Z`;

/** Default body of a planned maintenance: from 14:00 to 15:00. */
export const PLAN = {
  page: "acme",
  name: "Database upgrade",
  body: "A minute without search.",
  scheduled_for: at("14:00:00"),
  scheduled_until: at("15:00:00"),
};

/** Cause that maintenance gave a component, with ISO times. */
interface CauseOf {
  component: string;
  from: string;
  to: string | null;
}

/**
 * An app with a page of two components, a key for maintenance, and optionally the maintenance
 * clock.
 */
export interface MaintenanceSite extends AsyncDisposable {
  app: TestApp;
  clock: TestClock;
  page: PageRow;
  /** Component ids by name: API and Web. */
  ids: Record<string, string>;
  key: string;
  /** Advances time without running the maintenance clock, except once at the end. */
  skip(ms: number): Promise<void>;
  /** Calls a path under `/api/v1/maintenance` with the key. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Plans a maintenance of the component API and returns its id. Throws if it is rejected. */
  plan(input?: Record<string, unknown>): Promise<string>;
  /** Plans a maintenance and returns the answer, even if it is rejected. */
  post(input?: Record<string, unknown>): Promise<Answer>;
  get(id: string): Promise<Answer["body"]>;
  patch(id: string, json: unknown): Promise<Answer>;
  update(id: string, json: unknown): Promise<Answer>;
  cancel(id: string): Promise<Answer>;
  /** Returns the status of a component. */
  statusOf(name: string): Promise<string>;
  /** Returns the causes that maintenance wrote for the page, in the order of writing. */
  causes(): CauseOf[];
  /** Returns the types of all maintenance events, in order. */
  eventTypes(): string[];
  /** State that a rejected change must leave unchanged. */
  state(): Promise<unknown>;
}

export async function createMaintenanceSite(
  options: { clock?: TestClock; isClockRunning?: boolean } = {},
): Promise<MaintenanceSite> {
  const app = await createTestApp(options.clock ? { clock: options.clock } : {});
  const { page, components: ids } = await app.page({ slug: "acme" }, ["API", "Web"]);
  const key = await app.keyWith("read:status", "write:maintenance");
  const start = () => (options.isClockRunning ? startMaintenanceClock(app.ctx) : undefined);
  let timer: Timer | undefined = start();
  const call = (path: string, given?: CallOptions) =>
    app.call(MAINTENANCE_PATH + path, { key, ...given });
  const send = (method: string, path: string, json?: unknown) =>
    call(path, { method, ...(json === undefined ? {} : { json }) });
  const post = (input: Record<string, unknown> = {}) =>
    send("POST", "", { ...PLAN, components: [ids["API"]], ...input });
  return {
    app,
    clock: app.clock,
    page,
    ids,
    key,
    call,
    post,
    async skip(ms) {
      timer?.cancel();
      await app.clock.advance(ms);
      timer = start();
      await settle();
    },
    async plan(input) {
      const { status, text, body } = await post(input);
      if (status !== 201) throw new Error(`the plan was refused: ${text}`);
      return body.id as string;
    },
    get: async (id) => (await call(`/${id}`)).body,
    patch: (id, json) => send("PATCH", `/${id}`, json),
    update: (id, json) => send("POST", `/${id}/updates`, json),
    cancel: (id) => send("POST", `/${id}/cancel`),
    statusOf: async (name) =>
      (await app.call(`/api/v1/components/${ids[name]}`, { key })).body.status,
    causes: () => causesOf(app, ids),
    eventTypes: () =>
      app
        .events()
        .map(({ type }) => type)
        .filter((type) => type.startsWith("maintenance.")),
    state: async () => ({
      list: (await call("")).body,
      status: (await app.call("/api/v1/status/acme", { key })).body,
      events: app.events(),
      audit: app.audit(),
    }),
    async [Symbol.asyncDispose]() {
      timer?.cancel();
      await app[Symbol.asyncDispose]();
    },
  };
}

const listCauses = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(componentCauses)
    .where(eq(componentCauses.source, "maintenance"))
    .orderBy(asc(componentCauses.id)),
);

function causesOf(app: TestApp, ids: Record<string, string>): CauseOf[] {
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  return listCauses(app.ctx.db, {}).map(({ componentId, startedAt, endedAt }) => ({
    component: names.get(componentId) ?? componentId,
    from: new Date(startedAt).toISOString(),
    to: endedAt === null ? null : new Date(endedAt).toISOString(),
  }));
}

/** Updates that lead a scheduled maintenance to each status. */
export const STEPS_TO = {
  scheduled: [],
  in_progress: ["in_progress"],
  verifying: ["in_progress", "verifying"],
  completed: ["in_progress", "completed"],
  cancelled: ["cancelled"],
} as const satisfies Record<string, readonly string[]>;
