import type { Reader } from "../../db/statements";
import type { MailHold } from "../../base/mail-address";
import { listMailings, nameOfSubject } from "../../features/mailings/lists";
import type { MailingRow } from "../../features/mailings/store";
import { type ListQuery, readListQuery } from "../../features/timeline/screens/list";
import { type HeldMailings, readHeldMailings, readUndoable } from "./notices";

const PAGE_SIZE = 50;

/** Mailing with the name of the object that it is about; undefined once that is deleted. */
export interface ListedMailing {
  row: MailingRow;
  subjectName: string | undefined;
}

/** Content of one screen of the list of mailings. */
export interface MailingListing extends ListQuery {
  mailings: readonly ListedMailing[];
  hold: MailHold | undefined;
  held: HeldMailings;
  /** Id of the last mailing if older ones follow. */
  nextBefore: string | undefined;
}

/** Reads the mailings for a query. Invalid parameters are ignored. `now` is in unix ms. */
export function readMailingList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): MailingListing {
  const { pages, page, before } = readListQuery(reader, query);
  const rows = listMailings(reader, { pageId: page?.id, before, limit: PAGE_SIZE + 1 });
  const shown = rows.slice(0, PAGE_SIZE);
  const held = { ...readHeldMailings(reader), undoable: readUndoable(reader, now) };
  return {
    pages,
    page,
    before,
    mailings: shown.map((row) => ({ row, subjectName: nameOfSubject(reader, row) })),
    hold: held.hold,
    held,
    nextBefore: rows.length > PAGE_SIZE ? shown.at(-1)?.id : undefined,
  };
}
