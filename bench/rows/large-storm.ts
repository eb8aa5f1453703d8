import { type Figure, percentile } from "../support/figure";
import { createStormSite, type Inbox, untilQuiet } from "../support/storm-site";
import type { Workspace } from "../support/workspace";

const MONITORS = 200;
const ENDPOINTS = 20;
const ROUNDS = 3;
const WITHIN_MS = 35_000;
const MESSAGES_REACH = 3;
const P99_REACH_MS = 100;
/** More than the default gathering time, so that each phase begins with a message that is sent at once. */
const QUIET_MS = 32_000;

/**
 * Measures the chat messages of an outage of 200 monitors to each of twenty endpoints, and the time from the first
 * event to the first message.
 */
export async function measureLargeStorm(workspace: Workspace): Promise<Figure[]> {
  await using site = await createStormSite(workspace);
  const program = await site.endpoint({ format: "standard" });
  const chats: Inbox[] = [];
  for (let n = 0; n < ENDPOINTS; n++) chats.push(await site.endpoint({ format: "slack" }));
  await site.watch({ count: MONITORS, componentIds: site.componentIds.slice(0, 2) });
  let most = 0;
  const latencies: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const state of ["down", "up"] as const) {
      const startedAt = await site.turn(state);
      await Bun.sleep(WITHIN_MS);
      const total = () => chats.reduce((sum, { messages }) => sum + messages.length, 0);
      await untilQuiet(total, QUIET_MS);
      const firstEventAt = Math.min(
        ...since(program, startedAt).map(({ body }) => Date.parse(timestampOf(body))),
      );
      for (const chat of chats) {
        const own = since(chat, startedAt);
        const [first] = own;
        if (!first) throw new Error("a chat got no message");
        latencies.push(first.at - firstEventAt);
        if (state === "up") continue;
        most = Math.max(most, own.filter(({ at }) => at <= first.at + WITHIN_MS).length);
      }
    }
  }
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)];
  return [
    {
      what: `${MONITORS} monitors fail at once: most chat messages within ${WITHIN_MS / 1_000} s, ${ENDPOINTS} endpoints`,
      target: String(MESSAGES_REACH),
      measured: String(most),
      isReached: most <= MESSAGES_REACH,
      numbers: { messages: most },
    },
    {
      what: "from the first event of such an outage or recovery to the first chat message",
      target: `p99 ${P99_REACH_MS} ms`,
      measured: `p50 ${p50} ms, p99 ${p99} ms (${latencies.length} messages)`,
      isReached: p99 <= P99_REACH_MS,
      numbers: { "p50 in ms": p50, "p99 in ms": p99 },
    },
  ];
}

function since({ messages }: Inbox, time: number) {
  return messages.filter(({ at }) => at >= time);
}

function timestampOf(body: string): string {
  return (JSON.parse(body) as { timestamp: string }).timestamp;
}
