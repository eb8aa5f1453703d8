/**
 * The server that Allclear is measured against: a bare `Bun.serve` that sends one answer from a
 * constant and does no work. `bare FILE plain|instance`: the file holds the answer's headers and body;
 * the headers are given to `Response` as a plain object, the usual way, or as one `Headers` instance.
 */
export interface ConstantAnswer {
  headers: Record<string, string>;
  /** In base64: it may be compressed. */
  body: string;
}

const [file = "", form = "plain"] = process.argv.slice(2);
const answer: ConstantAnswer = await Bun.file(file).json();
const body = Uint8Array.fromBase64(answer.body);
const headers = form === "instance" ? new Headers(answer.headers) : answer.headers;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  development: false,
  fetch: () => new Response(body, { headers }),
});

process.stderr.write(`Open http://127.0.0.1:${server.port}\n`);
