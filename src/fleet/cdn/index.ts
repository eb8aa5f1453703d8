/** Parts of the CDN mode that work without requests: purging after changes, and the alarm of untrusted peers. */
import type { Ctx } from "../../context";
import type { Egress } from "../../egress/egress";
import type { Alarms } from "../../features/alarms/alarms";
import type { CdnState } from "../../features/alarms/fleet";
import type { ClientAddresses } from "../../http/client-address";
import { createPurgeRequests } from "./purge-request";
import { type PurgerDependencies, startPurger } from "./purger";
import { watchUntrustedPeers } from "./untrusted-peers";

export interface RunningCdn {
  state(): CdnState;
  stop(): Promise<void>;
}

interface CdnDependencies extends Pick<PurgerDependencies, "whenApplied"> {
  alarms: Alarms;
  egress: Egress;
  addresses: Pick<ClientAddresses, "newestUntrusted">;
}

/** Starts the CDN mode that `--cdn` sets. Without a purge address nothing is purged. */
export function startCdn(ctx: Ctx, deps: CdnDependencies): RunningCdn {
  const { alarms, egress, addresses, whenApplied } = deps;
  const { cdn: seconds = 0, purgeUrl, purgeHeader } = ctx.config;
  const watch = watchUntrustedPeers(ctx.clock, addresses, alarms);
  const purger =
    purgeUrl === undefined
      ? undefined
      : startPurger(ctx, {
          alarms,
          send: createPurgeRequests(ctx.clock, egress, { url: purgeUrl, header: purgeHeader }),
          ...(whenApplied && { whenApplied }),
        });
  return {
    state: () => ({
      seconds,
      ...(purgeUrl !== undefined && { purgeHost: new URL(purgeUrl).host }),
      ...purger?.state(),
    }),
    async stop() {
      watch.cancel();
      await purger?.stop();
    },
  };
}
