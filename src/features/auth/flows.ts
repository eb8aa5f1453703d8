/*
 * Sign-ins at the provider that are under way. The browser carries their secrets in a sealed cookie, so that beginning one
 * writes nothing. They end with this process, as does its memory of those that were used.
 */
import { LRUCache } from "lru-cache";
import { lazy } from "../../base/lazy";
import { createSeal } from "../../base/seal";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Claims, Failure, FlowSecrets, Provider } from "./provider";

/** Time from the beginning of a sign-in to its end. */
export const FLOW_MS = 10 * MINUTE_MS;

/** Finished sign-ins that are remembered, so that none is finished twice. */
const FINISHED_MAX = 10_000;

/** Trials whose claims are kept in memory. */
const TRIALS_MAX = 10;

/** Limit of the path that a sign-in returns to, since cookies have at most 4,096 bytes. */
const NEXT_MAX = 1_000;

/** Reason for which someone is sent to the provider. */
export type Purpose =
  /** To sign in, and open a path; with the token of an invitation, to accept that. */
  | { kind: "sign-in"; next: string; invitation?: string }
  /** To connect the identity with the user of a session. */
  | { kind: "connect"; sessionId: number }
  /** To see what the provider says, for an owner's session. No session is started. */
  | { kind: "try"; sessionId: number };

interface Flow extends FlowSecrets {
  purpose: Purpose;
  /** Unix ms; the flow is refused from this time on. */
  endsAt: number;
}

/** Content of a sealed text for a form. That of a cookie has no `value`. */
interface SealedForForm {
  value?: object;
  /** Unix ms; the form is refused from this time on. */
  endsAt?: number;
}

/** A failure, with the purpose if the browser has begun the sign-in itself. */
export type FlowFailure = Failure & { purpose?: Purpose };

interface Flows {
  /** Returns the address at the provider, and the sealed text for the cookie. */
  begin(purpose: Purpose): Promise<{ url: string; sealed: string } | Failure>;
  /** Completes a sign-in with the query of the callback and the texts of the browser's cookies. */
  finish(
    query: string,
    sealed: readonly string[],
  ): Promise<{ purpose: Purpose; claims: Claims } | FlowFailure>;
  /** Seals a value for a form that is sent within 10 minutes. */
  sealForForm(value: object): string;
  /** Returns the value that was sealed for a form; undefined for any other text, and later. */
  openFromForm(sealed: string): object | undefined;
  /** Results of the last trials, by the ids of the sessions that began them. */
  trials: Pick<LRUCache<number, Claims | Failure>, "get" | "set">;
}

/** Provider of the options, and the sign-ins with it that are under way. */
export interface Oidc {
  provider: Provider;
  flows: Flows;
}

export function createFlows(ctx: Ctx, provider: Provider): Flows {
  const { clock } = ctx;
  const seal = createSeal(ctx.random);
  const finished = lazy(() => new LRUCache<string, true>({ max: FINISHED_MAX }));

  /** Returns the flow with a state among sealed texts; undefined if there is none. */
  function findFlow(state: string, sealed: readonly string[]): Flow | undefined {
    for (const text of sealed) {
      const opened = seal.open(text);
      const flow = opened === undefined ? undefined : (JSON.parse(opened) as Flow);
      if (flow?.state === state) return flow;
    }
    return undefined;
  }

  return {
    async begin(purpose) {
      const begun = await provider.begin();
      if ("failure" in begun) return begun;
      const { url, secrets } = begun;
      const short =
        purpose.kind === "sign-in" && purpose.next.length > NEXT_MAX
          ? { ...purpose, next: "" }
          : purpose;
      const flow: Flow = { ...secrets, purpose: short, endsAt: clock.now() + FLOW_MS };
      return { url, sealed: seal.seal(JSON.stringify(flow)) };
    },

    async finish(query, sealed) {
      const refused = (failure: string) => ({ failure, isTrouble: false });
      const state = new URLSearchParams(query).get("state") ?? "";
      const flow = findFlow(state, sealed);
      if (!flow) {
        return refused(
          "The browser has begun no sign-in with this state. Its cookie is missing, it is another browser, or the server was restarted.",
        );
      }
      const { purpose, endsAt, ...secrets } = flow;
      // Noted before anything is awaited, so that of several equal requests only the first goes on.
      const isRepeated = finished().has(state);
      finished().set(state, true);
      if (isRepeated) return { ...refused("The sign-in was finished before."), purpose };
      if (clock.now() >= endsAt) {
        return { ...refused("The sign-in took longer than 10 minutes."), purpose };
      }
      const claims = await provider.finish(query, secrets);
      return "failure" in claims ? { ...claims, purpose } : { purpose, claims };
    },

    sealForForm: (value) => seal.seal(JSON.stringify({ value, endsAt: clock.now() + FLOW_MS })),

    openFromForm(sealed) {
      const opened = seal.open(sealed);
      const { value, endsAt = 0 }: SealedForForm = opened === undefined ? {} : JSON.parse(opened);
      return clock.now() < endsAt ? value : undefined;
    },

    trials: new LRUCache<number, Claims | Failure>({ max: TRIALS_MAX }),
  };
}
