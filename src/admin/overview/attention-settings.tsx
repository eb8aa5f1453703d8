import { EXPIRES_SOON_MS } from "../../base/secrets";
import { roleAllows } from "../../base/actor";
import { listKeyPage } from "../../features/keys/listing";
import { lastFailure } from "../../features/webhooks/health";
import { plural } from "../../base/text";
import { Day, relativeTime } from "../../ui/times";
import { keyPath, webhookPath } from "../../ui/frame/paths";
import { describeFailure } from "../webhooks/failure-words";
import { type DeliveryTrouble, readDeliveryTroubles } from "../webhooks/read";
import { type AttentionEntry, type AttentionRow, type AttentionSource } from "./attention-source";
import { Elapsed } from "./parts";

/** Maximum number of expiring keys that are read and counted. */
const KEYS_READ = 100;

/**
 * Entries of webhooks that receive no events. Roles that may not open webhooks get one entry
 * without names.
 */
export function webhookRows(source: AttentionSource): AttentionEntry[] {
  const { reader, role, now } = source;
  const troubles = readDeliveryTroubles(reader, now);
  const toneOf = ({ disabledReason }: DeliveryTrouble) =>
    disabledReason === undefined ? "partial" : "major";
  if (roleAllows(role, "admin")) {
    return troubles.map((trouble) => ({
      kind: "webhook",
      tone: toneOf(trouble),
      since: trouble.since,
      read: () => webhookRow(source, trouble),
    }));
  }
  const [first] = troubles;
  if (!first) return [];
  return [
    {
      kind: "webhook",
      tone: troubles.some((trouble) => toneOf(trouble) === "major") ? "major" : "partial",
      since: Math.min(...troubles.map(({ since }) => since)),
      read: () => ({
        name: "Notifications",
        state: `Events do not reach ${plural(troubles.length, "webhook")}`,
        note: "Some programs or channels do not receive notifications. Ask an admin to check the webhooks.",
      }),
    },
  ];
}

function webhookRow(
  { reader, now }: AttentionSource,
  { id, name, since, disabledReason, waiting }: DeliveryTrouble,
): AttentionRow {
  const failure = lastFailure(reader, id);
  return {
    name,
    href: webhookPath(id),
    state: (
      <>
        {disabledReason === undefined ? "Failing" : "Disabled"} for{" "}
        <Elapsed since={since} now={now} />
      </>
    ),
    note:
      disabledReason === undefined ? (
        <>
          Webhook · {plural(waiting?.count ?? 0, "pending event")}
          {waiting ? (
            <>
              , the oldest queued <Elapsed since={waiting.oldestAt} now={now} /> ago
            </>
          ) : null}
          .{failure ? ` Last attempt: ${describeFailure(failure).replace(/\.$/, "")}.` : ""}
        </>
      ) : (
        <>Webhook · {disabledReason} No events are sent until you enable the webhook.</>
      ),
    action: { href: webhookPath(id), label: waiting ? "See deliveries" : "Open webhook" },
  };
}

/** Entries of API keys that expire soon, for roles that may open them. */
export function keyRows({ reader, role, now }: AttentionSource): AttentionEntry[] {
  if (!roleAllows(role, "admin")) return [];
  const { keys } = listKeyPage(reader, { filter: "expiring", limit: KEYS_READ, now });
  return keys.flatMap(({ id, name, expires_at: expiresAt }): AttentionEntry[] => {
    if (expiresAt === null) return [];
    const at = Date.parse(expiresAt);
    return [
      {
        kind: "key",
        tone: "degraded",
        since: at - EXPIRES_SOON_MS,
        read: () => ({
          name,
          href: keyPath(id),
          state: `Expires ${relativeTime(at, now)}`,
          note: (
            <>
              API key · valid until <Day at={expiresAt} />. Programs that use it are rejected
              afterwards.
            </>
          ),
          action: { href: keyPath(id), label: "Open key" },
        }),
      },
    ];
  });
}
