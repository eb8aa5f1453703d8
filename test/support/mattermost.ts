/** Incoming webhooks as Mattermost has them, which takes nothing that it does not document. */

const FIELDS: ReadonlySet<string> = new Set([
  "text",
  "channel",
  "username",
  "icon_url",
  "icon_emoji",
  "attachments",
  "type",
  "props",
  "priority",
]);

/** Characters of a post, after which the text is split into several. */
const POST_MAX = 16_383;

export interface MattermostServer extends AsyncDisposable {
  origin: string;
  /** Texts of the posts, oldest first. */
  posts: string[];
}

/** Starts a server with one incoming webhook. */
export function startMattermost(hook: string): MattermostServer {
  const posts: string[] = [];
  const refuse = (status: number, message: string) => Response.json({ message }, { status });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return refuse(405, "Method not allowed.");
      if (new URL(request.url).pathname !== `/hooks/${hook}`)
        return refuse(400, "Invalid webhook.");
      const [type] = (request.headers.get("content-type") ?? "").split(";");
      if (type !== "application/json") return refuse(400, "Unable to parse incoming data.");
      const payload: unknown = await request.json().catch(() => undefined);
      if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
        return refuse(400, "Unable to parse incoming data.");
      }
      const unknown = Object.keys(payload).filter((name) => !FIELDS.has(name));
      if (unknown.length > 0) return refuse(400, `Unknown fields: ${unknown.join(", ")}`);
      const text = "text" in payload ? payload.text : undefined;
      if (typeof text !== "string" || text.trim() === "") return refuse(400, "No text specified.");
      for (let at = 0; at < text.length; at += POST_MAX) posts.push(text.slice(at, at + POST_MAX));
      return new Response("ok", { headers: { "content-type": "text/plain" } });
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    posts,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
