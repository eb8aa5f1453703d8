import { LRUCache } from "lru-cache";

/** A sentence about what was just done, shown once at the top of the next screen. */
interface FlashMessage {
  tone: "success" | "info" | "warning" | "danger";
  text: string;
}

/** Kept in memory, by session: what is lost by a restart is the sentence, not what it tells of. */
export interface Flashes {
  put(sessionId: number, message: FlashMessage): void;
  /** The message that waits, if one does. It is gone then. */
  take(sessionId: number): FlashMessage | undefined;
}

const WAITING_MAX = 1_000;

export function createFlashes(): Flashes {
  const waiting = new LRUCache<number, FlashMessage>({ max: WAITING_MAX });
  return {
    put: (sessionId, message) => void waiting.set(sessionId, message),
    take(sessionId) {
      const message = waiting.get(sessionId);
      waiting.delete(sessionId);
      return message;
    },
  };
}
