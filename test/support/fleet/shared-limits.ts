import type { Config } from "../../../src/base/config/options";
import { loadConfig } from "../../../src/base/config/load";
import { createLimiter } from "../../../src/features/limits/limiter";
import { openValkey, script, type Valkey } from "../../../src/fleet/valkey/client";
import { type SharedLimiter, shareLimits } from "../../../src/fleet/valkey/shared-buckets";
import { type Clock, systemClock } from "../../../src/base/clock";
import { systemRandom } from "../../../src/base/hash";
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

/** Key of the time that scripts read instead of the server's clock: seconds, and microseconds of the second. */
const TIME_KEY = "test:time";

/** Lets a script read the time from a key, and keeps what it writes until the end of the test. */
function withOwnTime({ source }: ReturnType<typeof script>) {
  const parts = { "redis.call('TIME')": `redis.call('LRANGE', '${TIME_KEY}', 0, 1)` };
  const changed = Object.entries({ ...parts, "'PX', math.ceil(refill)": "'PX', 3600000" }).reduce(
    (text, [before, after]) => {
      if (!text.includes(before)) throw new Error(`the script has no ${before}`);
      return text.replace(before, after);
    },
    source,
  );
  return script(changed);
}

/** Sets the time that the scripts of `startLimitingNode` with `ownTime` read, in monotonic ms. */
export async function setServerTime({ valkey }: LimitingNode, ms: number): Promise<void> {
  const micros = Math.round(ms * 1_000);
  const time = [Math.floor(micros / 1_000_000), micros % 1_000_000].map(String);
  await valkey.send("DEL", [TIME_KEY]);
  await valkey.send("RPUSH", [TIME_KEY, ...time]);
}

export interface LimitingNode extends AsyncDisposable {
  limiter: SharedLimiter;
  valkey: Valkey;
  /** Calls that were sent to Valkey. */
  calls(): number;
  logged: readonly LogLine[];
}

/**
 * Connects the limits of a node to a Valkey on the given port, which `nodes` nodes share. With `ownTime` the time of the
 * server is the one that the test sets.
 */
export async function startLimitingNode(
  url: string,
  nodes: number,
  {
    clock = systemClock(),
    env,
    ownTime = false,
  }: { clock?: Clock; env?: Record<string, string>; ownTime?: boolean } = {},
): Promise<LimitingNode> {
  const config = valkeyConfig(url, env);
  const { log, lines } = createTestLog("info");
  // Without deadlines, since the test moves its clock while calls are under way.
  const patient = { ...clock, after: () => ({ cancel: () => {} }) };
  const opened = await openValkey({ config, clock: ownTime ? patient : clock, log });
  let calls = 0;
  const valkey: Valkey = {
    ...opened,
    run: (called, ...given) => {
      calls += 1;
      return opened.run(ownTime ? withOwnTime(called) : called, ...given);
    },
  };
  const local = createLimiter({ clock, config, random: systemRandom });
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
