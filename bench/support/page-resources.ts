import { gunzipSync } from "node:zlib";
import { type Answer, type Connection, requestText } from "./connection";

/** Something of this server that a page has the browser load. */
interface PageResource {
  path: string;
  /** True if the browser paints nothing before it is loaded. */
  isBlocking: boolean;
}

/**
 * `rel` values of head links that the browser loads. It does not load others, such as those of
 * feeds.
 */
const LOADED_LINKS = ["stylesheet", "icon", "apple-touch-icon", "manifest", "preload"];

/** The font of the dashboard, which is not weighed: text is shown before it is loaded. */
const OWN_FONT = /url\("\/assets\/[\w.-]+\.woff2"\)/g;

/**
 * Lists the resources that a browser with an empty cache loads for a page, each once. Throws for a
 * resource of another host.
 */
export function resourcesOf(html: string): PageResource[] {
  const found = new Map<string, PageResource>();
  const add = (url: string | null, isBlocking: boolean) => {
    if (url === null || url.startsWith("data:")) return;
    if (!/^\/(?!\/)/.test(url)) throw new Error(`a page loads ${url}`);
    found.set(url, { path: url, isBlocking: isBlocking || (found.get(url)?.isBlocking ?? false) });
  };
  const attribute = (
    name: string,
    isBlocking: (element: HTMLRewriterTypes.Element) => boolean,
  ) => ({
    element: (element: HTMLRewriterTypes.Element) =>
      add(element.getAttribute(name), isBlocking(element)),
  });
  const never = () => false;
  new HTMLRewriter()
    .on("link", {
      element(link) {
        const words = link.getAttribute("rel")?.toLowerCase().split(/\s+/) ?? [];
        if (!words.some((word) => LOADED_LINKS.includes(word))) return;
        add(link.getAttribute("href"), words.includes("stylesheet"));
      },
    })
    .on(
      "script[src]",
      attribute("src", (script) => {
        const waits = ["defer", "async"].some((name) => script.hasAttribute(name));
        return !waits && script.getAttribute("type") !== "module";
      }),
    )
    .on("img[src], iframe[src], source[src], embed[src]", attribute("src", never))
    .on("object[data]", attribute("data", never))
    .transform(html);
  return [...found.values()];
}

/** Tells the bytes of resources as they are sent, each asked for once. Throws for one that leads to more. */
export function createScales(
  url: string,
  connection: Connection,
): (path: string) => Promise<number> {
  const known = new Map<string, number>();
  return async (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const headers = { "Accept-Encoding": "gzip" };
    const answer = await connection.send(requestText(url, path, { headers }));
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    requireAlone(textOf(answer).replaceAll(OWN_FONT, ""), path);
    known.set(path, answer.body.byteLength);
    return answer.body.byteLength;
  };
}

/** Throws for a style or a script that has the browser load something else. */
export function requireAlone(text: string, name: string): void {
  const pictures = text.replaceAll(/url\((["']?)data:/g, "");
  if (/url\(|@import|^import /m.test(pictures)) throw new Error(`${name} leads to more`);
}

/** The body of an answer as a text, whether or not it came compressed. */
export function textOf({ headers, body }: Answer): string {
  return (headers.get("content-encoding") === "gzip" ? gunzipSync(body) : body).toString();
}

export function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
