import { LRUCache } from "lru-cache";
import type { Ctx } from "../../context";
import { MINUTE_MS } from "../../base/time";

/** Typed secrets, which no page shows again. */
export interface Secrets {
  /** Values by typed name, of the record that the type has, such as headers. */
  values: ReadonlyMap<string, string>;
  /** Texts by field of the configuration, such as `password`, or by field and part: `proxy_password`. */
  texts: ReadonlyMap<string, string>;
}

export const NO_SECRETS: Secrets = { values: new Map(), texts: new Map() };

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
/** Drafts held at most, since a text has up to 64,000 characters. */
const DRAFTS_MAX = 100;

export function createTypedSecrets({ clock }: Ctx): TypedSecrets {
  const held = new LRUCache<string, { secrets: Secrets; until: number }>({ max: DRAFTS_MAX });
  const keyOf = (sessionId: number, draft: string) => `${sessionId} ${draft}`;
  return {
    hold(sessionId, draft, secrets) {
      const isEmpty = secrets.texts.size + secrets.values.size === 0;
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

/** Screen data of the secrets of a configuration. */
export interface SecretsContext {
  stored: {
    /** Names in the record whose values are stored, such as those of headers. */
    names: readonly string[];
    /** Fields and parts whose texts are stored, named as in `Secrets`. */
    texts: readonly string[];
  };
  /** Secrets typed since the form was opened, in this submission or an earlier one. */
  secrets: Secrets;
}

/** Placeholder and hint of an input whose secret is set. */
export const KEPT = "Set. Leave empty to keep it";

/** Returns true for the error of a stored secret that would be used in another way than before. */
export function isOfOtherUse(detail: string): boolean {
  return detail.startsWith("is a secret");
}
