import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Ctx } from "../../src/context";
import type { TakenMails } from "../programs/mail-relay";
import { findPageBySlug } from "../../src/features/pages/store";
import { addSubscribers, type NewSubscribers } from "./add-subscribers";
import { compileProgram } from "./compile";
import type { Installation } from "../../src/installation";
import { openData } from "./open-data";
import { type Seed, seed } from "./seed";
import { type Server, startAllclear, startServer } from "./server";
import type { Workspace } from "./workspace";
import { LOAD_CORE, SERVER_CORE } from "./wrk";

/** Allclear with subscribers, and a relay on the other core that accepts every mail at once. */
export interface MailSite {
  page: Seed;
  key: string;
  /** Starts Allclear on one core. Without the relay, mails wait. */
  start(options?: { hasRelay?: boolean }): Promise<Server>;
  taken(): Promise<TakenMails>;
  /** Returns what was taken once there are so many mails. Throws after five minutes. */
  untilTaken(count: number): Promise<TakenMails>;
  /** Opens an incident that names a component. */
  open(server: Server, page?: string): Promise<void>;
  /** Returns once the mails of all mailings are written. */
  untilWritten(): Promise<void>;
  stop(): Promise<void>;
}

const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 20;
/** Port at which nothing listens. */
const NO_RELAY_PORT = "9";
const BODY = "We are seeing elevated error rates for a part of the requests. ".repeat(12);

const SETTINGS = {
  baseUrl: "https://status.example.com",
  smtpHost: "127.0.0.1",
  smtpPort: NO_RELAY_PORT,
  smtpTls: "none",
  mailFrom: "Acme <status@example.com>",
};

/** Returns the variables of a server with mail. Without the port of a relay, mails wait. */
export function mailEnv(relayPort: string = NO_RELAY_PORT): Record<string, string> {
  return {
    ALLCLEAR_BASE_URL: SETTINGS.baseUrl,
    ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32",
    ALLCLEAR_SMTP_HOST: SETTINGS.smtpHost,
    ALLCLEAR_SMTP_PORT: relayPort,
    ALLCLEAR_SMTP_TLS: SETTINGS.smtpTls,
    ALLCLEAR_SMTP_CONNECTIONS: "8",
    ALLCLEAR_SMTP_RATE: "0",
    ALLCLEAR_MAIL_FROM: SETTINGS.mailFrom,
  };
}

/** Opens the data directory of a site as a command does, with mail. */
export function openMailData(dataDir: string): Installation {
  return openData(dataDir, { settings: SETTINGS });
}

/** Creates a page with subscribers, of whom half chose the component that incidents name. */
export async function createMailSite(
  workspace: Workspace,
  subscribers: number,
  more: (page: Seed, ctx: Ctx) => Promise<void> = async () => {},
): Promise<MailSite> {
  const scopes = ["read:status", "write:incidents"] as const;
  const page = await seed(workspace.path("data"), { keys: 1, scopes: [...scopes] });
  const { dataDir, componentIds } = page;
  const [key = ""] = page.keys;
  const { ctx, close } = openData(dataDir);
  const added: NewSubscribers = {
    pageId: findPageBySlug(ctx.db, { slug: page.slug })?.id ?? "",
    count: subscribers,
    componentIds: componentIds.slice(0, 2),
  };
  await addSubscribers(ctx, added);
  await more(page, ctx);
  close();
  const relay = await startServer(workspace, [compileProgram(workspace, "mail-relay")], {
    core: LOAD_CORE,
  });
  const taken = async () => (await (await fetch(relay.url)).json()) as TakenMails;
  const until = async (isReached: () => Promise<boolean>) => {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await isReached())) {
      if (performance.now() > deadline) throw new Error("mails were not sent in time");
      await Bun.sleep(LOOK_EVERY_MS);
    }
  };

  return {
    page,
    key,
    async start({ hasRelay = true } = {}) {
      return startAllclear(workspace, dataDir, {
        core: SERVER_CORE,
        env: mailEnv(hasRelay ? String((await taken()).port) : undefined),
      });
    },
    taken,
    async untilTaken(count) {
      await until(async () => (await taken()).count >= count);
      return taken();
    },
    async open(server, slug = page.slug) {
      const components =
        slug === page.slug ? { [componentIds[0] ?? ""]: "partial_outage" } : undefined;
      const answer = await fetch(`${server.url}/api/v1/incidents`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ page: slug, name: "Checkout is slow", body: BODY, components }),
      });
      if (answer.status !== 201) throw new Error(`an incident was refused: ${await answer.text()}`);
      await answer.bytes();
    },
    async untilWritten() {
      const database = new Database(join(dataDir, "allclear.db"), { readonly: true });
      const unwritten = database.query<{ n: number }, []>(
        "SELECT count(*) AS n FROM mailings WHERE state = 'expanding'",
      );
      try {
        await until(async () => unwritten.get()?.n === 0);
      } finally {
        database.close();
      }
    },
    stop: () => relay.stop(),
  };
}
