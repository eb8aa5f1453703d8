import type { ComponentStatus } from "../../domain/component-status";
import type { Author } from "../../events";
import { MINUTE_MS } from "../../kernel/time";
import { MarkdownText } from "../../public/text";
import { Pagination, RelativeTime, Section, StatusLabel, Timeline } from "../../ui";

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
  components?: readonly { id: string; name: string; new_status: ComponentStatus }[];
}

interface UpdateTimelineProps<Status extends string> {
  /** Newest first. */
  updates: readonly Update<Status>[];
  /** Labels of the statuses. */
  words: Readonly<Record<Status, string>>;
  /** Status whose updates are marked green. */
  doneStatus: Status;
  /** Authors by update id, if known. */
  authors: ReadonlyMap<string, Author>;
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
  const { updates, words, doneStatus, home, before, now } = props;
  const { shown, nextBefore, isContinued } = timelinePart(updates, before);
  return (
    <Section title="Timeline">
      <Timeline
        now={now}
        items={shown.map((update) => ({
          title: words[update.status],
          at: update.display_at,
          ...(update.status === doneStatus ? { status: "operational" as const } : {}),
          body: (
            <>
              <MarkdownText source={update.body} topHeading={3} />
              <StatusList
                components={(update.components ?? []).map(({ new_status: status, ...named }) => ({
                  ...named,
                  status,
                }))}
              />
              <UpdateNote {...props} update={update} />
            </>
          ),
        }))}
      />
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={nextBefore === undefined ? undefined : `${home}?before=${nextBefore}`}
      />
    </Section>
  );
}

/** Components with their statuses; nothing for an empty list. */
export function StatusList(props: {
  components: readonly { id: string; name: string; status: ComponentStatus }[];
}) {
  if (props.components.length === 0) return null;
  return (
    <ul class="named">
      {props.components.map(({ id, name, status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
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
  const { update, authors, editPath, now } = props;
  const { id, body, created_at: createdAt, display_at: displayAt } = update;
  const author = authors.get(id);
  const isMoved = Math.abs(Date.parse(createdAt) - Date.parse(displayAt)) >= MINUTE_MS;
  if (!author && !isMoved && !editPath) return null;
  return (
    <p class="muted">
      {author || isMoved ? (
        <>
          Written{author ? ` ${describeAuthor(author)}` : ""}
          {isMoved ? (
            <>
              {" "}
              <RelativeTime at={createdAt} now={now} />
            </>
          ) : null}
          .{" "}
        </>
      ) : null}
      {editPath ? (
        <a href={editPath(id)}>
          Edit
          <span class="visually-hidden"> the update “{body.slice(0, 40)}”</span>
        </a>
      ) : null}
    </p>
  );
}

function describeAuthor({ kind, label }: Author): string {
  if (kind === "system") return "automatically";
  if (kind === "cli") return "by the command line";
  return kind === "key" ? `by the API key “${label}”` : `by ${label}`;
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
