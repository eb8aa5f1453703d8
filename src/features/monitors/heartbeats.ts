import type { AppContext } from "../../context";
import { listMonitorTokens } from "./store";
import { hashHeartbeatToken } from "./token";

/**
 * The tokens of all push monitors in memory, by their hashes: the front door looks here and never in
 * the database. There is no record of unknown tokens.
 */
export interface HeartbeatDirectory {
  /** The id of the monitor that a token belongs to; undefined where it belongs to none. */
  find(token: string): string | undefined;
}

/**
 * Reads the tokens at the first look-up, and again at the first one after a monitor has changed, here or
 * in another process. A change is never missed: while they cannot be read, looking one up throws.
 */
export function createHeartbeatDirectory(
  ctx: Pick<AppContext, "db" | "signals">,
): HeartbeatDirectory {
  let monitorIds: Map<string, string> | undefined;
  const forget = () => {
    monitorIds = undefined;
  };
  ctx.signals.monitorsChanged.on(forget);
  ctx.signals.databaseChangedElsewhere.on(forget);
  return {
    find(token) {
      const hash = hashHeartbeatToken(token);
      if (hash === undefined) return undefined;
      monitorIds ??= new Map(
        listMonitorTokens(ctx.db, {}).map((row) => [row.tokenHash?.toString("hex") ?? "", row.id]),
      );
      return monitorIds.get(hash);
    },
  };
}
