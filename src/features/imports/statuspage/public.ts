import { OperatorError } from "../../../db/errors";
import { type SourceDocuments, isObject } from "./document";
import { Documents } from "./documents";
import { type FetchDependencies, fetchDocument } from "./fetch";

/** Documents of the public API, the first of which every page has. */
const PATHS = ["summary", "components", "incidents", "scheduled-maintenances"] as const;

/** Returns the address of the page of a URL as people copy it, or of one of its documents. */
export function pageAddress(text: string): URL | undefined {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) return undefined;
  url.hash = "";
  url.search = "";
  url.pathname = `${url.pathname.replace(/\/api\/v2(\/.*)?$/, "").replace(/\/+$/, "")}/`;
  return url;
}

/** Fetches the public documents of a page. Throws an OperatorError. */
export async function readPublic(deps: FetchDependencies, page: URL): Promise<SourceDocuments> {
  const documents = new Documents();
  for (const name of PATHS) {
    const fetched = await fetchDocument(deps, documentAddress(page, name));
    if (name === "summary") requireSummary(fetched?.document, page);
    if (fetched) documents.add(fetched.document, name);
  }
  return documents.all();
}

/** Returns the id of a page, from its public documents. Throws an OperatorError. */
export async function readPageId(deps: FetchDependencies, page: URL): Promise<string> {
  const fetched = await fetchDocument(deps, documentAddress(page, "summary"));
  return requireSummary(fetched?.document, page);
}

function documentAddress(page: URL, name: (typeof PATHS)[number]): URL {
  return new URL(`api/v2/${name}.json`, page);
}

/** Returns the id of the page of a summary. */
function requireSummary(document: unknown, page: URL): string {
  const id = isObject(document) && isObject(document["page"]) ? document["page"]["id"] : undefined;
  if (typeof id === "string" && id !== "") return id;
  throw new OperatorError(
    `${page.origin}${page.pathname} is no page with the JSON of Statuspage, which is at api/v2/summary.json.`,
  );
}
