import { LRUCache } from "lru-cache";
import type { AppContext } from "../../context";
import { MINUTE_MS } from "../../kernel/time";

/** What was typed into a form and is shown on no page again. */
export interface Secrets {
  /** Values of headers by their names, as they were typed. */
  headers: Readonly<Record<string, string>>;
  /** Empty for none. */
  body: string;
}

const NO_SECRETS: Secrets = { headers: {}, body: "" };

/**
 * Holds secrets while their form comes back: with what is wrong, with what a check found. In memory, for
 * half an hour, for the session that typed them.
 */
export interface TypedSecrets {
  /** `draft` names one filling in of a form. */
  hold(sessionId: number, draft: string, secrets: Secrets): void;
  find(sessionId: number, draft: string): Secrets;
  forget(sessionId: number, draft: string): void;
}

const KEPT_MS = 30 * MINUTE_MS;
/** A body has up to 64,000 characters. */
const DRAFTS_MAX = 100;

export function createTypedSecrets({ clock }: Pick<AppContext, "clock">): TypedSecrets {
  const held = new LRUCache<string, { secrets: Secrets; until: number }>({ max: DRAFTS_MAX });
  const keyOf = (sessionId: number, draft: string) => `${sessionId} ${draft}`;
  return {
    hold(sessionId, draft, secrets) {
      const isEmpty = secrets.body === "" && Object.keys(secrets.headers).length === 0;
      if (isEmpty) held.delete(keyOf(sessionId, draft));
      else held.set(keyOf(sessionId, draft), { secrets, until: clock.monotonic() + KEPT_MS });
    },
    find(sessionId, draft) {
      const found = held.get(keyOf(sessionId, draft));
      return found && clock.monotonic() < found.until ? found.secrets : NO_SECRETS;
    },
    forget: (sessionId, draft) => void held.delete(keyOf(sessionId, draft)),
  };
}
