/**
 * The demo: an installation with a year of data, whose checks and webhooks are simulated. Only `allclear demo`
 * loads it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderToString } from "preact-render-to-string";
import { type Actor, CLI_ACTOR, userActor } from "../base/actor";
import { type Clock, systemClock, type Timer } from "../base/clock";
import { loadConfig } from "../base/config/load";
import type { Config } from "../base/config/options";
import { sha256Base64, systemRandom } from "../base/hash";
import type { MonitorType } from "../base/status";
import { DAY_MS, MINUTE_MS, SECOND_MS, startOfDay } from "../base/time";
import { composed } from "../base/validation";
import type { Ctx } from "../context";
import { OperatorError } from "../db/errors";
import type { Tx } from "../db/statements";
import type { Egress } from "../egress/egress";
import { Fault } from "../egress/model";
import { createPasswords } from "../features/auth/passwords";
import { type Scope, SCOPE_NAMES } from "../features/keys/scopes";
import type { Monitoring } from "../features/monitors/monitoring";
import { type MonitorConfig, probeOf } from "../features/monitors/probes";
import { createUser } from "../features/users/users";
import { sendTestEvent } from "../features/webhooks/deliveries";
import { createWebhook } from "../features/webhooks/webhooks";
import type { RunImport } from "../imports/jobs";
import { createContext, type Installation, openForServer } from "../installation";
import { startServer } from "../server";
import strip from "../ui/css/demo-strip.css" with { type: "text" };
import type { HtmlDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";
import { keyEntries } from "./keys";
import { canMail, mailAll, openSimulatedRelay, setUpMail, subscriberEntries } from "./mail";
import { MONITOR_PLANS, SLOW_FACTOR } from "./monitor-plans";
import { addMonitors, type DemoJob } from "./monitors";
import { deliverAll } from "./store";
import {
  addPage,
  createFraction,
  createSeededBytes,
  diaryOf,
  type Entry,
  type Fraction,
  PRIVATE_PAGE,
  PUBLIC_PAGE,
} from "./year";

const PASSWORD_BYTES = 12;

interface DemoOptions {
  /** Number on which the data depends. */
  seed: number;
  /** Folder that is kept at the end; a temporary one if undefined. */
  keep: string | undefined;
  /** Address, log level and public address of the server. */
  config: Pick<Config, "listen" | "logLevel" | "baseUrl">;
}

interface RunningDemo {
  url: string;
  email: string;
  password: string;
  /** Key values by scope. */
  keys: Record<Scope, string>;
  folder: string;
  /** Stops the server and deletes a temporary folder. */
  stop(): Promise<void>;
}

/**
 * Starts a demo. Throws an OperatorError if the folder to keep is not empty, or the address is in use; what
 * was written is then deleted.
 */
export async function startDemo({ seed, keep, config: given }: DemoOptions): Promise<RunningDemo> {
  if (keep !== undefined) requireEmpty(keep);
  const folder = keep ?? createTemporaryFolder();
  let isOwn = keep === undefined;
  try {
    const baseUrl = given.baseUrl ?? localUrl(given.listen);
    const config = { ...demoConfig(folder), ...given, baseUrl };
    const password = randomBytes(PASSWORD_BYTES).toString("base64url");
    const passwordHash = await createPasswords().hash(password);
    // Its lock is exclusive: a demo that starts at the same time in the same folder ends here.
    const installation = openForServer(config);
    isOwn = true;
    let filled: Awaited<ReturnType<typeof fillDemo>>;
    try {
      filled = await fillDemo(installation, { seed, passwordHash });
    } finally {
      installation.close();
    }
    const clock = systemClock();
    const server = await startServer(config, {
      egress: createDemoEgress(),
      findProbe: createSimulatedProbes(clock, createFraction(`${seed}`)),
      runImport: refuseImport,
      decorate: markPage,
    });
    const timer = startJobs(clock, server.monitoring, filled.jobs);
    return {
      url: server.url,
      email: OWNER_EMAIL,
      password,
      keys: filled.keys,
      folder,
      async stop() {
        timer.cancel();
        try {
          await server.stop();
        } finally {
          if (keep === undefined) remove(folder);
        }
      },
    };
  } catch (error) {
    // A folder to keep was empty, so that all in it is of this demo, and would refuse the next one.
    if (keep === undefined) remove(folder);
    else if (isOwn) readdirSync(keep).forEach((name) => remove(join(keep, name)));
    throw error;
  }
}

function createTemporaryFolder(): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, "allclear-demo-"));
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    const text = `A temporary folder cannot be created in ${parent} (${code}). Name one with --keep or TMPDIR.`;
    throw new OperatorError(text, error);
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/**
 * Returns the public address of a demo for this machine: another name than that of the listen address, since mail needs
 * an address that was chosen. Undefined for a demo that others reach, and for a free port.
 */
function localUrl({ host, port }: Config["listen"]): string | undefined {
  if (port === 0) return undefined;
  if (host === "127.0.0.1") return `http://localhost:${port}`;
  return host === "0.0.0.0" ? `http://127.0.0.1:${port}` : undefined;
}

/** Returns the default settings: those of the environment are for other servers. */
function demoConfig(dataDir: string): Config {
  const loaded = loadConfig({ dataDir }, {});
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  return loaded.config;
}

function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new OperatorError(`${folder} is not a directory.`);
  if (readdirSync(folder).length === 0) return;
  throw new OperatorError(`${folder} is not empty. A demo needs an empty or a new directory.`);
}

/** Address with which the owner of the demo signs in. */
const OWNER_EMAIL = "owner@meridian.example";
/** Host of the webhooks' URLs. Their requests end inside the process. */
const RECEIVER = "https://receiver.meridian.example";

interface Filled {
  /** Key values by scope. */
  keys: Record<Scope, string>;
  jobs: readonly DemoJob[];
}

/**
 * Fills an empty installation with a year of data that depends only on the seed and the day in UTC, except for
 * the last hours of monitors and keys. Keys, tokens and the password are random, since others may reach the demo.
 */
export async function fillDemo(
  { ctx: opened }: Pick<Installation, "ctx">,
  { seed, passwordHash }: { seed: number; passwordHash: string },
): Promise<Filled> {
  const now = opened.clock.now();
  const today = startOfDay(now);
  const fraction = createFraction(`${seed}/${today}`);
  let at = today;
  const clock = { ...systemClock(), now: () => at };
  const random = createSeededBytes(fraction);
  const ctx = createContext({ ...opened, clock, random });
  ctx.random = systemRandom;

  const year = (tx: Tx) => {
    at = today - 400 * DAY_MS;
    const member = { email: OWNER_EMAIL, name: "Robin Vale", role: "owner" as const };
    const owner = createUser(ctx, tx, { ...member, passwordHash }, CLI_ACTOR);
    const actor = userActor(owner);
    const [editor = actor] = addTeam(ctx, tx, passwordHash, actor);
    const pages = {
      open: addPage(ctx, tx, PUBLIC_PAGE, actor),
      inside: addPage(ctx, tx, PRIVATE_PAGE, actor),
    };
    at = today - 365 * DAY_MS;
    const jobs = addMonitors(ctx, tx, { pages, actor, today, now, fraction });
    const keys = new Map<Scope, string>();
    const diary = [
      ...diaryOf(ctx, { pages, actor, editor, today, fraction }),
      ...(canMail(ctx) ? subscriberEntries(ctx, { page: pages.open, fraction }) : []),
      ...keyEntries(ctx, { actor, today, now, fraction }, ([scope, ...others], value) => {
        if (scope && others.length === 0 && !keys.has(scope)) keys.set(scope, value);
      }),
    ].toSorted((a, b) => b.ago - a.ago);
    const isRecent = ({ ago }: Entry) => ago < TOLD_MS;
    for (const entry of diary.filter((each) => !isRecent(each))) {
      at = today - entry.ago;
      entry.act(tx);
    }
    return { owner, jobs, keys, recent: diary.filter(isRecent) };
  };
  const { jobs, keys, owner, recent } = await ctx.db.write(year);
  const actor = userActor(owner);
  // In further transactions, since webhooks and subscribers are told of what happens after the one that adds them.
  const webhooks = await ctx.db.write((tx) => {
    at = today - TOLD_MS;
    if (canMail(ctx)) setUpMail(ctx, tx, actor);
    return addWebhooks(ctx, tx, actor);
  });
  await ctx.db.write((tx) => {
    for (const entry of recent) {
      at = today - entry.ago;
      entry.act(tx);
    }
  });
  await ctx.db.write((tx) => {
    deliverAll(tx);
    mailAll(ctx, tx);
    at = now;
    for (const id of webhooks) sendTestEvent(ctx, tx, id, actor);
  });
  return {
    jobs,
    keys: Object.fromEntries(
      SCOPE_NAMES.map((scope) => [scope, keys.get(scope)]),
    ) as Filled["keys"],
  };
}

/** Time before the day of the demo from which on webhooks and subscribers were told of events, in ms. */
const TOLD_MS = 30 * DAY_MS;

const TEAM = [
  { name: "Noor Haddad", email: "noor@meridian.example", role: "editor" },
  { name: "Ines Duarte", email: "ines@meridian.example", role: "admin" },
  { name: "Support desk", email: "support@meridian.example", role: "viewer" },
] as const;

/** Creates the other users, with the password of the owner, and returns them as actors. */
function addTeam(ctx: Ctx, tx: Tx, passwordHash: string, actor: Actor): Actor[] {
  return TEAM.map((member) => userActor(createUser(ctx, tx, { ...member, passwordHash }, actor)));
}

/** Creates webhooks of two formats and returns their ids. */
function addWebhooks(ctx: Ctx, tx: Tx, actor: Actor): string[] {
  const inputs = [
    { url: `${RECEIVER}/on-call`, description: "On-call relay" },
    { url: `${RECEIVER}/chat/a-part-that-is-not-shown`, description: "Chat", format: "discord" },
  ] as const;
  return inputs.map((input) => createWebhook(ctx, tx, composed(input), actor).row.id);
}

/** Period in which one monitor degrades, fails and recovers, in ms. In every second period, three fail together. */
const CYCLE_MS = 4 * MINUTE_MS;
const FAILING_TOGETHER = 3;
/** Parts of a period, in ms after its start: slow, then failing, then as usual. */
const SLOW_FROM_MS = 40 * SECOND_MS;
const FAILING_FROM_MS = 85 * SECOND_MS;
const RECOVERED_FROM_MS = 160 * SECOND_MS;
/** Later for several monitors, so that the incident has an update about those that joined it. */
const ALL_RECOVERED_FROM_MS = 200 * SECOND_MS;
const CERTIFICATE_MS = 61 * 24 * 60 * MINUTE_MS;
/** One of so many webhook requests is answered with an error, so that a retry can be seen. */
const FAILING_REQUEST = 9;

const NO_CONNECTION = new Fault("refused", "The demo makes no connections.");

type Run = NonNullable<ReturnType<typeof probeOf>["run"]>;

/** Usual response times and targets of the planned monitors. */
const PLANNED = MONITOR_PLANS.flatMap(({ input, latencyMs, hasTrouble = false }) =>
  latencyMs === null
    ? []
    : [{ target: targetOf(input.type, input.config as MonitorConfig), latencyMs, hasTrouble }],
);
const TROUBLED = PLANNED.filter(({ hasTrouble }) => hasTrouble);

function targetOf(type: MonitorType, config: MonitorConfig): string {
  return `${type} ${probeOf(type).targetOf(config)}`;
}

/** Returns the state of a target at a time after the start of the demo, in ms. */
function conditionOf(
  target: string,
  elapsedMs: number,
  fraction: Fraction,
): "ok" | "slow" | "failing" {
  const cycle = Math.floor(elapsedMs / CYCLE_MS);
  const first = Math.floor(fraction("cycle", cycle) * TROUBLED.length);
  const own = TROUBLED.findIndex((plan) => plan.target === target);
  const isShared = cycle % 2 === 1;
  const place = (own - first + TROUBLED.length) % TROUBLED.length;
  if (own < 0 || place >= (isShared ? FAILING_TOGETHER : 1)) return "ok";
  const into = elapsedMs % CYCLE_MS;
  const recoveredFrom = isShared ? ALL_RECOVERED_FROM_MS : RECOVERED_FROM_MS;
  if (into < SLOW_FROM_MS || into >= recoveredFrom) return "ok";
  return into < FAILING_FROM_MS ? "slow" : "failing";
}

/** Returns a function that finds the probe of a type. Its checks connect to nothing. */
export function createSimulatedProbes(clock: Clock, fraction: Fraction) {
  const startedAt = clock.monotonic();
  return (type: MonitorType): { run: Run } => ({
    async run(config) {
      const target = targetOf(type, config);
      const elapsedMs = clock.monotonic() - startedAt;
      const condition = conditionOf(target, elapsedMs, fraction);
      if (condition === "failing") {
        return { outcome: "failed", latencyMs: null, message: "Timed out connecting." };
      }
      const usual = PLANNED.find((plan) => plan.target === target)?.latencyMs ?? 80;
      const spread = 0.8 + 0.4 * fraction("check", target, Math.round(elapsedMs));
      const factor = spread * (condition === "slow" ? SLOW_FACTOR : 1);
      const latencyMs = Math.max(1, Math.round(usual * factor));
      const isSecure = type === "tls" || target.includes("https:");
      const [, host = ""] = target.split(" ");
      const expiresAt = clock.now() + CERTIFICATE_MS;
      return {
        outcome: "ok",
        latencyMs,
        message: null,
        ...(isSecure ? { certificate: { host, fingerprint: "demo", expiresAt } } : {}),
      };
    },
  });
}

/** Returns outgoing connections that never leave the process: webhooks and mails reach a receiver in it. */
export function createDemoEgress(): Egress {
  let requests = 0;
  const refuse = async () => NO_CONNECTION;
  return {
    resolve: refuse,
    ping: refuse,
    connect: refuse,
    socket: async ({ policy }) => (policy === "mail" ? openSimulatedRelay() : NO_CONNECTION),
    query: refuse,
    askDocker: refuse,
    async request({ policy }) {
      if (policy !== "webhook") return NO_CONNECTION;
      requests += 1;
      const isRefused = requests % FAILING_REQUEST === 0;
      const answer = isRefused ? { error: "busy" } : { received: requests };
      return {
        status: isRefused ? 503 : 200,
        headers: new Map([["content-type", "application/json"]]),
        sentBody: new TextEncoder().encode(JSON.stringify(answer)),
        isTruncated: false,
        certificate: null,
        address: "127.0.0.1",
      };
    },
  };
}

/** Reports the runs of jobs in time, each minute at most. */
export function startJobs(
  clock: Clock,
  monitoring: Pick<Monitoring, "heartbeat">,
  jobs: readonly DemoJob[],
): Timer {
  let lookedAt = clock.now();
  return clock.every(MINUTE_MS, () => {
    const now = clock.now();
    for (const { monitorId, intervalMs } of jobs) {
      if (Math.floor(now / intervalMs) === Math.floor(lookedAt / intervalMs)) continue;
      const report = { outcome: "ok", latencyMs: 42 * SECOND_MS, message: null } as const;
      // It rejects only while the server stops.
      monitoring.heartbeat(monitorId, report).catch(() => {});
    }
    lookedAt = now;
  });
}

/** Imports nothing, since another process could connect to other hosts. */
export const refuseImport: RunImport = async () => ({
  failure: {
    message: "The demo imports nothing, since no connection leaves it. Import into an own server.",
    fields: [],
  },
});

const POLICY = "content-security-policy";

/** Adds the strip of the demo to an answer if it is an HTML document, which is then not compressed. */
export async function markPage(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  const { headers, status } = response;
  if (!headers.get("content-type")?.startsWith("text/html") || !response.body) return response;
  const sent = await response.bytes();
  const bytes = headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(sent) : sent;
  const html = new TextDecoder().decode(bytes);
  const marked = withDemoStrip({ html, policy: headers.get(POLICY) ?? "" });
  const own = new Headers(headers);
  own.delete("content-encoding");
  own.delete("content-length");
  if (marked.policy !== "") own.set(POLICY, marked.policy);
  return new Response(marked.html, { status, headers: own });
}

const BEGINNING = /<body[^>]*>/;
const CSS = minifyCss(strip);
const STYLE = `<style>${CSS}</style>`;
const SOURCE = `style-src 'sha256-${sha256Base64(CSS)}' `;
const STRIP = renderToString(<DemoStrip />);

/** Adds a strip that says "Demo" to the top of a document. */
function withDemoStrip({ html, policy }: HtmlDocument): HtmlDocument {
  return {
    html: html
      .replace("</head>", () => `${STYLE}</head>`)
      .replace(BEGINNING, (beginning) => beginning + STRIP),
    // A hash would void 'unsafe-inline'.
    policy: policy.includes("'unsafe-inline'") ? policy : policy.replace("style-src ", SOURCE),
  };
}

function DemoStrip() {
  return (
    <aside class="demo-strip" aria-label="Demo">
      <b>Demo.</b> Checks and their results are simulated.
    </aside>
  );
}
