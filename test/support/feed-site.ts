import { XMLParser, XMLValidator } from "fast-xml-parser";
import { type Atom, parseAtomFeed, parseRssFeed, type Rss } from "feedsmith";
import ICAL from "ical.js";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";

/** A page and a key that may report incidents and plan maintenance on it. */
export interface FollowedPage extends AsyncDisposable {
  app: TestApp;
  /** Id of the page's component API. */
  api: string;
  pageId: string;
  /** Calls the API with the key. Throws if it is rejected. */
  send(method: string, path: string, json?: unknown): Promise<Answer["body"]>;
  /** Opens an incident and returns it. */
  open(json?: Record<string, unknown>): Promise<Answer["body"]>;
  /** Plans a maintenance, by default in two hours, and returns it. */
  plan(json?: Record<string, unknown>): Promise<Answer["body"]>;
  /** Reads a file of the page without a credential. */
  read(file: string, options?: CallOptions): Promise<Answer>;
  /** Parses a feed or the calendar of the page. Throws if it is not well-formed. */
  atom(slug?: string): Promise<Atom.Feed<string>>;
  rss(slug?: string): Promise<Rss.Feed<string>>;
  calendar(): Promise<InstanceType<typeof ICAL.Component>>;
}

export async function createFollowedPage(
  page: { name?: string; description?: string } = {},
  component = "API",
): Promise<FollowedPage> {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const made = await app.page({ slug: "acme", ...page }, [component]);
  const key = await app.keyWith(
    "read:status",
    "write:incidents",
    "write:maintenance",
    "write:components",
  );
  const api = made.components[component] ?? "";
  const site: FollowedPage = {
    app,
    api,
    pageId: made.page.id,
    async send(method, path, json) {
      const answer = await app.call(`/api/v1${path}`, {
        method,
        key,
        ...(json === undefined ? {} : { json }),
      });
      if (answer.status >= 400) throw new Error(answer.text);
      return answer.body;
    },
    open: (json = {}) =>
      site.send("POST", "/incidents", {
        page: "acme",
        name: "Errors",
        body: "We look into it.",
        ...json,
      }),
    plan: (json = {}) =>
      site.send("POST", "/maintenance", {
        page: "acme",
        name: "Upgrade",
        body: "A minute without search.",
        components: [api],
        scheduled_for: "2026-03-10T14:00:00Z",
        scheduled_until: "2026-03-10T15:00:00Z",
        ...json,
      }),
    read: (file, options) => app.call(`/status/acme/${file}`, options),
    atom: async (slug = "acme") => parseAtomFeed(await readXml(app, `/status/${slug}/feed.atom`)),
    rss: async (slug = "acme") => parseRssFeed(await readXml(app, `/status/${slug}/feed.rss`)),
    calendar: async () =>
      new ICAL.Component(ICAL.parse(await readWell(app, "/status/acme/calendar.ics"))),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
  return site;
}

/** Parses an XML document. Throws if it is not well-formed. */
export function parseXml(text: string): Answer["body"] {
  const validation = XMLValidator.validate(text);
  if (validation !== true) throw new Error(JSON.stringify(validation.err));
  if (text.replace(/<!\[CDATA\[[\s\S]*?\]\]>/g, "").includes("]]>")) {
    throw new Error("the end of a CDATA section that has no beginning");
  }
  // Characters that XML 1.0 cannot contain.
  // oxlint-disable-next-line no-control-regex
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u.exec(
    text,
  );
  if (forbidden) throw new Error(`a character that XML does not know at ${forbidden.index}`);
  return new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" }).parse(text);
}

async function readXml(app: TestApp, path: string): Promise<string> {
  const text = await readWell(app, path);
  parseXml(text);
  return text;
}

async function readWell(app: TestApp, path: string): Promise<string> {
  const answer = await app.call(path);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.text;
}
