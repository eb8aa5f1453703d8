import type { RedisClient } from "bun";
import type { Clock, Timer } from "../../base/clock";
import { SECOND_MS } from "../../base/time";
import type { Valkey } from "./client";

/** Pause before a lost subscription is renewed. */
const AGAIN_MS = SECOND_MS;

/** Messages of other nodes. One that is sent while the connection is lost does not arrive. */
export interface Messages {
  /** True while messages arrive. */
  isListening(): boolean;
  stop(): void;
}

/** Listens to channels on a connection of its own, and connects again when it is lost. */
export function listenToMessages(
  valkey: Pick<Valkey, "connect" | "changed" | "isAvailable">,
  clock: Clock,
  handlers: Readonly<Record<string, (message: string) => void>>,
): Messages {
  let client: RedisClient | undefined;
  let isConnecting = false;
  let isStopped = false;
  let again: Timer | undefined;

  async function connect(): Promise<void> {
    if (client || isConnecting || isStopped || !valkey.isAvailable()) return;
    isConnecting = true;
    try {
      const connected = await valkey.connect();
      connected.onclose = () => lose(connected);
      for (const [channel, handle] of Object.entries(handlers)) {
        await connected.subscribe(channel, handle);
      }
      if (isStopped) connected.close();
      else client = connected;
    } catch {
      retry();
    } finally {
      isConnecting = false;
    }
  }

  function lose(lost: RedisClient): void {
    if (lost !== client) return;
    client = undefined;
    lost.onclose = null;
    lost.close();
    retry();
  }

  function retry(): void {
    again?.cancel();
    if (!isStopped) again = clock.after(AGAIN_MS, () => void connect());
  }

  const forget = valkey.changed.on((isAvailable) => {
    if (isAvailable) void connect();
    // A frozen server keeps the connection, and sends nothing.
    else if (client) lose(client);
  });
  void connect();
  return {
    isListening: () => client !== undefined,
    stop() {
      isStopped = true;
      forget();
      again?.cancel();
      const open = client;
      client = undefined;
      open?.close();
    },
  };
}
