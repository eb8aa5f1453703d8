import type { Ctx } from "../context";
import { OperatorError } from "../db/errors";
import type { Tx } from "../db/statements";
import { CLI_ACTOR } from "../base/actor";
import {
  type AddressError,
  type MailAddress,
  parseMailAddress,
  parseStoredAddress,
} from "../base/mail-address";
import { addressHmac, ensureMailKey } from "../features/mail/tokens";
import { relayTakesUtf8 } from "../features/mail/settings";
import type { PageRow } from "../features/pages/store";
import { followSettings } from "../features/settings/settings";
import { addConsentedSubscriber, readConsent } from "../features/subscribers/sign-up";
import {
  createChoicesReader,
  eraseAddress,
  inviteSubscriber,
  removeSubscriber,
} from "../features/subscribers/subscribers";
import {
  LISTED_STATUSES,
  listSubscribersOfPage,
  type SubscriberLine,
} from "../features/subscribers/list";
import { listSubscribersOfAddress } from "../features/subscribers/store";
import { requireImportable } from "../features/subscribers/transfer";
import { plural } from "../base/text";
import { type ExitCode, type Invocation, UsageError } from "./command";
import { printJson, printTable } from "./output";
import { oneOf, pageOf, requiredPage, SUBSCRIBER_FIELDS } from "./subscriber-page";
import { withInstallation } from "./with-installation";

const ACCESS = { canCreate: false, fields: SUBSCRIBER_FIELDS };

/** Prints the subscribers of a page. */
export async function runList(invocation: Invocation): Promise<ExitCode> {
  const { value, isSet, output } = invocation;
  const given = value("status");
  const status = given === undefined ? undefined : oneOf("status", given, LISTED_STATUSES);
  return withInstallation({ name: "subscriber list" }, invocation, ACCESS, async ({ ctx }) => {
    const page = requiredPage(ctx.db, invocation);
    const now = ctx.clock.now();
    const list = listSubscribersOfPage(ctx.db, page, { status, now });
    if (isSet("json")) printJson(output, list);
    else printTable(output, ["EMAIL", "STATUS", "FOLLOWS", "EVENTS", "SINCE"], list.map(toRow));
  });
}

function toRow(subscriber: SubscriberLine): string[] {
  const { email, status, reasons, scope, components, groups, events, since } = subscriber;
  const targets = [...groups.map((ref) => `group ${ref}`), ...components];
  return [
    email ?? "removed",
    reasons.length > 0 ? `${status} (${reasons.join(", ")})` : status,
    scope === "page" ? "everything" : targets.join(", ") || "nothing",
    events.join(", "),
    since,
  ];
}

/** Subscribes an address, or asks its owner for a confirmation. */
export async function runAdd(invocation: Invocation): Promise<ExitCode> {
  const { value, values, output } = invocation;
  return withInstallation({ name: "subscriber add" }, invocation, ACCESS, async ({ ctx }) => {
    followSettings(ctx);
    const rules = { allowUtf8Local: relayTakesUtf8(ctx) };
    const address = requiredAddress(parseMailAddress(invocation.positionals[0] ?? "", rules));
    const page = requiredPage(ctx.db, invocation);
    const components = values("component");
    const choices = createChoicesReader(ctx.db, page).read({ components, groups: [], events: [] });
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
export async function runRemove(invocation: Invocation): Promise<ExitCode> {
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
