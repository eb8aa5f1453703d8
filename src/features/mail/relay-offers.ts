import type { Ctx } from "../../context";
import { findSetting, putSetting } from "../settings/store";
import { type MailSettings, readMailSettings } from "./settings";

const RELAY_OFFERS = "mail_relay_offers";

type Relay = Pick<MailSettings, "host" | "port">;

/** Extensions that a relay offered with the last connection. */
interface RelayOffers extends Relay {
  smtpUtf8: boolean;
}

/** True if the relay takes addresses with characters outside ASCII before the @, as of the last connection. */
export function relayTakesUtf8(ctx: Ctx): boolean {
  const settings = readMailSettings(ctx);
  return settings !== undefined && readOffers(ctx, settings)?.smtpUtf8 === true;
}

/** Stores what a relay offers, if that is not what is known of it. A failure only delays that. */
export async function noteRelayOffers(
  ctx: Ctx,
  { host, port }: Relay,
  extensions: ReadonlySet<string>,
): Promise<void> {
  const offers: RelayOffers = { host, port, smtpUtf8: extensions.has("SMTPUTF8") };
  try {
    if (readOffers(ctx, offers)?.smtpUtf8 === offers.smtpUtf8) return;
    const now = ctx.clock.now();
    await ctx.db.write((tx) => putSetting(tx, { name: RELAY_OFFERS, value: offers, now }));
  } catch (error) {
    ctx.log.warn({ err: error }, "what the relay offers could not be stored");
  }
}

/** Returns what is known of a relay; undefined if the last connection was to another one. */
function readOffers({ db }: Ctx, relay: Relay): RelayOffers | undefined {
  const value = findSetting(db, { name: RELAY_OFFERS })?.value as RelayOffers | undefined;
  return value?.host === relay.host && value.port === relay.port ? value : undefined;
}
