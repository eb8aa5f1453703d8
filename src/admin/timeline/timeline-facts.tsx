import type { ComponentChildren } from "preact";
import type { PageRow } from "../../features/pages";
import { Card, Facts, RelativeTime } from "../../ui";

interface Fact {
  label: string;
  value: ComponentChildren;
}

/** Properties of an incident or a maintenance: `facts`, then its page and its id. */
export function TimelineFacts(props: {
  facts: readonly Fact[];
  page: Pick<PageRow, "name">;
  id: string;
}) {
  const { facts, page, id } = props;
  const common = [
    { label: "Page", value: page.name },
    { label: "Id", value: <code>{id}</code> },
  ];
  return (
    <Card>
      <Facts items={[...facts, ...common]} />
    </Card>
  );
}

/** Returns a fact for each time of a table by label, without those that are null. */
export function timeFacts(times: Readonly<Record<string, string | null>>, now: number): Fact[] {
  return Object.entries(times).flatMap(([label, iso]) =>
    iso === null ? [] : [{ label, value: <RelativeTime at={iso} now={now} /> }],
  );
}
