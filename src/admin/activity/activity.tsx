import type { AuditRow } from "../../events";
import type { ActorKind } from "../../domain/actor";
import { toIso } from "../../kernel/time";
import {
  ButtonLink,
  Cell,
  CellNote,
  EmptyState,
  RelativeTime,
  OneLine,
  PageHead,
  Pagination,
  Row,
  RowLink,
  Table,
} from "../../ui";
import { ACTIVITY_PATH } from "../paths";
import { ACTIVITY_FILE_PATH, activityPath } from "./activity-paths";
import { ActivityFilters } from "./filters";
import { type ActivityListing, isNarrowing } from "./listing";

const COLUMNS = [{ label: "When" }, { label: "Who" }, { label: "What" }, { label: "From where" }];

/** Labels of the actor kinds other than user, shown with the actor's name. */
const KIND_WORDS: Readonly<Partial<Record<ActorKind, string>>> = {
  key: "API key",
  cli: "On the server",
  system: "By itself",
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
            Download CSV
          </ButtonLink>
        }
      >
        Who changed what, when and from where. Addresses are forgotten after a time, the rest later.
      </PageHead>
      <ActivityFilters list={list} />
      {entries.length > 0 ? (
        <Table columns={COLUMNS} caption="Changes, newest first">
          {entries.map((entry) => (
            <EntryRow key={entry.id} entry={entry} link={links.get(entry.targetId)} now={now} />
          ))}
        </Table>
      ) : (
        <NothingFound list={list} />
      )}
      <Pagination
        newestHref={isContinued ? activityPath(filter) : undefined}
        olderHref={
          nextBefore === undefined ? undefined : activityPath(filter, { before: nextBefore })
        }
      />
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
  const moment = toIso(at);
  const kind = KIND_WORDS[actorKind];
  return (
    <Row>
      <Cell label="When">
        <RelativeTime at={moment} now={now} />
        <CellNote>
          <span class="nowrap">{`${moment.slice(0, 19).replace("T", " ")} UTC`}</span>
        </CellNote>
      </Cell>
      <Cell label="Who">
        <OneLine>
          <a href={activityPath({ actor: actorId ?? actorKind })}>{actorLabel}</a>
        </OneLine>
        {kind ? <CellNote>{kind}</CellNote> : null}
      </Cell>
      <Cell label="What">
        <div>{link === undefined ? summary : <RowLink href={link}>{summary}</RowLink>}</div>
        <CellNote>
          <a href={activityPath({ action })}>{action}</a> ·{" "}
          <a href={activityPath({ target: targetId })}>its history</a>
        </CellNote>
      </Cell>
      <Cell label="From where">
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
  return <span class="quiet-text">{isRemote ? "Not kept" : "Here"}</span>;
}

function NothingFound({ list: { filter, isContinued } }: { list: ActivityListing }) {
  if (!isNarrowing(filter) && !isContinued) {
    return (
      <EmptyState title="Nothing was changed yet">
        Every change of users, keys, settings, pages, monitors, webhooks, incidents and maintenance
        is listed here.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="Nothing found"
      action={<ButtonLink href={ACTIVITY_PATH}>Show everything</ButtonLink>}
    >
      {isContinued ? "The list ends before here." : "No change matches all that you asked for."}
    </EmptyState>
  );
}
