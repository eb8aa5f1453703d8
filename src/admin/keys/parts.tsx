import { describeExpiry, isExpiringSoon } from "../../features/keys/rules";
import type { KeyListing, KeyUsageSummary } from "../../features/keys/listing";
import { plural } from "../../base/text";
import { CellNote, OneLine } from "../../ui/list";
import { Chip, Chips, State } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";

/** Scopes of a key. */
export function ScopeChips({ scopes }: { scopes: readonly string[] }) {
  return (
    <Chips>
      {scopes.map((scope) => (
        <Chip key={scope} isCode>
          {scope}
        </Chip>
      ))}
    </Chips>
  );
}

/** Paths of the screens of users and keys that the reader may open, by id. */
export type CreatorLinks = ReadonlyMap<string, string>;

/** Name of the user, key or program that created a key, linked if there is a screen. */
export function Creator({ of: key, links }: { of: KeyListing; links: CreatorLinks }) {
  const { id, label } = key.created_by;
  const href = id === null ? undefined : links.get(id);
  return href === undefined ? <>{label}</> : <a href={href}>{label}</a>;
}

/** Expiry or revocation of a key, as text. Highlighted if the key expires soon. */
export function KeyEnd({ of: key, now }: { of: KeyListing; now: number }) {
  const { revoked_at, expires_at } = key;
  if (revoked_at !== null) {
    return (
      <span class="quiet-text">
        <OneLine>
          Revoked <RelativeTime at={revoked_at} now={now} />
        </OneLine>
      </span>
    );
  }
  if (expires_at === null) return <span class="quiet-text">Never</span>;
  const { text, isPast } = describeExpiry(expires_at, now);
  if (isPast) {
    return (
      <span class="quiet-text">
        <OneLine>
          Expired <time dateTime={expires_at}>{text}</time>
        </OneLine>
      </span>
    );
  }
  const isSoon = isExpiringSoon(expires_at, now);
  return (
    <>
      <time class="nowrap" dateTime={expires_at}>
        {text}
      </time>
      {isSoon ? (
        <CellNote>
          <State tone="degraded">Expires soon</State>
        </CellNote>
      ) : null}
    </>
  );
}

/** Counts of the last day's responses: "3 requests (2 succeeded, 1 rate-limited)." */
export function UsageSentence({ usage }: { usage: KeyUsageSummary }) {
  const { ok, client_error, limited, total } = usage.last24h;
  if (total === 0) return <>No requests.</>;
  if (ok === total) return <>{plural(total, "request")}, no failures.</>;
  const parts = [
    `${ok.toLocaleString("en")} succeeded`,
    ...(client_error > 0 ? [`${client_error.toLocaleString("en")} failed (4xx)`] : []),
    ...(limited > 0 ? [`${limited.toLocaleString("en")} rate-limited`] : []),
  ];
  return (
    <>
      {plural(total, "request")} ({parts.join(", ")}).
    </>
  );
}

/** Cell with the last use of a key or of one of its values: time and address. */
export function LastUsed(props: {
  of: { last_used_at: string | null; last_used_ip: string | null };
  now: number;
}) {
  const { last_used_at, last_used_ip } = props.of;
  if (last_used_at === null) return <span class="quiet-text">Never</span>;
  return (
    <>
      <RelativeTime at={last_used_at} now={props.now} />
      <CellNote>
        <OneLine>{last_used_ip}</OneLine>
      </CellNote>
    </>
  );
}
