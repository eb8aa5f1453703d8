import type { Message } from "../format";

/** A message whose body is JSON. */
export function jsonMessage(
  body: unknown,
  more: { url?: string; headers?: Readonly<Record<string, string>> } = {},
): Message {
  const { url, headers } = more;
  return {
    ...(url === undefined ? {} : { url }),
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}
