import { OperatorError } from "../../../db/errors";
import type { Found, LeftOut } from "../source";
import { foundIn } from "./found";
import type { FetchDependencies } from "./fetch";
import { pageAddress, readPageId, readPublic } from "./public";
import { API_URL, RestApi } from "./rest";
import { readSaved } from "./saved";
import {
  subscribersFile,
  subscribersIn,
  subscribersLeftOut,
  subscribersNotRead,
} from "./subscribers";

/** Shape of an id that is part of an address. */
const PAGE_ID = /^[A-Za-z0-9_-]{1,100}$/;

interface StatuspageOptions {
  /** Key of the REST API, which is a secret; undefined to read the public documents. */
  apiKey: string | undefined;
  /** Id of the page; undefined to read it from the public documents. */
  pageId: string | undefined;
  /** Path of the file for subscribers, which needs a key; undefined for none. */
  subscribersFile: string | undefined;
}

export interface StatuspageDependencies extends FetchDependencies {
  /** Address of the REST API, which only tests replace. */
  apiUrl?: string;
}

/**
 * Reads a page of Statuspage, or of a product with the same documents: from its address, or from saved documents.
 * Throws an OperatorError for a source that cannot be read.
 */
export async function readStatuspage(
  place: string,
  { apiKey, pageId, subscribersFile: path }: StatuspageOptions,
  deps: StatuspageDependencies,
): Promise<Found> {
  const address = pageAddress(place);
  if (apiKey === undefined) {
    const needs = path === undefined ? pageId && "--page-id" : "--subscribers";
    if (needs) throw new OperatorError(`${needs} needs --api-key-file.`);
    const found = foundIn(address ? await readPublic(deps, address) : await readSaved(place));
    return withLeftOut(found, [subscribersNotRead(false)]);
  }
  if (!address) throw new OperatorError("With an API key, the source is the address of the page.");
  const id = pageId ?? (await readPageId(deps, address));
  if (!PAGE_ID.test(id)) throw new OperatorError("The page has no id of Statuspage.");
  const api = new RestApi(deps, { apiKey, pageId: id, apiUrl: deps.apiUrl ?? API_URL });
  const found = foundIn(await api.readPage());
  if (path === undefined) return withLeftOut(found, [subscribersNotRead(true)]);
  const subscribers = subscribersIn(await api.readSubscribers());
  return {
    ...withLeftOut(found, subscribersLeftOut(subscribers)),
    files: (report) => [subscribersFile(path, subscribers, report)],
  };
}

function withLeftOut(found: Found, more: readonly LeftOut[]): Found {
  return { ...found, leftOut: [...found.leftOut, ...more] };
}
