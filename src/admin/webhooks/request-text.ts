import type { SentRequest, TryRow } from "../../features/webhooks";
import { SECOND_MS } from "../../kernel/time";

/** Returns a request as readable text: request line, headers and formatted body. */
export function requestText(
  { url, headers, body }: SentRequest,
  shown: TryRow | undefined,
): string {
  const lines = Object.entries({
    ...headers,
    ...(shown ? { "webhook-timestamp": String(Math.floor(shown.at / SECOND_MS)) } : {}),
    "webhook-signature": "v1,…",
  }).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${url}`, ...lines, "", laidOut(body)].join("\n");
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
