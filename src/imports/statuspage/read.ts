import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { guarded, toCsvLine } from "../../base/csv";
import type { ForeignObject, ImportReport } from "../../base/import-report";
import { isObject, plural } from "../../base/text";
import { SECOND_MS } from "../../base/time";
import { OperatorError } from "../../db/errors";
import { type FetchDependencies, type Fetched, fetchDocument, parseDocument } from "../fetch";
import { cutName, readText } from "../kit";
import type { Found, LeftOut, OutputFile } from "../found";
import { type CutList, LISTED_MAX, type SourceDocuments } from "./document";
import { foundIn } from "./page";

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

interface StatuspageDependencies extends FetchDependencies {
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
    found.leftOut.push(subscribersNotRead(false));
    return found;
  }
  if (!address) throw new OperatorError("With an API key, the source is the address of the page.");
  const id = pageId ?? (await readPageId(deps, address));
  if (!PAGE_ID.test(id)) throw new OperatorError("The page has no id of Statuspage.");
  const api = new RestApi(deps, { apiKey, pageId: id, apiUrl: deps.apiUrl ?? API_URL });
  const found = foundIn(await api.readPage());
  if (path === undefined) {
    found.leftOut.push(subscribersNotRead(true));
    return found;
  }
  const subscribers = subscribersIn(await api.readSubscribers());
  found.leftOut.push(...subscribersLeftOut(subscribers));
  found.files = (report) => [subscribersFile(path, subscribers, report)];
  return found;
}

const API_URL = "https://api.statuspage.io/v1/";

/** Number of entries that are requested in one answer. A shorter answer is the last. */
const PER_PAGE = 100;
/** Maximum number of answers of one list: 20,000 entries. */
const PAGES_MAX = 200;

/** Statuspage's REST API for one page, asked once a second. */
class RestApi {
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

/** Documents of the public API, the first of which every page has. */
const PATHS = ["summary", "components", "incidents", "scheduled-maintenances"] as const;

/** Returns the address of the page of a URL as people copy it, or of one of its documents. */
function pageAddress(text: string): URL | undefined {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) return undefined;
  url.hash = "";
  url.search = "";
  url.pathname = `${url.pathname.replace(/\/api\/v2(\/.*)?$/, "").replace(/\/+$/, "")}/`;
  return url;
}

/** Fetches the public documents of a page. Throws an OperatorError. */
async function readPublic(deps: FetchDependencies, page: URL): Promise<SourceDocuments> {
  const documents = new Documents();
  for (const name of PATHS) {
    const fetched = await fetchDocument(deps, documentAddress(page, name));
    if (name === "summary") requireSummary(fetched?.document, page);
    if (fetched) documents.add(fetched.document, name);
  }
  return documents.all();
}

/** Returns the id of a page, from its public documents. Throws an OperatorError. */
async function readPageId(deps: FetchDependencies, page: URL): Promise<string> {
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

/** Names of the files of a folder, without `.json`, in the order in which they are read. */
const FILES = [
  "page",
  "summary",
  "component-groups",
  "components",
  "incidents",
  "scheduled-maintenances",
  "scheduled_maintenances",
];

/** Reads a saved document, or a folder of them. Throws an OperatorError. */
async function readSaved(path: string): Promise<SourceDocuments> {
  const documents = new Documents();
  if (isFolder(path)) {
    const names = new Set(readdirSync(path));
    const files = FILES.filter((name) => names.has(`${name}.json`));
    if (files.length === 0) {
      throw new OperatorError(
        `${path} has none of ${FILES.map((name) => `${name}.json`).join(", ")}.`,
      );
    }
    for (const name of files) await addFile(documents, join(path, `${name}.json`), name);
  } else {
    await addFile(documents, path);
  }
  const all = documents.all();
  if (all.page !== undefined) return all;
  throw new OperatorError(`${path} has no page. Save summary.json too.`);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read: ${message}`,
    );
  }
}

async function addFile(documents: Documents, path: string, name?: string): Promise<void> {
  if (documents.add(parseDocument(await readText(path), path), name)) return;
  throw new OperatorError(`${path} is no document of Statuspage.`);
}

/** Collects the documents of one page. An object that several documents have is taken from the last one. */
class Documents {
  #page: unknown;
  readonly #components = new Map<unknown, unknown>();
  readonly #incidents = new Map<unknown, unknown>();
  readonly #cut = new Set<CutList>();

  /**
   * Adds a document. `name` is its kind, which only a bare list needs: `components`, `component-groups`, `incidents`
   * or `scheduled-maintenances`. Returns false for anything else.
   */
  add(document: unknown, name = ""): boolean {
    if (Array.isArray(document)) return this.#addList(document, name.replaceAll("_", "-"));
    if (!isObject(document)) return false;
    const { page, summary, components, incidents, scheduled_maintenances: maintenances } = document;
    if (isObject(page)) {
      this.#page = page;
      this.#addAll(this.#components, components);
      this.#addListed("incidents", incidents);
      this.#addListed("maintenances", maintenances);
      return true;
    }
    if (summary !== undefined) {
      // The complete lists follow the summary.
      return [
        this.add(summary),
        components === undefined || this.add(components, "components"),
        incidents === undefined || this.add(incidents, "incidents"),
        maintenances === undefined || this.add(maintenances, "scheduled-maintenances"),
      ].every(Boolean);
    }
    if (name !== "page") return false;
    this.#page = document;
    return true;
  }

  #addList(rows: readonly unknown[], name: string): boolean {
    switch (name) {
      case "components":
        this.#addAll(this.#components, rows);
        return true;
      case "component-groups":
        this.#addAll(
          this.#components,
          rows.map((row) => (isObject(row) ? { ...row, group: true } : row)),
        );
        return true;
      case "incidents":
      case "scheduled-maintenances":
        this.#addAll(this.#incidents, rows);
        return true;
      default:
        return false;
    }
  }

  /** Adds a list of a public document, and notes if it may be cut. */
  #addListed(name: CutList, rows: unknown): void {
    if (Array.isArray(rows) && rows.length >= LISTED_MAX) this.#cut.add(name);
    this.#addAll(this.#incidents, rows);
  }

  #addAll(to: Map<unknown, unknown>, rows: unknown): void {
    if (!Array.isArray(rows)) return;
    for (const row of rows as unknown[]) {
      // What has no id is reported each.
      const id = isObject(row) && typeof row["id"] === "string" ? row["id"] : Symbol("no id");
      to.set(id, row);
    }
  }

  /** Returns everything that was added. */
  all(): SourceDocuments {
    return {
      page: this.#page,
      components: [...this.#components.values()],
      incidents: [...this.#incidents.values()],
      cut: this.#cut,
    };
  }
}

/** Subscriber who gets mail. */
interface MailSubscriber {
  email: string;
  /** Ids of components at Statuspage; empty for the whole page. */
  components: readonly string[];
}

/** Subscribers of a page, by the way in which they are notified. */
interface Subscribers {
  byMail: readonly MailSubscriber[];
  /** Numbers of the others. */
  others: ReadonlyMap<string, number>;
}

/** Separates subscribers by mail from others. */
function subscribersIn(entries: readonly unknown[]): Subscribers {
  const byMail: MailSubscriber[] = [];
  const others = new Map<string, number>();
  for (const entry of entries) {
    const { email, mode, components } = isObject(entry) ? entry : {};
    if (typeof email === "string" && email !== "" && (mode ?? "email") === "email") {
      const ids = Array.isArray(components) ? (components as unknown[]) : [];
      byMail.push({ email, components: ids.filter((id) => typeof id === "string") });
    } else {
      const word = typeof mode === "string" ? cutName(mode, "unknown", 40) : "unknown";
      others.set(word, (others.get(word) ?? 0) + 1);
    }
  }
  return { byMail, others };
}

/** Lists the subscribers who cannot be moved, by the way in which they are notified. */
function subscribersLeftOut({ others }: Subscribers): LeftOut[] {
  return [...others].map(([mode, count]) => ({
    foreign: foreignOfSubscriber(mode, `${plural(count, "subscriber")} by ${mode}`),
    reason: "Only subscribers by e-mail can be moved.",
  }));
}

/** Says how subscribers can be moved that were not read. */
function subscribersNotRead(hasKey: boolean): LeftOut {
  const reason = hasKey
    ? "Import again with --subscribers, which writes a file for `allclear subscriber import`."
    : "Only the REST API has them. Import again with --api-key-file and --subscribers.";
  return { foreign: foreignOfSubscriber("all", "Subscribers"), reason };
}

function foreignOfSubscriber(id: string, name: string): ForeignObject {
  return { type: "subscribers", id, name };
}

/**
 * Returns a file with the subscribers by mail, for `subscriber import`. The report has the refs of their components.
 * Those whose components are all gone are left out.
 */
function subscribersFile(
  path: string,
  { byMail }: Subscribers,
  { items }: Pick<ImportReport, "items">,
): OutputFile {
  const refs = new Map(
    items.flatMap(({ foreign, target }) =>
      foreign.type === "component" && target?.ref ? [[foreign.id, target.ref] as const] : [],
    ),
  );
  let text = toCsvLine(["email", "components"]);
  let left = 0;
  for (const { email, components } of byMail) {
    const chosen = components.flatMap((id) => refs.get(id) ?? []);
    if (components.length > 0 && chosen.length === 0) left += 1;
    else text += toCsvLine([guarded(email), chosen.join(";")]);
  }
  const written = `Wrote ${plural(byMail.length - left, "subscriber")} to ${path}`;
  const gone = left > 0 ? `, without ${left} whose components are gone` : "";
  const next = `Next: allclear subscriber import ${path}, with --page and --consent.`;
  return { path, text, summary: `${written}${gone}. ${next}` };
}
