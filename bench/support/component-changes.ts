import { type Connection, requestText } from "./connection";

const STATUSES = ["major_outage", "operational"] as const;

/**
 * Changes another component at each call, through the API: all of them to one status, then all of them
 * to the other. Throws when one is refused.
 */
export function changesOf(
  connection: Connection,
  url: string,
  headers: Record<string, string>,
  componentIds: readonly string[],
): () => Promise<void> {
  let changes = 0;
  return async () => {
    const id = componentIds[changes % componentIds.length] ?? "";
    const status = STATUSES[Math.floor(changes / componentIds.length) % STATUSES.length];
    changes += 1;
    const path = `/api/v1/components/${id}`;
    const answer = await connection.send(requestText(url, path, { headers, patch: { status } }));
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  };
}
