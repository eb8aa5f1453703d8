import type { Reader } from "../../db";
import { listComponentsOfPage } from "../components";
import { listOpenImpacts } from "../incidents";
import { type Headline, headlineOf } from "./rules";

/** What a page shows as a whole right now, read from the database: for those who tell of it elsewhere. */
export function readHeadline(reader: Reader, pageId: string): Headline {
  return headlineOf(
    listComponentsOfPage(reader, { pageId }).map(({ status }) => status),
    listOpenImpacts(reader, { pageId }).map(({ impact }) => impact),
  );
}
