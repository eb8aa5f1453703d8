import { LRUCache } from "lru-cache";
import type { AppContext } from "../../context";
import { MINUTE_MS } from "../../kernel/time";

/** Typed secrets, which no page shows again. */
export interface Secrets {
  /** Header values by typed name. */
  headers: ReadonlyMap<string, string>;
  /** Body; empty for no body. */
  body: string;
}

export const NO_SECRETS: Secrets = { headers: new Map(), body: "" };

/**
 * Holds typed secrets while a form is shown again with errors or a check result. In memory, per
 * session, for half an hour.
 */
interface TypedSecrets {
  /** `draft` identifies one filling in of a form. */
  hold(sessionId: number, draft: string, secrets: Secrets): void;
  find(sessionId: number, draft: string): Secrets;
  forget(sessionId: number, draft: string): void;
}

const HELD_MS = 30 * MINUTE_MS;
/** Drafts held at most, since a body has up to 64,000 characters. */
const DRAFTS_MAX = 100;

export function createTypedSecrets({ clock }: Pick<AppContext, "clock">): TypedSecrets {
  const held = new LRUCache<string, { secrets: Secrets; until: number }>({ max: DRAFTS_MAX });
  const keyOf = (sessionId: number, draft: string) => `${sessionId} ${draft}`;
  return {
    hold(sessionId, draft, secrets) {
      const isEmpty = secrets.body === "" && secrets.headers.size === 0;
      if (isEmpty) held.delete(keyOf(sessionId, draft));
      else held.set(keyOf(sessionId, draft), { secrets, until: clock.monotonic() + HELD_MS });
    },
    find(sessionId, draft) {
      const entry = held.get(keyOf(sessionId, draft));
      return entry && clock.monotonic() < entry.until ? entry.secrets : NO_SECRETS;
    },
    forget: (sessionId, draft) => void held.delete(keyOf(sessionId, draft)),
  };
}
