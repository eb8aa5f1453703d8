import { LRUCache } from "lru-cache";
import type { ComponentChildren } from "preact";
import type { Tone } from "../../base/status";
import { seeOther } from "../../http/answers";

/** Confirmation of the last action, shown once at the top of the next screen. */
export interface FlashMessage {
  tone: Tone;
  text: string;
  /** Link after the message. */
  link?: { href: string; label: string } | undefined;
  /** Content below the message. */
  details?: ComponentChildren;
}

/** Pending messages by session, in memory only. A restart loses the message, not the change. */
export interface Flashes {
  put(sessionId: number, message: FlashMessage): void;
  /** Returns and removes the pending message, if any. */
  take(sessionId: number): FlashMessage | undefined;
  /**
   * Redirects to a screen after a form succeeded, with a confirmation. Without a text the
   * confirmation says that nothing changed.
   */
  redirect(
    sessionId: number,
    path: string,
    text: string | undefined,
    more?: Partial<Pick<FlashMessage, "tone" | "link">>,
  ): Response;
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
    redirect(sessionId, path, text, more) {
      waiting.set(
        sessionId,
        text === undefined
          ? { tone: "maint", text: "Nothing was changed." }
          : { tone: "ok", text, ...more },
      );
      return seeOther(path);
    },
  };
}
