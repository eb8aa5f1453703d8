import { type Config, loadConfig } from "../../../src/config";
import { createLimiter } from "../../../src/features/limits";
import { openValkey, type Valkey } from "../../../src/fleet/valkey/client";
import { shareLimits, type SharedLimiter } from "../../../src/fleet/valkey/shared-limiter";
import { type Clock, systemClock } from "../../../src/kernel/clock";
import { FLEET_SECRET } from "./nodes";
import { createTestLog, type LogLine } from "../log";

/** Returns the configuration of a node with a Valkey. */
export function valkeyConfig(url: string, env: Record<string, string> = {}): Config {
  const loaded = loadConfig(
    {},
    {
      ALLCLEAR_FLEET_STORE: "file:///tmp/unused",
      ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
      ALLCLEAR_VALKEY_URL: url,
      ...env,
    },
  );
  if ("problems" in loaded) throw new Error(loaded.problems.join(" "));
  return loaded.config;
}

export interface LimitingNode extends AsyncDisposable {
  limiter: SharedLimiter;
  valkey: Valkey;
  /** Calls that were sent to Valkey. */
  calls(): number;
  logged: readonly LogLine[];
}

/** Connects the limits of a node to a Valkey on the given port, which `nodes` nodes share. */
export async function startLimitingNode(
  url: string,
  nodes: number,
  { clock = systemClock(), env }: { clock?: Clock; env?: Record<string, string> } = {},
): Promise<LimitingNode> {
  const config = valkeyConfig(url, env);
  const { log, lines } = createTestLog("info");
  const opened = await openValkey({ config, clock, log });
  let calls = 0;
  const valkey: Valkey = {
    ...opened,
    run: (...given) => {
      calls += 1;
      return opened.run(...given);
    },
  };
  const local = createLimiter({ clock, config });
  const limiter = shareLimits(local, { config, clock, valkey, nodes: () => nodes });
  return {
    limiter,
    valkey,
    calls: () => calls,
    logged: lines,
    async [Symbol.asyncDispose]() {
      await limiter.stop();
      valkey.stop();
    },
  };
}
