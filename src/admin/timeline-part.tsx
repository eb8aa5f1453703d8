import { Pagination } from "../ui";

/** What one screen shows of what was told: so many updates, and so much of their text, in UTF-16 units. */
const UPDATES_SHOWN = 50;
const TEXT_SHOWN = 100_000;

/** Some updates of a timeline, newest first. */
export interface TimelinePart<Update> {
  shown: Update[];
  /** The id of the last, if there are older ones; and whether these are not the newest. */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/**
 * The newest updates, or those behind the update of the id `before`: one at least, however long it is.
 * All of thousands of long ones would take seconds to write, in which nobody else is answered.
 */
export function timelinePart<Update extends { id: string; body: string }>(
  updates: readonly Update[],
  before: string | undefined,
): TimelinePart<Update> {
  const from = updates.findIndex(({ id }) => id === before) + 1;
  const shown: Update[] = [];
  let room = TEXT_SHOWN;
  for (const update of updates.slice(from, from + UPDATES_SHOWN)) {
    room -= update.body.length;
    if (room < 0 && shown.length > 0) break;
    shown.push(update);
  }
  const isMore = from + shown.length < updates.length;
  return { shown, nextBefore: isMore ? shown.at(-1)?.id : undefined, isContinued: from > 0 };
}

/** The ways to the other parts of a timeline, on the screen of the path `home`. */
export function OtherParts(props: { home: string; part: TimelinePart<unknown> }) {
  const { nextBefore, isContinued } = props.part;
  return (
    <Pagination
      newestHref={isContinued ? props.home : undefined}
      olderHref={nextBefore === undefined ? undefined : `${props.home}?before=${nextBefore}`}
    />
  );
}
