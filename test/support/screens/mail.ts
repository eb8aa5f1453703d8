import type { Page } from "playwright-core";
import type { Ctx } from "../../../src/context";
import type { Tx } from "../../../src/db/statements";
import { parseNetworks } from "../../../src/base/config/parse";
import { CLI_ACTOR } from "../../../src/base/actor";
import { parseSender } from "../../../src/base/config/mail";
import { addressHmac, ensureMailKey } from "../../../src/features/mail/tokens";
import { findReportToken, makeReportToken, takeReport } from "../../../src/features/mail/reports";
import { setMailSettings } from "../../../src/features/mail/settings";
import { suppress } from "../../../src/features/mail/suppressions";
import type { DemoSites } from "../demo-sites";
import { bounceMessage } from "../mail-reports";
import { politeRelay, startScriptedRelay } from "../relay";
import { inDemoData, inEmpty, send, type Screen } from "./screen";

const MAIL = "/admin/mail";

const SETTINGS = {
  host: "127.0.0.1",
  port: null,
  tls: "none",
  ca: null,
  user: null,
  password: null,
  connections: 4,
  rate_per_minute: 600,
  from: "Northwind <status@northwind.example>",
  reply_to: null,
  bounce_address: null,
} as const;

/** Opens a screen of an installation with a relay on this machine. */
export function withRelayAt(path: string): Screen["open"] {
  return ({ empty }) => {
    const { ctx } = empty.app;
    ctx.config = { ...ctx.config, outboundAllow: parseNetworks("127.0.0.0/8") };
    void ctx.db.write((tx) => setMailSettings(ctx, tx, SETTINGS, CLI_ACTOR));
    return inEmpty(empty, path);
  };
}

const withRelay = withRelayAt(MAIL);

/** Sends a test mail to a relay that refuses or takes the recipient. */
function sendTest(rcpt: string): Screen["reach"] {
  return async (page, { empty }) => {
    await using relay = await startScriptedRelay(
      politeRelay({ RCPT: rcpt, ".": "250 2.0.0 Ok: queued as 4cXyZ12bKq" }, [
        "PIPELINING",
        "SIZE 10240000",
      ]),
    );
    const { ctx } = empty.app;
    const settings = { ...SETTINGS, port: relay.port };
    await ctx.db.write((tx) => setMailSettings(ctx, tx, settings, CLI_ACTOR));
    await send(page, "Send test mail");
  };
}

/** Opens the settings of an installation whose relay flags and variables name. */
const withOptions = ({ failing }: DemoSites) => {
  const { ctx } = failing.app;
  const sources = {
    ...ctx.config.sources,
    smtpHost: "flag",
    smtpUser: "variable",
    smtpPassword: "variable",
    mailFrom: "variable",
  } as const;
  ctx.config = {
    ...ctx.config,
    smtpHost: "smtp.northwind.example",
    smtpUser: "status",
    smtpPassword: "secret",
    mailFrom: parseSender("Northwind <status@northwind.example>"),
    sources,
  };
  return { site: failing, path: MAIL, session: failing.session };
};

const inEmptyAt =
  (path: string): Screen["open"] =>
  ({ empty }) =>
    inEmpty(empty, path);

/** Suppresses addresses and adds unmatched reports, shows the screen again, and does something on it. */
function withReturns(then: (page: Page) => Promise<void> = async () => {}): Screen["reach"] {
  return async (page, { empty }) => {
    const { ctx } = empty.app;
    await ctx.db.write((tx) => addReturns(ctx, tx));
    await page.reload();
    await then(page);
  };
}

function addReturns(ctx: Ctx, tx: Tx): void {
  // They are the same for all screens.
  if (findReportToken(tx)) return;
  makeReportToken(ctx, tx, CLI_ACTOR);
  const key = ensureMailKey(ctx, tx);
  for (const [address, reason, note] of RETURNED) {
    const hmac = addressHmac(key, address);
    suppress(ctx, tx, { addressHmac: hmac, reason, ...(note && { note }) });
  }
  const unknown = { isCertain: false, status: null, diagnostic: "", mails: [] };
  const excerpt = "From: grace@example.org\r\nSubject: Who are you?\r\n\r\nHello";
  takeReport(ctx, tx, { ...unknown, kind: "other", excerpt });
  takeReport(ctx, tx, { ...unknown, kind: "hard", status: "5.1.1", excerpt: bounceMessage({}) });
}

const RETURNED = [
  ["ada@example.com", "bounced", "550 5.1.1 Recipient address rejected: User unknown"],
  ["grace@example.org", "bounced", "550 5.1.10 RESOLVER.ADR.RecipientNotFound"],
  ["joan@example.net", "declined", undefined],
] as const;

/** The relay and test mails. */
export const MAIL_SCREENS: readonly Screen[] = [
  { name: "mail", open: inDemoData(() => MAIL) },
  {
    name: "mail-errors",
    status: 422,
    open: inDemoData(() => MAIL),
    async reach(page) {
      await page.getByLabel("Host").fill("smtp.example.com:587");
      await page.getByLabel("User name").fill("status");
      await page.getByLabel("From", { exact: true }).fill("Northwind");
      await send(page, "Save mail settings");
    },
  },
  { name: "mail-test", open: withRelay, reach: sendTest("250 2.1.5 Ok") },
  {
    name: "mail-test-failed",
    open: withRelay,
    reach: sendTest("550 5.1.1 <maya@northwind.example>: Recipient address rejected: User unknown"),
  },
  {
    name: "mail-remove",
    isOverlay: true,
    open: withRelay,
    reach: (page) => page.getByRole("link", { name: "Remove relay" }).click(),
  },
  { name: "mail-fixed", open: withOptions },
  { name: "mail-returns", open: inEmptyAt(MAIL), reach: withReturns() },
  { name: "mail-reports", open: inEmptyAt(`${MAIL}/reports`), reach: withReturns() },
  {
    name: "mail-report",
    open: inEmptyAt(`${MAIL}/reports`),
    reach: withReturns((page) => page.getByRole("link", { name: "Undelivered Mail" }).click()),
  },
  { name: "mail-suppressions", open: inEmptyAt(`${MAIL}/suppressions`), reach: withReturns() },
  {
    name: "mail-suppression-undo",
    isOverlay: true,
    open: inEmptyAt(`${MAIL}/suppressions?reason=declined`),
    reach: withReturns((page) => page.getByRole("link", { name: "End suppression" }).click()),
  },
  {
    name: "mail-token",
    open: inEmptyAt(`${MAIL}/token`),
    reach: withReturns((page) => send(page, "Replace token")),
  },
];
