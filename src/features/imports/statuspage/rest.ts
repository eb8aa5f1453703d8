import { OperatorError } from "../../../db/errors";
import { SECOND_MS } from "../../../base/time";
import { isObject, type SourceDocuments } from "./document";
import { Documents } from "./documents";
import { type Fetched, type FetchDependencies, fetchDocument } from "./fetch";

export const API_URL = "https://api.statuspage.io/v1/";

/** Number of entries that are requested in one answer. A shorter answer is the last. */
const PER_PAGE = 100;
/** Maximum number of answers of one list: 20,000 entries. */
const PAGES_MAX = 200;

/** Statuspage's REST API for one page, asked once a second. */
export class RestApi {
  readonly #deps: FetchDependencies;
  readonly #base: URL;
  readonly #authorization: string;
  #askedAt: number | undefined;

  /** `pageId` is a valid part of a path. The key is a secret. */
  constructor(
    deps: FetchDependencies,
    { apiKey, pageId, apiUrl }: { apiKey: string; pageId: string; apiUrl: string },
  ) {
    this.#deps = deps;
    this.#base = new URL(`pages/${pageId}/`, apiUrl);
    this.#authorization = `OAuth ${apiKey}`;
  }

  /** Reads the page with everything that is imported. Throws an OperatorError. */
  async readPage(): Promise<SourceDocuments> {
    const documents = new Documents();
    documents.add(await this.#get(new URL(this.#base.href.slice(0, -1))), "page");
    for (const name of ["component-groups", "components", "incidents"]) {
      documents.add(await this.#list(name), name);
    }
    return documents.all();
  }

  /** Reads the active subscribers. Throws an OperatorError. */
  readSubscribers(): Promise<unknown[]> {
    return this.#list("subscribers", { first: 0, size: "limit" });
  }

  /** Reads a list until an answer is short. Entries that come twice are read once. */
  async #list(name: string, { first, size } = { first: 1, size: "per_page" }): Promise<unknown[]> {
    const entries = new Map<unknown, unknown>();
    for (let page = first; page < first + PAGES_MAX; page += 1) {
      const url = new URL(name, this.#base);
      url.searchParams.set("page", String(page));
      url.searchParams.set(size, String(PER_PAGE));
      const answered = await this.#get(url);
      if (!Array.isArray(answered)) {
        throw new OperatorError(`${url.origin}${url.pathname} answered no list.`);
      }
      for (const entry of answered as unknown[]) {
        entries.set(isObject(entry) && entry["id"] ? entry["id"] : Symbol("no id"), entry);
      }
      if (answered.length < PER_PAGE) return [...entries.values()];
      this.#deps.progress(`${name}: ${entries.size.toLocaleString("en")} read.`);
    }
    throw new OperatorError(
      `The page has more than ${(PAGES_MAX * PER_PAGE).toLocaleString("en")} ${name}, which is the most.`,
    );
  }

  async #get(url: URL): Promise<unknown> {
    const fetched: Fetched = await fetchDocument(
      {
        ...this.#deps,
        egress: {
          request: async (request) => {
            await this.#pause();
            return this.#deps.egress.request(request);
          },
        },
      },
      url,
      { authorization: this.#authorization },
    );
    if (fetched) return fetched.document;
    throw new OperatorError(
      `Statuspage has no page with this id, or the API key has no access to it. Give its id by --page-id.`,
    );
  }

  /** Waits until a second has passed since the last request. */
  async #pause(): Promise<void> {
    const { clock, wait } = this.#deps;
    const rest = this.#askedAt === undefined ? 0 : this.#askedAt + SECOND_MS - clock.monotonic();
    if (rest > 0) await wait(rest);
    this.#askedAt = clock.monotonic();
  }
}
