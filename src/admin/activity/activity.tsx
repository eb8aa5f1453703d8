import type { AuditRow } from "../../events/audit-search";
import type { ActorKind } from "../../base/actor";
import { toIso } from "../../base/time";
import { ButtonLink } from "../../ui/buttons";
import { Cell, CellNote, ListCard, OneLine, Row, RowLink, Table } from "../../ui/list";
import { EmptyState } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { PageHead, Pagination } from "../../ui/navigation";
import { ACTIVITY_PATH } from "../../ui/frame/paths";
import { NoMatch, NoOlder } from "../../features/timeline/screens/list";
import { ActivityFilters } from "./filters";
import { ACTIVITY_FILE_PATH, type ActivityListing, activityPath, hasFilter } from "./listing";

const COLUMNS = [
  { label: "Time" },
  { label: "Actor" },
  { label: "Change" },
  { label: "IP address" },
];

/** Labels of the actor kinds other than user, shown with the actor's name. */
const KIND_WORDS: Readonly<Partial<Record<ActorKind, string>>> = {
  key: "API key",
  cli: "Command line",
  system: "Automatic",
};

interface ActivityListProps {
  list: ActivityListing;
  /** Paths of the screens of changed objects that still exist, by object id. */
  links: ReadonlyMap<string, string>;
  /** Unix ms. */
  now: number;
}

/** Settings → Activity. */
export function ActivityList({ list, links, now }: ActivityListProps) {
  const { filter, entries, nextBefore, isContinued } = list;
  return (
    <>
      <PageHead
        title="Activity"
        actions={
          <ButtonLink href={activityPath(filter, { path: ACTIVITY_FILE_PATH })}>
            <Icon name="download" />
            Download CSV
          </ButtonLink>
        }
      >
        Changes with their time and author. IP addresses are deleted before the entries.
      </PageHead>
      <ListCard>
        <ActivityFilters list={list} />
        {entries.length > 0 ? (
          <Table columns={COLUMNS} caption="Changes, newest first" isInCard>
            {entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} link={links.get(entry.targetId)} now={now} />
            ))}
          </Table>
        ) : (
          <NoEntries list={list} />
        )}
        <Pagination
          newestHref={isContinued ? activityPath(filter) : undefined}
          olderHref={
            nextBefore === undefined ? undefined : activityPath(filter, { before: nextBefore })
          }
        />
      </ListCard>
    </>
  );
}

interface EntryRowProps {
  entry: AuditRow;
  link: string | undefined;
  now: number;
}

function EntryRow({ entry, link, now }: EntryRowProps) {
  const { at, actorKind, actorId, actorLabel, action, targetId, summary, ip } = entry;
  const time = toIso(at);
  const kind = KIND_WORDS[actorKind];
  return (
    <Row>
      <Cell label="Time">
        <RelativeTime at={time} now={now} />
        <CellNote>
          <span class="nowrap">{`${time.slice(0, 19).replace("T", " ")} UTC`}</span>
        </CellNote>
      </Cell>
      <Cell label="Actor">
        <OneLine>
          <a href={activityPath({ actor: actorId ?? actorKind })}>{actorLabel}</a>
        </OneLine>
        {kind ? <CellNote>{kind}</CellNote> : null}
      </Cell>
      <Cell label="Change">
        <div>{link === undefined ? summary : <RowLink href={link}>{summary}</RowLink>}</div>
        <CellNote>
          <a href={activityPath({ action })}>{action}</a> ·{" "}
          <a href={activityPath({ target: targetId })}>history</a>
        </CellNote>
      </Cell>
      <Cell label="IP address">
        {ip === null ? <NoAddress kind={actorKind} /> : <OneLine>{ip}</OneLine>}
      </Cell>
    </Row>
  );
}

/**
 * Replaces a missing address. Old addresses are deleted, and the system and the command line have
 * none.
 */
function NoAddress({ kind }: { kind: ActorKind }) {
  const isRemote = kind === "user" || kind === "key";
  return <span class="quiet-text">{isRemote ? "Deleted" : "None"}</span>;
}

function NoEntries({ list: { filter, isContinued } }: { list: ActivityListing }) {
  if (!hasFilter(filter) && !isContinued) {
    return (
      <EmptyState title="No changes yet">
        Changes of users, keys, settings, pages, monitors, webhooks, incidents and maintenance
        appear here.
      </EmptyState>
    );
  }
  return isContinued ? (
    <NoOlder what="changes" newest={activityPath(filter)} />
  ) : (
    <NoMatch title="No changes match these filters" home={ACTIVITY_PATH} />
  );
}
