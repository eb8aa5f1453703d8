import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { asc } from "drizzle-orm";
import { type App, type AppOptions, createApp } from "../../src/app";
import type { Config } from "../../src/base/config/options";
import { loadConfig } from "../../src/base/config/load";
import type { Ctx } from "../../src/context";
import { createDb } from "../../src/db/database";
import { selectMany, type Tx } from "../../src/db/statements";
import { migrate } from "../../src/db/migrations";
import { configure, openSqlite } from "../../src/db/open";
import { auditLog, events } from "../../src/db/tables/events";
import { type ErrorCode, ERRORS } from "../../src/base/errors";
import { schemaErrors } from "../../src/base/validation";
import { createEgress, type Egress } from "../../src/egress/egress";
import type { Fleet } from "../../src/features/alarms/fleet";
import type { LabelReport } from "../../src/features/docker-labels/docker-labels";
import type { Backups } from "../../src/features/backups/backups";
import type { ImportJobs } from "../../src/imports/jobs";
import { type RevealedKey } from "../../src/features/keys/keys";
import type { Scope } from "../../src/features/keys/scopes";
import { CheckRequests } from "../../src/features/locations/check-requests";
import { createIdleMonitoring, type Monitoring } from "../../src/features/monitors/monitoring";
import type { PageInput } from "../../src/features/pages/wire";
import type { PageRow } from "../../src/features/pages/store";
import type { Passwords } from "../../src/features/auth/passwords";
import { startSession } from "../../src/features/auth/sessions";
import { createUser, hasUsers } from "../../src/features/users/users";
import type { Route } from "../../src/http/route-table";
import { sessionCookie } from "../../src/http/cookies";
import { describeOperation, errorsOf, NamedSchemas } from "../../src/http/openapi";
import { createContext } from "../../src/installation";
import { CLI_ACTOR, type Role } from "../../src/base/actor";
import type { LogLevel } from "../../src/base/log";
import { systemRandom } from "../../src/base/hash";
import { lazy } from "../../src/base/lazy";
import { createTestBackups } from "./backups";
import { createTestImports } from "./imports";
import { createTestClock, settle, type TestClock } from "./clock";
import { createTestLog, type LogLine } from "./log";
import { createComponent, createGroup, createKey, createPage } from "./examined";

/** An answer that was read completely. `body` is parsed if it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // Tests read answers without types; `call` checks them against the route's schema.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface CallOptions {
  method?: string;
  /** Key value for `Authorization: Bearer`. */
  key?: string | undefined;
  headers?: Record<string, string>;
  /** Body to send as JSON. */
  json?: unknown;
  /** Session token, sent as the dashboard's cookie. */
  session?: string | undefined;
  /** Fields to send as a form from the dashboard's own origin. */
  form?: Record<string, string | readonly string[]>;
  /** Body to send unchanged. */
  raw?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  /** Address of the client's socket. */
  from?: string;
  host?: string;
}

export interface TestApp extends AsyncDisposable {
  app: App;
  ctx: Ctx;
  clock: TestClock;
  /** Checks that agents of locations are asked for. */
  checkRequests: CheckRequests;
  /**
   * Sends one request through the gateway. Every JSON answer is checked against the schema of its
   * route, and every error against the declared errors.
   */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a key with these scopes and returns its value. */
  keyWith(...scopes: Scope[]): Promise<string>;
  createKey(input?: Partial<Parameters<typeof createKey>[2]>): Promise<RevealedKey>;
  /** Creates a page with components of these names in one group. */
  page(input?: Partial<PageInput>, components?: string[]): Promise<TestPage>;
  /** Creates a user with this role and returns the token of a new session. */
  signedIn(role?: Role): Promise<string>;
  events(): {
    id: string;
    type: string;
    subjectId: string;
    at: number;
    data: Record<string, unknown>;
  }[];
  audit(): { action: string; summary: string; actorKind: string; targetId: string }[];
  /** Lines logged so far, at `logLevel` and above. */
  logged: readonly LogLine[];
}

export interface TestPage {
  page: PageRow;
  /** Component ids by name. */
  components: Record<string, string>;
}

const listEvents = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(events).orderBy(asc(events.id)),
);
const listAudit = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(auditLog).orderBy(asc(auditLog.id)),
);

/** Variables of every test. A rate limiter with room for few clients is made faster. */
const TEST_ENV = { ALLCLEAR_BASE_URL: "https://status.test", ALLCLEAR_BUCKET_CAPACITY: "500" };

/** Settings for a test, from the options' own defaults; an option that is undefined is left out. */
export function testConfig(env: Record<string, string | undefined> = {}): Config {
  const loaded = loadConfig({}, { ...TEST_ENV, ...env });
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  return loaded.config;
}

/** Bytes of an empty migrated database: a copy opens in 0.9 ms, while migrating takes 6.5 ms. */
const migratedImage = lazy(() => {
  const sqlite = openSqlite(":memory:", 0);
  migrate(sqlite, undefined);
  const image = sqlite.serialize();
  sqlite.close();
  return image;
});

function openDatabase(path: string | undefined): Database {
  if (path === undefined) {
    const sqlite = Database.deserialize(migratedImage(), { strict: true });
    configure(sqlite, ":memory:");
    return sqlite;
  }
  const sqlite = openSqlite(path, 0);
  migrate(sqlite, undefined);
  return sqlite;
}

/** Creates an application on a database of its own, in memory unless a path is given. */
export async function createTestApp(
  options: {
    env?: Record<string, string | undefined>;
    clock?: TestClock;
    databasePath?: string;
    logLevel?: LogLevel;
    /** Creates the monitoring that runs the checks; without it none run. */
    monitoring?: (ctx: Ctx, checkRequests: CheckRequests) => Monitoring;
    /** Writes backups; by default in this process, into a temporary folder. */
    backups?: (ctx: Ctx) => Backups;
    /** Imports from other products; by default in this process, with a temporary data directory. */
    imports?: (ctx: Ctx) => ImportJobs;
    /** Creates the outgoing connections of the dashboard. */
    egress?: (ctx: Ctx) => Egress;
    /** Outcome of the labels of containers, as the dashboard shows it; by default no labels are read. */
    labels?: (ctx: Ctx) => () => LabelReport | undefined;
    /** Parts for more than one machine; by default none. */
    fleet?: (ctx: Ctx) => Fleet;
    /** Returns what runs in place of handlers, as on the primary of a fleet. */
    wrap?: (ctx: Ctx) => AppOptions["wrap"];
    /** Verifies passwords; by default with real hashes. */
    passwords?: Passwords;
    /** Verifies passwords of private pages; by default with real hashes. */
    visitorPasswords?: Passwords;
    /** Loads the dashboard's routes before the first request for one of them, for tests that walk all routes. */
    dashboard?: boolean;
  } = {},
): Promise<TestApp> {
  const clock = options.clock ?? createTestClock();
  const { log, lines: logged } = createTestLog(options.logLevel ?? "info");
  const sqlite = openDatabase(options.databasePath);
  const db = createDb(sqlite, clock, log);
  const config = testConfig(options.env);
  const ctx = createContext({ config, db, clock, log, random: systemRandom });
  const own = createTestBackups(ctx);
  const backups = options.backups?.(ctx) ?? own.backups;
  const checkRequests = new CheckRequests(clock);
  const monitoring = options.monitoring?.(ctx, checkRequests) ?? createIdleMonitoring(ctx);
  const egress = (options.egress ?? createEgress)(ctx);
  const fleet = options.fleet?.(ctx);
  const ownImports = createTestImports(ctx);
  const imports = options.imports?.(ctx) ?? ownImports.imports;
  const labels = options.labels?.(ctx);
  const background = async () => ({
    monitoring,
    checkRequests,
    backups,
    imports,
    egress,
    labels,
    fleet,
  });
  const wrap = options.wrap?.(ctx);
  const { passwords, visitorPasswords } = options;
  const app = createApp(ctx, { background, passwords, visitorPasswords, wrap });
  if (options.dashboard) await app.loadRoutes();

  async function call(path: string, given: CallOptions = {}): Promise<Answer> {
    const { from = "203.0.113.7" } = given;
    const request = requestOf(ctx, path, given);
    const response = await app.handle(request, () => from);
    const answer = await readAnswer(response);
    checkAgainstDeclaration(app, request, answer);
    return answer;
  }

  const makeKey: TestApp["createKey"] = (input = {}) =>
    db.write((tx) =>
      createKey(ctx, tx, { name: "test", scopes: ["read:status"], ...input }, CLI_ACTOR),
    );

  return {
    app,
    ctx,
    clock,
    checkRequests,
    call,
    keyWith: async (...scopes) => (await makeKey({ scopes })).value,
    createKey: makeKey,
    page: (input = {}, names = ["API", "Website"]) =>
      db.write((tx) => {
        const page = createPage(ctx, tx, { slug: "acme", name: "Acme", ...input }, CLI_ACTOR);
        const placement = { managedBy: null };
        const group = createGroup(
          ctx,
          tx,
          page,
          { name: "Core" },
          { ...placement, position: 0 },
          CLI_ACTOR,
        );
        const components: Record<string, string> = {};
        for (const [position, name] of names.entries()) {
          const at = { ...placement, position, groupId: group.id };
          components[name] = createComponent(ctx, tx, page, { name }, at, CLI_ACTOR).id;
        }
        return { page, components };
      }),
    signedIn: (role = "owner") =>
      db.write((tx) => {
        // The first user of an installation is always its owner.
        if (!hasUsers(tx)) addTestUser(ctx, tx, "owner");
        return startSession(ctx, tx, addTestUser(ctx, tx, role), {
          ip: "203.0.113.7",
          userAgent: "test",
        });
      }),
    events: () => listEvents(db, {}),
    audit: () => listAudit(db, {}),
    logged,
    async [Symbol.asyncDispose]() {
      app.usage.stop();
      await settle();
      db.close();
      own[Symbol.dispose]();
      ownImports[Symbol.dispose]();
    },
  };
}

let testUsers = 0;

/** Creates a user without a password, whose sessions are started by the test. */
function addTestUser(ctx: Ctx, tx: Tx, role: Role): string {
  testUsers += 1;
  const user = { email: `${role}-${testUsers}@example.com`, name: `Test ${role}`, role };
  return createUser(ctx, tx, user, CLI_ACTOR).id;
}

/** Makes a request to an application. */
export function requestOf(ctx: Ctx, path: string, given: CallOptions): Request {
  const { key, host = "status.test" } = given;
  const headers = new Headers(given.headers);
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
  if (given.session !== undefined) {
    headers.set("cookie", sessionCookie(ctx, given.session).split(";", 1)[0] ?? "");
  }
  const body = bodyOf(given);
  if (given.json !== undefined) setDefault(headers, "content-type", "application/json");
  if (given.form !== undefined) {
    setDefault(headers, "content-type", "application/x-www-form-urlencoded");
    setDefault(headers, "origin", `http://${host}`);
  }
  const size =
    typeof body === "string" ? Buffer.byteLength(body) : (body as Uint8Array)?.byteLength;
  if (size !== undefined) headers.set("content-length", String(size));
  return new Request(`http://${host}${path}`, {
    method: given.method ?? (given.form ? "POST" : "GET"),
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

function bodyOf({ json, form, raw }: CallOptions): CallOptions["raw"] {
  if (json !== undefined) return JSON.stringify(json);
  if (form === undefined) return raw;
  const fields = Object.entries(form).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : value.map((one) => [name, one]),
  );
  return new URLSearchParams(fields).toString();
}

/** Sets the default of a header. A test that passes an empty text removes the header. */
function setDefault(headers: Headers, name: string, value: string): void {
  if (!headers.has(name)) headers.set(name, value);
  else if (headers.get(name) === "") headers.delete(name);
}

/** Reads an answer completely. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  const body = isJson && text !== "" ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, body };
}

function checkAgainstDeclaration(app: App, request: Request, answer: Answer): void {
  // Answers that a CDN stores have tags instead of the id of a request.
  if (!answer.headers.has("cache-tag")) {
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  }
  const path = request.url.replace(/^https?:\/\/[^/]*/, "").replace(/\?.*$/, "");
  const { route } = app.routes.match(request.method, path);
  if (route?.operation.id !== undefined) checkAgainstDocument(route, answer);
  const isPage = (answer.headers.get("content-type") ?? "").startsWith("text/html");
  if (isPage) {
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    return;
  }
  const isProblem = answer.headers.get("content-type") === "application/problem+json";
  const declared = isProblem ? undefined : route?.operation.answers[answer.status];
  if (answer.status >= 400 && !declared) {
    expect(Object.keys(ERRORS)).toContain(answer.body.code);
    expect(answer.status).toBe(ERRORS[answer.body.code as ErrorCode].status);
    expect(answer.body.instance).toBe(`urn:request:${answer.headers.get("x-request-id")}`);
    if (route) expect(errorsOf(route)).toContain(answer.body.code);
  } else if (answer.body !== undefined && declared?.schema) {
    expect(schemaErrors(declared.schema, answer.body)).toEqual([]);
  }
}

/** Media types by status that the OpenAPI document has for a route. */
const documented = new Map<string, Record<string, string[]>>();

function documentedOf(route: Route): Record<string, string[]> {
  const id = `${route.method} ${route.path}`;
  let types = documented.get(id);
  if (!types) {
    const { responses } = describeOperation(route, new NamedSchemas());
    types = Object.fromEntries(
      Object.entries(responses as Record<string, { content?: object }>).map(
        ([status, { content }]) => [status, Object.keys(content ?? {})],
      ),
    );
    documented.set(id, types);
  }
  return types;
}

/** Expects the status and the media type of an answer to be in the OpenAPI document. */
function checkAgainstDocument(route: Route, { status, headers }: Answer): void {
  const types = documentedOf(route)[status];
  const type = headers.get("content-type")?.split(";")[0];
  if (!types) throw new Error(`${route.method} ${route.path} documents no ${status}`);
  if (type !== undefined) expect(types, `${route.method} ${route.path} ${status}`).toContain(type);
}

/** Returns the version that the entity tag of an answer names. */
export function versionOf({ headers }: Pick<Answer, "headers">): number {
  const [, version] = /^"(\d+)(?:-[0-9a-f]{16})?"$/.exec(headers.get("etag") ?? "") ?? [];
  return Number(version);
}

/** Expects an RFC 9457 problem with this code and returns its body. */
export function expectProblem(answer: Answer, code: ErrorCode): Answer["body"] {
  expect(answer.body?.code ?? answer.text).toBe(code);
  expect(answer.status).toBe(ERRORS[code].status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.body.type).toBe(`/docs/errors#${code}`);
  return answer.body;
}

/** Expects the page for a part of a public page that does not exist, which caches may store. */
export function expectMissingPart(answer: Answer): void {
  const of = (name: string) => answer.headers.get(name);
  expect([answer.status, of("content-type"), of("cache-control")]).toEqual([
    404,
    "text/html;charset=utf-8",
    "public, max-age=5",
  ]);
}

/** Returns the policy that an answer was charged to and the remaining tokens; "none" without a charge. */
export function chargeOf({ headers }: Answer): string {
  const state = headers.get("ratelimit");
  const [, policy, left] = /^"(\w+)";r=(\d+);/.exec(state ?? "") ?? [];
  return state === null ? "none" : `${policy} ${left}`;
}
