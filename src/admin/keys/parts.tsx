import { describeExpiry, type KeyUsageSummary } from "../../features/keys";
import { plural } from "../../kernel/text";
import { CellNote, Chip, Chips, Moment } from "../../ui";

/** What a key may do. */
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

/** When a key stops, in words. */
export function Expiry({ at, now }: { at: string | null; now: number }) {
  if (at === null) return <>Never</>;
  const { text, isPast } = describeExpiry(at, now);
  return isPast ? (
    <span class="muted">
      Expired <time dateTime={at}>{text}</time>
    </span>
  ) : (
    <time class="nowrap" dateTime={at}>
      {text}
    </time>
  );
}

/** The counts of the last day's answers. */
export function UsageSentence({ usage }: { usage: KeyUsageSummary }) {
  const { ok, client_error, limited, total } = usage.last24h;
  if (total === 0) return <>No requests.</>;
  const parts = [
    `${ok.toLocaleString("en")} succeeded`,
    ...(client_error > 0 ? [`${client_error.toLocaleString("en")} failed (4xx)`] : []),
    ...(limited > 0 ? [`${limited.toLocaleString("en")} rate-limited`] : []),
  ];
  return (
    <>
      {plural(total, "request")}: {parts.join(", ")}.
    </>
  );
}

/** When and from where a key, or one of its values, was last used: the content of a cell. */
export function LastUsed(props: {
  of: { last_used_at: string | null; last_used_ip: string | null };
  now: number;
}) {
  const { last_used_at, last_used_ip } = props.of;
  if (last_used_at === null) return <span class="muted">Never</span>;
  return (
    <>
      <Moment at={last_used_at} now={props.now} />
      <CellNote>{last_used_ip}</CellNote>
    </>
  );
}
