import { join } from "node:path";
import type { Ctx } from "../../src/context";
import { startSession } from "../../src/features/auth/sessions";
import { listGroups } from "../../src/features/components/store";
import { getIncident } from "../../src/features/incidents/records";
import { advanceMaintenance } from "../../src/features/maintenance/clock";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import { tokensOf } from "../../src/features/monitors/tokens";
import { findPageBySlugOrId } from "../../src/features/pages/pages";
import { createUser } from "../../src/features/users/users";
import { inviteUser } from "../../src/features/users/invitations";
import { sendTestEvent } from "../../src/features/webhooks/deliveries";
import { setDeliveryProgress } from "../../src/features/webhooks/delivery-store";
import { sessionCookie } from "../../src/http/cookies";
import type { Tx } from "../../src/db/statements";
import { findMailHold, holdAllMailings } from "../../src/features/mail/hold";
import { listUnmatched } from "../../src/features/mail/store";
import { makeReportToken, takeReport } from "../../src/features/mail/reports";
import { setMailSettings } from "../../src/features/mail/settings";
import { suppress } from "../../src/features/mail/suppressions";
import { CLI_ACTOR, userActor } from "../../src/base/actor";
import { makeOldAndBusy } from "./busy-keys";
import { type Answer, requestText } from "./connection";
import { listAnswers, listPreviews } from "./dashboard-forms";
import {
  type DashboardIds,
  type DashboardPage,
  listLargePages,
  listPages,
} from "./dashboard-pages";
import { openData } from "./open-data";
import { seed, type Seed } from "./seed";
import { seedHistory } from "./seed-history";
import { type Past, seedPast } from "./seed-past";
import { storeMailing, storeSubscribers } from "./seed-subscribers";
import {
  createKey,
  createMonitor,
  createSchedule,
  createTemplate,
  createWebhook,
  planMaintenance,
  updatePage,
} from "../../test/support/examined";

export const DASHBOARD_KEYS = 1_000;
const USERS = 50;
/** As many as a user can have. */
const SESSIONS = 50;
const OWNERS = 3;
const HOUR_MS = 3_600_000;
/** Ten years for ten thousand: two or three a day, of a house where much goes wrong. */
const INCIDENTS_A_DAY = 2.74;
const UPDATES = 10;

/** Public address of its server, without which it sends no mail. */
export const DASHBOARD_ENV = { ALLCLEAR_BASE_URL: "http://localhost:8080" };

/** Relay that is never reached, since all mailings are held. */
const RELAY = {
  host: "127.0.0.1",
  port: 9,
  tls: "none",
  ca: null,
  user: null,
  password: null,
  connections: 4,
  rate_per_minute: 600,
  from: "Acme <status@acme.example>",
  reply_to: null,
  bounce_address: null,
} as const;

const TEAMS = ["Checkout", "Warehouse", "Billing", "Mobile", "Search", "Data", "Support", "Edge"];
const TASKS = [
  "deploys",
  "monitoring",
  "on-call bot",
  "nightly report",
  "status board",
  "importer",
];
const NAMES = ["Ada", "Grace", "Edsger", "Barbara", "Donald", "Radia", "Ken", "Frances", "Niklaus"];

/** An installation that has been in use for long, and what opens its dashboard. */
export interface Dashboard {
  dataDir: string;
  /** Tokens of sessions of its owners, each with a bucket of its own. */
  sessions: string[];
  /** Every page that a GET shows, the list of keys first. */
  pages: DashboardPage[];
  /** Screens of a status page of 200 components. */
  largePages: DashboardPage[];
  /** Pages that answer a form: secrets that are shown once, and forms with what is wrong with them. */
  answers: DashboardPage[];
  /** Pages as the public would see them after a change that is taken back. */
  previews: DashboardPage[];
}

/**
 * Fills a new data directory with a usual status page and a large one, users, owners with many devices,
 * and old keys. The large page has so many incidents of ten updates each.
 */
export async function seedDashboard(
  dataDir: string,
  { incidents }: { incidents: number },
): Promise<Dashboard> {
  const seeded = await seed(dataDir);
  const past = await seedPast(seeded);
  const { ctx, close } = openData(dataDir);
  try {
    const days = incidents / INCIDENTS_A_DAY;
    const large = await seedHistory(ctx, { incidents, days, updates: UPDATES });
    const people = await seedPeople(ctx);
    const ids = { ...people.ids, ...(await seedThings(ctx, seeded, past)) };
    makeOldAndBusy(join(dataDir, "allclear.db"));
    return {
      dataDir,
      sessions: people.sessions,
      pages: await listPages(ctx, ids),
      largePages: listLargePages(large.slug, pick(large.incidentIds, 0)),
      answers: listAnswers(ids),
      previews: listPreviews(ids),
    };
  } finally {
    close();
  }
}

type PeopleIds = Pick<DashboardIds, "key" | "user" | "token">;

/** Users with their sessions and keys, and somebody who is invited. */
function seedPeople(ctx: Ctx): Promise<{ sessions: string[]; ids: PeopleIds }> {
  return ctx.db.write((tx) => {
    const users = Array.from({ length: USERS }, (_, n) => {
      const name = `${pick(NAMES, n)} ${pick(TEAMS, n * 3)}`;
      const email = `${name.toLowerCase().replace(" ", ".")}.${n}@acme.example`;
      const role = n < OWNERS ? "owner" : pick(["admin", "editor", "viewer"] as const, n);
      return createUser(ctx, tx, { email, name, role }, CLI_ACTOR);
    });
    const keys = Array.from({ length: DASHBOARD_KEYS }, (_, n) => {
      const name = `${pick(TEAMS, n * 5)} ${pick(TASKS, n * 7)} ${n}`;
      const scopes = SCOPE_NAMES.filter((_scope, bit) => ((n % 127) + 1) & (1 << bit));
      const body = { name, scopes, rate_limit: 100 * (1 + (n % 50)) };
      return createKey(ctx, tx, body, userActor(pick(users, n * 11))).key;
    });
    const invited = { email: "new@acme.example", name: "New Colleague", role: "editor" as const };
    const { token } = inviteUser(ctx, tx, invited, CLI_ACTOR);
    const sessions = users
      .slice(0, OWNERS)
      .flatMap(({ id }) =>
        Array.from({ length: SESSIONS }, (_, n) =>
          startSession(ctx, tx, id, { ip: `203.0.113.${n}`, userAgent: userAgent(n) }),
        ),
      );
    const ids = { key: pick(keys, DASHBOARD_KEYS - 20).id, user: pick(users, OWNERS).id, token };
    return { sessions, ids };
  });
}

/** Returns the ids for opening the screens of the seeded page, and creates missing objects. */
function seedThings(
  ctx: Ctx,
  { slug, componentIds }: Seed,
  { openIncidentId, scheduledId }: Past,
): Promise<Omit<DashboardIds, keyof PeopleIds>> {
  return ctx.db.write((tx) => {
    const page = findPageBySlugOrId(tx, slug);
    if (!page) throw new Error("there is no page");
    const oldSlug = `${slug}-before`;
    for (const other of [oldSlug, slug]) updatePage(ctx, tx, page.id, { slug: other }, CLI_ACTOR);
    const now = ctx.clock.now();
    const planned = {
      page: slug,
      name: "New certificates",
      body: "Certificates are renewed everywhere.",
      components: componentIds.slice(3, 5),
      scheduled_for: new Date(now - HOUR_MS).toISOString(),
      scheduled_until: new Date(now + 24 * HOUR_MS).toISOString(),
    };
    const watching = {
      type: "http",
      name: "Website",
      config: { url: "https://acme.example/" },
      component_ids: componentIds.slice(0, 1),
      paused: true,
    } as const;
    const called = { type: "push", name: "Nightly backup", paused: true } as const;
    const told = {
      url: "https://hooks.acme.example/allclear",
      events: ["incident.postmortem_published" as const],
    };
    const webhook = createWebhook(ctx, tx, told, CLI_ACTOR).row.id;
    const delivery = sendTestEvent(ctx, tx, webhook, CLI_ACTOR).row.id;
    // Nothing is to be sent while pages are measured.
    const delivered = { status: "delivered" as const, tries: 1, nextTryAt: null, finishedAt: now };
    setDeliveryProgress(tx, { id: delivery, ...delivered });
    const slow = { name: "Slow answers", title: "Slow answers", body: "We are looking into it." };
    const underWay = planMaintenance(ctx, tx, planned, CLI_ACTOR).id;
    while (advanceMaintenance(ctx, tx, now));
    const repeated = {
      page: slug,
      name: "Backups",
      body: "Search is read-only.",
      components: componentIds.slice(5, 6),
      cron: "0 2 * * SUN",
      duration_minutes: 30,
    };
    const pushMonitor = createMonitor(ctx, tx, called, CLI_ACTOR).record.row.id;
    return {
      page: page.id,
      oldSlug,
      component: pick(componentIds, 0),
      group: pick(listGroups(tx, { pageId: page.id }), 0).id,
      openIncident: openIncidentId,
      template: createTemplate(ctx, tx, slow, CLI_ACTOR).row.id,
      update: pick(getIncident(tx, openIncidentId, true).updates, 0).id,
      scheduled: scheduledId,
      underWay,
      schedule: createSchedule(ctx, tx, repeated, CLI_ACTOR).row.id,
      ...seedMail(ctx, tx, { pageId: page.id, subjectId: openIncidentId }),
      monitor: createMonitor(ctx, tx, watching, CLI_ACTOR).record.row.id,
      webhook,
      delivery,
      pushMonitor,
      pushToken: pick(tokensOf(tx, pushMonitor), 0).key,
    };
  });
}

type MailIds = Pick<DashboardIds, "subscriber" | "mailing" | "hold" | "report" | "suppressed">;

/** Stores a relay, a subscriber whose mails bounced, a held mailing, and a report about an unknown mail. */
function seedMail(ctx: Ctx, tx: Tx, about: { pageId: string; subjectId: string }): MailIds {
  const now = ctx.clock.now();
  const row = { id: ctx.newId("sub"), seq: 1, address: "maya@customer.example", mark: "maya" };
  storeSubscribers(tx, [row], about.pageId, now);
  suppress(ctx, tx, { addressHmac: row.mark, reason: "bounced" });
  const mailing = storeMailing(ctx, tx, { ...about, state: "held", count: 1 });
  setMailSettings(ctx, tx, RELAY, CLI_ACTOR);
  makeReportToken(ctx, tx, CLI_ACTOR);
  holdAllMailings(ctx, tx, { reason: "failures", since: now - HOUR_MS });
  const excerpt = "From: grace@customer.example\r\n\r\nWho are you?";
  takeReport(ctx, tx, {
    isCertain: false,
    status: null,
    diagnostic: "",
    mails: [],
    kind: "other",
    excerpt,
  });
  const report = listUnmatched(tx, { before: "~", limit: 1 })[0]?.id ?? "";
  return {
    subscriber: row.id,
    mailing,
    hold: String(findMailHold(tx)?.at),
    report,
    suppressed: row.mark,
  };
}

/** A request for a page as a browser sends it, compression accepted. */
export function browserRequest(url: string, page: DashboardPage, session: string): string {
  const cookie = sessionCookie({ baseUrl: url }, session).split(";", 1)[0] as string;
  return requestText(url, page.path, {
    headers: {
      Accept: "text/html",
      "Accept-Encoding": "gzip, deflate, br, zstd",
      ...(page.isPublic ? {} : { Cookie: cookie }),
    },
    ...(page.form && { form: page.form }),
  });
}

/**
 * Returns true if a path leads to a screen above it, beside it or below it: that of the form of an action, or the first
 * of an area. The sign-in is neither.
 */
function isNear(path: string, location: string): boolean {
  const above = path.slice(0, path.lastIndexOf("/"));
  return (
    path.startsWith(`${location}/`) ||
    location.startsWith(`${path}/`) ||
    (above !== "/admin" && location.startsWith(`${above}/`))
  );
}

/**
 * Returns true if an answer is the requested screen, false if it is an expected redirect. Throws
 * for other answers, such as `not_found`.
 */
export function isScreen({ path, status, form }: DashboardPage, answer: Answer): boolean {
  if (answer.status === status) return status !== 303;
  const location = answer.headers.get("location");
  if (answer.status === 303 && !form && isNear(path, location ?? "")) return false;
  const leading = location === undefined ? "" : ` and leads to ${location}`;
  throw new Error(`${path} answers ${answer.status}${leading}, where ${status} was expected`);
}

function userAgent(n: number): string {
  const version = 100 + n;
  return pick(
    [
      `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`,
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.${n} Safari/605.1.15`,
      `Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.${n} Mobile/15E148 Safari/604.1`,
    ],
    n,
  );
}

function pick<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}
