import { renderToString } from "preact-render-to-string";
import { sha256Base64 } from "../base/hash";
import strip from "../ui/css/demo-strip.css" with { type: "text" };
import type { HtmlDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";

const POLICY = "content-security-policy";

/** Adds the strip of the demo to an answer if it is an HTML document, which is then not compressed. */
export async function markPage(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  const { headers, status } = response;
  if (!headers.get("content-type")?.startsWith("text/html") || !response.body) return response;
  const sent = await response.bytes();
  const bytes = headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(sent) : sent;
  const html = new TextDecoder().decode(bytes);
  const marked = withDemoStrip({ html, policy: headers.get(POLICY) ?? "" });
  const own = new Headers(headers);
  own.delete("content-encoding");
  own.delete("content-length");
  if (marked.policy !== "") own.set(POLICY, marked.policy);
  return new Response(marked.html, { status, headers: own });
}

const BEGINNING = /<body[^>]*>/;
const CSS = minifyCss(strip);
const STYLE = `<style>${CSS}</style>`;
const SOURCE = `style-src 'sha256-${sha256Base64(CSS)}' `;
const STRIP = renderToString(<DemoStrip />);

/** Adds a strip that says "Demo" to the top of a document. */
function withDemoStrip({ html, policy }: HtmlDocument): HtmlDocument {
  return {
    html: html
      .replace("</head>", () => `${STYLE}</head>`)
      .replace(BEGINNING, (beginning) => beginning + STRIP),
    // A hash would void 'unsafe-inline'.
    policy: policy.includes("'unsafe-inline'") ? policy : policy.replace("style-src ", SOURCE),
  };
}

function DemoStrip() {
  return (
    <aside class="demo-strip" aria-label="Demo">
      <b>Demo.</b> Checks and their results are simulated.
    </aside>
  );
}
