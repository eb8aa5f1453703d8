import type { ComponentChildren } from "preact";
import type { ComponentStatus } from "../../domain/component-status";
import type { Tone } from "../../domain/tone";
import type { Author } from "../../events/authors";
import { MINUTE_MS } from "../../kernel/time";
import { MarkdownText } from "../../public/text";
import { DetailCard } from "../../ui/detail";
import { Pagination } from "../../ui/navigation";
import { RelativeTime } from "../../ui/relative-time";
import { STATUS_WORDS, StatusLabel } from "../../ui/labels";
import { Timeline } from "../../ui/timeline";
import { componentPath } from "../paths";

/** Limits of one screen: number of updates, and length of their texts in UTF-16 units. */
const UPDATES_SHOWN = 50;
const TEXT_SHOWN = 100_000;

/** Update of an incident or a maintenance, as the API presents it. */
interface Update<Status extends string> {
  id: string;
  status: Status;
  body: string;
  display_at: string;
  created_at: string;
  components?: readonly {
    id: string;
    name: string;
    old_status: ComponentStatus;
    new_status: ComponentStatus;
  }[];
}

interface UpdateTimelineProps<Status extends string> {
  /** Newest first. */
  updates: readonly Update<Status>[];
  /** Labels of the statuses. */
  words: Readonly<Record<Status, string>>;
  /** Returns the tone of an update by its status. */
  toneOf(status: Status): Tone;
  /** Components that have a screen. Others were deleted. */
  components: readonly { id: string }[];
  /** Authors by update id, if known. */
  authors: ReadonlyMap<string, Author>;
  /** Link that stands for the server, which wrote an update for a monitor. */
  monitor?: ComponentChildren;
  /** Path of the screen. */
  home: string;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Returns the path of an update's form; undefined if the user may not edit updates. */
  editPath?: ((updateId: string) => string) | undefined;
  /** Unix ms. */
  now: number;
}

/** One part of a timeline of updates, newest first, with links to its other parts. */
export function UpdateTimeline<Status extends string>(props: UpdateTimelineProps<Status>) {
  const { updates, words, toneOf, home, before, now } = props;
  const { shown, nextBefore, isContinued } = timelinePart(updates, before);
  const onPage = new Set(props.components.map(({ id }) => id));
  return (
    <DetailCard
      title="Timeline"
      liveId="timeline"
      end={<span class="muted">Newest first · UTC</span>}
    >
      <Timeline
        now={now}
        items={shown.map((update) => ({
          key: update.id,
          title: words[update.status],
          at: update.display_at,
          tone: toneOf(update.status),
          by: <UpdateNote {...props} update={update} />,
          body: (
            <>
              <MarkdownText source={update.body} topHeading={3} />
              <Changes components={update.components ?? []} onPage={onPage} />
            </>
          ),
        }))}
      />
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={nextBefore === undefined ? undefined : `${home}?before=${nextBefore}`}
      />
    </DetailCard>
  );
}

interface ChangesProps extends Pick<Required<Update<string>>, "components"> {
  /** Ids of the components that have a screen. */
  onPage: ReadonlySet<string>;
}

/** Component statuses that an update set; nothing for an empty list. */
function Changes({ components, onPage }: ChangesProps) {
  if (components.length === 0) return null;
  return (
    <ul class="timeline-changes">
      {components.map(({ id, name, old_status: from, new_status: to }) => (
        <li key={id}>
          {onPage.has(id) ? <a href={componentPath(id)}>{name}</a> : <bdi>{name}</bdi>}{" "}
          {from === to ? null : (
            <span class="muted">
              {STATUS_WORDS[from]} <span aria-hidden="true">→</span>
              <span class="visually-hidden">, now</span>
            </span>
          )}{" "}
          <StatusLabel status={to} />
        </li>
      ))}
    </ul>
  );
}

/**
 * Author of an update, the time of writing if it differs from the effective time, and the link to
 * its form.
 */
function UpdateNote<Status extends string>(
  props: UpdateTimelineProps<Status> & { update: Update<Status> },
) {
  const { update, authors, editPath, monitor, now } = props;
  const { id, body, created_at: createdAt, display_at: displayAt } = update;
  const author = authors.get(id);
  const isMoved = Math.abs(Date.parse(createdAt) - Date.parse(displayAt)) >= MINUTE_MS;
  if (!author && !isMoved && !editPath) return null;
  const parts = [
    author ? describeAuthor(author, monitor) : null,
    isMoved ? (
      <>
        written <RelativeTime at={createdAt} now={now} />
      </>
    ) : null,
    editPath ? (
      <a href={editPath(id)}>
        Edit
        <span class="visually-hidden"> the update “{body.slice(0, 40)}”</span>
      </a>
    ) : null,
  ].filter((part) => part !== null);
  return (
    <>
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 ? " · " : ""}
          {part}
        </span>
      ))}
    </>
  );
}

function describeAuthor({ kind, label }: Author, monitor: ComponentChildren): ComponentChildren {
  if (kind === "system") return monitor ? <>By the monitor {monitor}</> : "Automatic";
  if (kind === "cli") return "By the command line";
  return kind === "key" ? `By the API key “${label}”` : label;
}

/**
 * Returns the newest updates, or those after the update with the id `before`; at least one, however
 * long. The limits matter because rendering thousands of long updates would block the server for
 * seconds.
 */
function timelinePart<Item extends { id: string; body: string }>(
  updates: readonly Item[],
  before: string | undefined,
) {
  const from = updates.findIndex(({ id }) => id === before) + 1;
  const shown: Item[] = [];
  let room = TEXT_SHOWN;
  for (const update of updates.slice(from, from + UPDATES_SHOWN)) {
    room -= update.body.length;
    if (room < 0 && shown.length > 0) break;
    shown.push(update);
  }
  const isMore = from + shown.length < updates.length;
  return { shown, nextBefore: isMore ? shown.at(-1)?.id : undefined, isContinued: from > 0 };
}
