import { withDemoStrip } from "../ui/demo-strip";

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
