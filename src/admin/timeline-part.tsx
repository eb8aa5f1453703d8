import { Pagination } from "../ui";

/** Limits of one screen: number of updates, and length of their texts in UTF-16 units. */
const UPDATES_SHOWN = 50;
const TEXT_SHOWN = 100_000;

/** One part of a timeline, newest update first. */
export interface TimelinePart<Update> {
  shown: Update[];
  /**
   * Id of the last shown update if older ones follow. `isContinued` is true for every part but the
   * newest.
   */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/**
 * Returns the newest updates, or those after the update with the id `before`; at least one, however
 * long. The limits matter because rendering thousands of long updates would block the server for
 * seconds.
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

/** Links to the other parts of a timeline, on the screen with the path `home`. */
export function OtherParts(props: { home: string; part: TimelinePart<unknown> }) {
  const { nextBefore, isContinued } = props.part;
  return (
    <Pagination
      newestHref={isContinued ? props.home : undefined}
      olderHref={nextBefore === undefined ? undefined : `${props.home}?before=${nextBefore}`}
    />
  );
}
