import { existsSync, statSync } from "node:fs";
import { CLI_ACTOR } from "../base/actor";
import { optionNames } from "../base/config/options";
import {
  type AddressError,
  type MailAddress,
  parseMailAddress,
  parseStoredAddress,
} from "../base/mail-address";
import { plural } from "../base/text";
import type { Ctx } from "../context";
import { OperatorError } from "../db/errors";
import type { Reader, Tx } from "../db/statements";
import { relayTakesUtf8 } from "../features/mail/settings";
import { addressHmac, ensureMailKey } from "../features/mail/tokens";
import type { PageRow } from "../features/pages/store";
import { followSettings } from "../features/settings/settings";
import {
  LISTED_STATUSES,
  listSubscribersOfPage,
  type SubscriberLine,
} from "../features/subscribers/list";
import { inviteSubscriber } from "../features/subscribers/sign-up";
import {
  addConsentedSubscriber,
  eraseAddress,
  readConsent,
  removeSubscriber,
} from "../features/subscribers/subscribers";
import { listSubscribersOfAddress } from "../features/subscribers/store";
import { createChoicesReader } from "../features/subscribers/choices";
import {
  exportSubscribers,
  IMPORT_RESULTS,
  type ImportCounts,
  importSubscribers,
  readImportFile,
  recordExport,
  requireImportable,
  RESULT_WORDS,
} from "../features/subscribers/transfer";
import {
  type Command,
  type ExitCode,
  type Flag,
  type Invocation,
  JSON_FLAG,
  UsageError,
} from "./command";
import { printJson, printTable } from "./print";
import { findRealPage, withInstallation } from "./with-installation";

const PAGE_FLAG: Flag = { name: "page", placeholder: "SLUG", help: "Page, by its slug." };
const REQUIRED_PAGE: Flag = { ...PAGE_FLAG, isRequired: true };
const CONSENT_FLAG: Flag = {
  name: "consent",
  placeholder: "TEXT",
  help: "Subscribe at once, by a consent that exists. The words are stored.",
};

export const subscriberCommands: readonly Command[] = [
  {
    name: "subscriber list",
    summary: "List the subscribers of a page.",
    flags: [
      REQUIRED_PAGE,
      {
        name: "status",
        placeholder: "S",
        help: "Only those that are active, suppressed, unconfirmed or unsubscribed.",
      },
      JSON_FLAG,
    ],
    options: optionNames("subscriber"),
    run: runList,
  },
  {
    name: "subscriber add",
    summary: "Ask EMAIL by mail to confirm a subscription.",
    positionals: ["EMAIL"],
    flags: [
      REQUIRED_PAGE,
      {
        name: "component",
        placeholder: "REF",
        isRepeatable: true,
        help: "Only mails about this component; can be repeated. Default: the whole page.",
      },
      {
        name: "language",
        placeholder: "TAG",
        help: "Language of the mails, such as de; one that the page offers. Default: that of the page.",
      },
      CONSENT_FLAG,
    ],
    // Needed to find out if mail can be sent.
    options: optionNames("mail"),
    run: runAdd,
  },
  {
    name: "subscriber remove",
    summary: "Unsubscribe EMAIL from a page, or from all.",
    positionals: ["EMAIL"],
    flags: [
      { ...PAGE_FLAG, help: "Page, by its slug; default: all pages." },
      { name: "erase", help: "Delete everything that is stored about the address." },
    ],
    options: optionNames("subscriber"),
    run: runRemove,
  },
  {
    name: "subscriber import",
    summary:
      "Import subscribers of a page from a CSV file with email,components,groups,events,language.",
    positionals: ["FILE"],
    flags: [
      REQUIRED_PAGE,
      { name: "confirm", help: "Ask each person by mail to confirm." },
      CONSENT_FLAG,
      { name: "dry-run", help: "Only check the file and count, without changing anything." },
    ],
    // Needed to find out if mail can be sent.
    options: optionNames("mail"),
    run: runImport,
  },
  {
    name: "subscriber export",
    summary: "Print subscribers as CSV, which can be imported again.",
    flags: [
      { ...PAGE_FLAG, help: "Page, by its slug; default: all pages." },
      { name: "suppressed", help: "Print the suppressed addresses with their reasons instead." },
    ],
    options: optionNames("subscriber"),
    run: runExport,
  },
];

/** Names of arguments and flags for the fields of the services. */
const FIELDS = { flags: { file: "FILE", consent: "--consent", email: "EMAIL" } };
const ACCESS = { canCreate: false, fields: FIELDS };

/** Prints the subscribers of a page. */
async function runList(invocation: Invocation): Promise<ExitCode> {
  const { value, isSet, output } = invocation;
  const given = value("status");
  const status = LISTED_STATUSES.find((name) => name === given);
  if (given !== undefined && status === undefined) {
    throw new UsageError([`--status must be one of ${LISTED_STATUSES.join(", ")}.`]);
  }
  return withInstallation({ name: "subscriber list" }, invocation, ACCESS, async ({ ctx }) => {
    const page = requiredPage(ctx.db, invocation);
    const now = ctx.clock.now();
    const list = listSubscribersOfPage(ctx.db, page, { status, now });
    if (isSet("json")) printJson(output, list);
    else
      printTable(
        output,
        ["EMAIL", "STATUS", "FOLLOWS", "EVENTS", "LANGUAGE", "SINCE"],
        list.map(toRow),
      );
  });
}

function toRow(subscriber: SubscriberLine): string[] {
  const { email, status, reasons, scope, components, groups, events, language, since } = subscriber;
  const targets = [...groups.map((ref) => `group ${ref}`), ...components];
  return [
    email ?? "removed",
    reasons.length > 0 ? `${status} (${reasons.join(", ")})` : status,
    scope === "page" ? "everything" : targets.join(", ") || "nothing",
    events.join(", "),
    language ?? "of the page",
    since,
  ];
}

/** Subscribes an address, or asks its owner for a confirmation. */
async function runAdd(invocation: Invocation): Promise<ExitCode> {
  const { value, values, output } = invocation;
  return withInstallation({ name: "subscriber add" }, invocation, ACCESS, async ({ ctx }) => {
    followSettings(ctx);
    const rules = { allowUtf8Local: relayTakesUtf8(ctx) };
    const address = requiredAddress(parseMailAddress(invocation.positionals[0] ?? "", rules));
    const page = requiredPage(ctx.db, invocation);
    const components = values("component");
    const written = { components, groups: [], events: [], language: value("language") ?? "" };
    const choices = createChoicesReader(ctx.db, page).read(written);
    if (typeof choices === "string") throw new UsageError([`${choices}.`]);
    const given = value("consent");
    const consent = given === undefined ? undefined : readConsent(given);
    requireImportable(ctx, page, consent === undefined);
    const subject = { pageId: page.id, address, choices, source: "command" as const };
    const added = await ctx.db.write((tx) =>
      consent === undefined
        ? inviteSubscriber(ctx, tx, subject, CLI_ACTOR)
        : addConsentedSubscriber(ctx, tx, { ...subject, consent }, CLI_ACTOR),
    );
    const who = address.address;
    switch (added.result) {
      case "invited":
        output.err(`A mail for confirming is on its way to ${who}. It can be used for 7 days.`);
        return;
      case "added":
        output.err(`Subscribed ${who} to ${page.name}.`);
        return;
      case "subscribed":
        output.err(`${who} is subscribed to ${page.name} already.`);
        return;
      case "suppressed":
        throw new OperatorError(`${who} is suppressed (${added.reason}), so nothing was changed.`);
      case "limited":
        throw new OperatorError(`${who} has had such mails just now. Try again later.`);
    }
  });
}

/** Ends the subscriptions of an address, or erases it. */
async function runRemove(invocation: Invocation): Promise<ExitCode> {
  const { isSet, output } = invocation;
  const [email = ""] = invocation.positionals;
  const address = requiredAddress(parseStoredAddress(email, { allowUtf8Local: true }));
  return withInstallation({ name: "subscriber remove" }, invocation, ACCESS, async ({ ctx }) => {
    const page = pageOf(ctx.db, invocation);
    const where = page ? `from ${page.name}` : "from all pages";
    if (isSet("erase")) {
      const { subscriptions, requests } = await ctx.db.write((tx) =>
        eraseAddress(ctx, tx, address, page, CLI_ACTOR),
      );
      const counts = `${plural(subscriptions, "subscription")}, ${plural(requests, "sign-up")}`;
      output.err(`Erased ${address.address} ${where}: ${counts}.`);
      return;
    }
    const ended = await ctx.db.write((tx) => endSubscriptions(ctx, tx, address, page));
    if (ended === 0) throw new OperatorError(`${address.address} is not subscribed.`);
    output.err(`Unsubscribed ${address.address} ${where}.`);
  });
}

/** Ends the active subscriptions of an address and returns their number. */
function endSubscriptions(
  ctx: Ctx,
  tx: Tx,
  { key }: MailAddress,
  page: PageRow | undefined,
): number {
  const hmac = addressHmac(ensureMailKey(ctx, tx), key);
  const active = listSubscribersOfAddress(tx, { addressHmac: hmac }).filter(
    ({ status, pageId }) => status === "active" && (page === undefined || page.id === pageId),
  );
  for (const row of active) removeSubscriber(ctx, tx, row, { erase: false }, CLI_ACTOR);
  return active.length;
}

function requiredAddress(address: MailAddress | AddressError): MailAddress {
  if ("error" in address) throw new UsageError([`EMAIL ${address.error}.`]);
  return address;
}

/** Time of a transaction, and pause before the next, in which a running server writes. */
const CHUNK_MS = 15;
const PAUSE_MS = 10;

/**
 * Imports the subscribers of a file. Bad lines are printed and skipped; the exit code is 1 if there are any.
 */
async function runImport(invocation: Invocation): Promise<ExitCode> {
  const { positionals, isSet, value, output } = invocation;
  const [path = ""] = positionals;
  const given = value("consent");
  if (isSet("confirm") === (given !== undefined)) {
    throw new UsageError(["Give either --confirm or --consent TEXT."]);
  }
  requireFile(path);
  let badCount = 0;
  await withInstallation({ name: "subscriber import" }, invocation, ACCESS, async ({ ctx }) => {
    followSettings(ctx);
    const consent = given === undefined ? null : readConsent(given);
    const page = requiredPage(ctx.db, invocation);
    requireImportable(ctx, page, consent === null);
    const options = {
      badLinesMax: Number.POSITIVE_INFINITY,
      allowUtf8Local: relayTakesUtf8(ctx),
    };
    const file = await readImportFile(ctx.db, page, Bun.file(path).stream(), options);
    for (const { line, detail } of file.badLines) output.err(`${path}:${line}: ${detail}`);
    badCount = file.badCount;
    const isDryRun = isSet("dry-run");
    const counts = await importSubscribers(
      ctx,
      { page, file, consent, source: "import", isDryRun },
      {
        chunkMs: CHUNK_MS,
        write: (change) => ctx.db.write(change),
        between: () => Bun.sleep(PAUSE_MS),
      },
      CLI_ACTOR,
    );
    output.err(
      `${isDryRun ? "A dry run" : `Imported into ${page.name}`}: ${wordsOf(counts, badCount)}.`,
    );
  });
  return badCount > 0 ? 1 : 0;
}

/** Prints subscribers, or suppressed addresses, as CSV. */
async function runExport(invocation: Invocation): Promise<ExitCode> {
  const { isSet, output } = invocation;
  return withInstallation({ name: "subscriber export" }, invocation, ACCESS, async ({ ctx }) => {
    const selection = { page: pageOf(ctx.db, invocation), isSuppressed: isSet("suppressed") };
    await ctx.db.write((tx) => recordExport(ctx, tx, selection, CLI_ACTOR));
    for (const lines of exportSubscribers(ctx.db, selection)) {
      // `out` adds one line end.
      if (lines !== "") output.out(lines.replace(/\n$/, ""));
    }
  });
}

function requireFile(path: string): void {
  if (!existsSync(path)) throw new OperatorError(`There is no file ${path}.`);
  if (statSync(path).isDirectory()) {
    throw new OperatorError(`${path} is a directory; import needs a file.`);
  }
}

function wordsOf(counts: ImportCounts, badCount: number): string {
  const parts = IMPORT_RESULTS.flatMap((result) =>
    counts[result] > 0 ? `${counts[result].toLocaleString("en")} ${RESULT_WORDS[result]}` : [],
  );
  if (badCount > 0) parts.push(`${badCount.toLocaleString("en")} not valid`);
  return parts.length > 0 ? parts.join(", ") : "nothing";
}

/** Returns the page that `--page` names; undefined without it. Throws an OperatorError. */
function pageOf(reader: Reader, { value }: Invocation): PageRow | undefined {
  const slug = value("page");
  return slug === undefined ? undefined : findRealPage(reader, slug, "without subscribers");
}

/** Returns the page that the required flag `--page` names. */
function requiredPage(reader: Reader, { value }: Invocation): PageRow {
  return findRealPage(reader, value("page") ?? "", "without subscribers");
}
