import type { Reader } from "../../db";
import { listComponentsOfPage } from "../components";
import { listOpenImpacts } from "../incidents";
import { type Headline, headlineOf } from "./rules";

/** Reads the current headline of a page from the database, for messages about it. */
export function readHeadline(reader: Reader, pageId: string): Headline {
  return headlineOf(
    listComponentsOfPage(reader, { pageId }).map(({ status }) => status),
    listOpenImpacts(reader, { pageId }).map(({ impact }) => impact),
  );
}
