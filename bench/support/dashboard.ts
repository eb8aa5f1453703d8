import { join } from "node:path";
import { createApp } from "../../src/app";
import { loadConfig } from "../../src/config";
import { startSession } from "../../src/features/auth";
import { createKey, SCOPE_NAMES } from "../../src/features/keys";
import { createUser, inviteUser } from "../../src/features/users";
import { sessionCookie } from "../../src/http";
import { openForCommand } from "../../src/installation";
import { CLI_ACTOR, userActor } from "../../src/kernel/actor";
import { makeOldAndBusy } from "./busy-keys";
import { requestText } from "./connection";
import { seed } from "./seed";

export const DASHBOARD_KEYS = 1_000;
const USERS = 50;
/** As many as a user can have. */
const SESSIONS = 50;

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

export interface DashboardPage {
  /** What a figure calls it: its path as it is declared, or words. */
  name: string;
  path: string;
  /** Whether it is for those who are not signed in. */
  isPublic: boolean;
  /** What is sent to get it, where a form has to be sent. */
  form?: Record<string, string>;
}

/** An installation that has been in use for long, and what opens its dashboard. */
export interface Dashboard {
  dataDir: string;
  /** Tokens of sessions of its owner, each with a bucket of its own. */
  sessions: string[];
  /** Every page that a GET shows, the list of keys first. */
  pages: DashboardPage[];
  /** Pages that answer a form: secrets that are shown once, and a form with what is wrong with it. */
  answers: DashboardPage[];
}

/** Fills a new data directory with a status page, users, an owner with many devices, and old keys. */
export async function seedDashboard(dataDir: string): Promise<Dashboard> {
  await seed(dataDir);
  const loaded = loadConfig({ dataDir, logLevel: "warn" }, {});
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  const installation = openForCommand(loaded.config, "bench", { mayCreate: false });
  const { ctx } = installation;
  try {
    const made = await ctx.db.write((tx) => {
      const users = Array.from({ length: USERS }, (_, n) => {
        const name = `${pick(NAMES, n)} ${pick(TEAMS, n * 3)}`;
        const email = `${name.toLowerCase().replace(" ", ".")}.${n}@acme.example`;
        const role = n === 0 ? "owner" : pick(["admin", "editor", "viewer"] as const, n);
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
      const owner = pick(users, 0);
      const sessions = Array.from({ length: SESSIONS }, (_, n) =>
        startSession(ctx, tx, owner.id, { ip: `203.0.113.${n}`, userAgent: userAgent(n) }),
      );
      const ids = { key: pick(keys, DASHBOARD_KEYS - 20).id, user: pick(users, 1).id, token };
      return { sessions, ids };
    });
    makeOldAndBusy(join(dataDir, "allclear.db"));
    const { sessions, ids } = made;
    return { dataDir, sessions, pages: listPages(ctx, ids), answers: listAnswers(ids) };
  } finally {
    installation.close();
  }
}

interface Ids {
  key: string;
  user: string;
  token: string;
}

/** The dashboard's own table of routes, so that no page that is added later is left out. */
function listPages(ctx: Parameters<typeof createApp>[0], ids: Ids): DashboardPage[] {
  const app = createApp(ctx);
  app.usage.stop();
  const pages = app.routes.routes
    // What begins with an underscore is for those who work on Allclear, and not in the executable.
    .filter(({ method, path }) => method === "GET" && /^\/admin(\/(?!_)|$)/.test(path))
    .map(({ path, operation }) => {
      const id = path.startsWith("/admin/settings/keys/") ? ids.key : ids.user;
      const filled = path.replace(":token", ids.token).replace(":id", id);
      if (filled.includes(":")) throw new Error(`nothing is known to open ${path} with`);
      const isPublic = operation.access.kind === "public";
      return { name: `\`${path.replace(/:(\w+)/g, "{$1}")}\``, path: filled, isPublic };
    });
  const list = pages.findIndex(({ path }) => path === "/admin/settings/keys");
  return [...pages.splice(list, 1), ...pages];
}

function listAnswers({ key, user }: Ids): DashboardPage[] {
  const form = "sent by the bench";
  const newKey = { form, name: "Deploys", scopes: "read:status", expires: "90" };
  const newUser = {
    form,
    name: "Another Colleague",
    email: "another@acme.example",
    role: "viewer",
  };
  const answers: Omit<DashboardPage, "isPublic">[] = [
    { name: "the value of a new key", path: "/admin/settings/keys/new", form: newKey },
    { name: "the form for a new key, sent empty", path: "/admin/settings/keys/new", form: {} },
    {
      name: "the new value of a key",
      path: `/admin/settings/keys/${key}/rotate`,
      form: { form, overlap: "24h" },
    },
    { name: "the link of an invitation", path: "/admin/settings/users/new", form: newUser },
    { name: "a new link of a user", path: `/admin/settings/users/${user}/link`, form: { form } },
  ];
  return answers.map((page) => ({ ...page, isPublic: false }));
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
