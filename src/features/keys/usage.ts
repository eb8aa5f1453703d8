import type { AppContext } from "../../context";
import type { Timer } from "../../kernel/clock";
import { HOUR_MS, SECOND_MS } from "../../kernel/time";
import type { Credential } from "./directory";
import type { LastUse } from "./model";
import { addToHour, touchKeyValue } from "./store";

const FLUSH_INTERVAL_MS = 5 * SECOND_MS;

interface HourCounts {
  keyId: string;
  hour: number;
  ok: number;
  clientError: number;
  limited: number;
}

/**
 * Last Used and the counts per key and hour, gathered in memory and written in batches: at most one
 * write every five seconds, and one at shutdown, never one a request.
 */
export interface KeyUsage {
  /** Counts one answer to a live key. 5xx answers are the server's doing and count as nothing. */
  record(credential: Credential, status: number, ip: string): void;
  /** The last use of a key's value that is not written yet. */
  pendingLastUse(hash: string): LastUse | undefined;
  /** Writes what was gathered. Keeps it for the next time when the database refuses. */
  flush(): Promise<void>;
  stop(): void;
}

export function createKeyUsage(ctx: Pick<AppContext, "clock" | "db" | "log">): KeyUsage {
  let lastUses = new Map<string, LastUse>();
  let hours = new Map<string, HourCounts>();

  function countsFor(keyId: string, hour: number): HourCounts {
    const name = `${keyId}/${hour}`;
    let counts = hours.get(name);
    if (!counts) {
      counts = { keyId, hour, ok: 0, clientError: 0, limited: 0 };
      hours.set(name, counts);
    }
    return counts;
  }

  async function flush(): Promise<void> {
    if (lastUses.size === 0 && hours.size === 0) return;
    const [writtenUses, writtenHours] = [lastUses, hours];
    lastUses = new Map();
    hours = new Map();
    try {
      await ctx.db.write((tx) => {
        for (const [hash, use] of writtenUses) {
          touchKeyValue(tx, { hash: Buffer.from(hash, "hex"), at: use.at, ip: use.ip });
        }
        for (const counts of writtenHours.values()) addToHour(tx, { ...counts });
      });
    } catch (error) {
      ctx.log.warn(
        { err: error },
        "the use of keys could not be written; it is kept for the next time",
      );
      for (const [hash, use] of writtenUses) if (!lastUses.has(hash)) lastUses.set(hash, use);
      for (const written of writtenHours.values()) {
        const counts = countsFor(written.keyId, written.hour);
        counts.ok += written.ok;
        counts.clientError += written.clientError;
        counts.limited += written.limited;
      }
    }
  }

  const timer: Timer = ctx.clock.every(FLUSH_INTERVAL_MS, () => void flush());

  return {
    record(credential, status, ip) {
      const now = ctx.clock.now();
      const use = lastUses.get(credential.hash);
      if (use) {
        use.at = now;
        use.ip = ip;
      } else {
        lastUses.set(credential.hash, { at: now, ip });
      }
      const counts = countsFor(credential.key.id, now - (now % HOUR_MS));
      if (status < 400) counts.ok += 1;
      else if (status === 429) counts.limited += 1;
      else if (status < 500) counts.clientError += 1;
    },
    pendingLastUse: (hash) => lastUses.get(hash),
    flush,
    stop: () => timer.cancel(),
  };
}
