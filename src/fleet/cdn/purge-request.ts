import type { Egress } from "../../egress/egress";
import { Fault } from "../../egress/model";
import type { PurgeHeader } from "../../base/config/mirror";
import type { Clock } from "../../base/clock";
import { SECOND_MS } from "../../base/time";

/** Limit for resolving, connecting, sending and reading the response together. */
const TIMEOUT_MS = 10 * SECOND_MS;

/** Failure of a purge. */
export interface PurgeFailure {
  /** A sentence without the address and the credential. */
  error: string;
  /** Wait in ms that the answer asks for. */
  retryAfterMs: number;
}

/** Sends one purge with tags. Returns undefined if it was accepted. Never throws. */
export type SendPurge = (
  tags: readonly string[],
  stopping: AbortSignal,
) => Promise<PurgeFailure | undefined>;

/**
 * Creates the requests to the purge address: tags in `Surrogate-Key` and `Cache-Tag`, and as JSON. Its operator
 * names it, so it may be in a private network, like a monitored service.
 */
export function createPurgeRequests(
  clock: Clock,
  egress: Egress,
  { url, header }: { url: string; header: PurgeHeader | undefined },
): SendPurge {
  return async (tags, stopping) => {
    const deadline = new AbortController();
    const abort = () => deadline.abort();
    const timer = clock.after(TIMEOUT_MS, abort);
    stopping.addEventListener("abort", abort);
    try {
      const answer = await egress.request({
        url: new URL(url),
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "Surrogate-Key": tags.join(" "),
          "Cache-Tag": tags.join(","),
          ...(header && { [header.name]: header.value }),
        },
        body: JSON.stringify({ tags }),
        policy: "monitor",
        proxy: "outbound",
        signal: deadline.signal,
      });
      if (answer instanceof Fault) return { error: answer.message, retryAfterMs: 0 };
      if (answer.status >= 200 && answer.status < 300) return undefined;
      const seconds = Number(answer.headers.get("retry-after"));
      return {
        error: `The purge address answered ${answer.status}.`,
        retryAfterMs: Number.isFinite(seconds) ? seconds * SECOND_MS : 0,
      };
    } finally {
      timer.cancel();
      stopping.removeEventListener("abort", abort);
    }
  };
}
