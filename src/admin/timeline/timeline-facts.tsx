import type { ComponentChildren } from "preact";
import { DetailCard } from "../../ui/detail";
import { Facts } from "../../ui/blocks";
import { RelativeTime } from "../../ui/relative-time";

interface Fact {
  label: string;
  value: ComponentChildren;
}

/** Properties of an incident or a maintenance: `facts`, then its id. */
export function TimelineFacts(props: {
  facts: readonly Fact[];
  id: string;
  /** Path of the form; undefined if the user may not edit. */
  editPath: string | undefined;
}) {
  const { facts, id, editPath } = props;
  return (
    <DetailCard
      title="Details"
      liveId="details"
      end={editPath === undefined ? undefined : <a href={editPath}>Edit</a>}
      isFlush
    >
      <Facts items={[...facts, { label: "Id", value: <code>{id}</code> }]} />
    </DetailCard>
  );
}

/** Returns a fact for each time of a table by label, without those that are null. */
export function timeFacts(times: Readonly<Record<string, string | null>>, now: number): Fact[] {
  return Object.entries(times).flatMap(([label, iso]) =>
    iso === null ? [] : [{ label, value: <RelativeTime at={iso} now={now} /> }],
  );
}
