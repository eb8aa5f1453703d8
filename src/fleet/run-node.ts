import type { Config } from "../config";
import type { RunningServer } from "../server";
import { explainSuperseded, startPrimary } from "./primary";

interface NodeOptions {
  /** Shows how the server is reached. */
  announce(server: RunningServer): void;
  /** Shows the URL of a replica. */
  announceReplica(url: string): void;
  /** Resolves when the process is to end. */
  stopRequested: Promise<void>;
  /** True if the node starts as a replica. */
  isReplica: boolean;
  /** True if a node whose term has ended goes on as a replica. */
  rejoins: boolean;
}

/** Runs a node of a fleet until it is stopped. Throws an OperatorError if it must not go on. */
export async function runNode(config: Config, options: NodeOptions): Promise<void> {
  if (options.isReplica) return runReplica(config, options);
  const primary = await startPrimary(config);
  if ("kept" in primary) {
    if (!options.rejoins) throw explainSuperseded(primary);
    return runReplica(config, options);
  }
  options.announce(primary.server);
  let failure: unknown;
  const ended = primary.ended.then(
    () => true,
    (error: unknown) => {
      failure = error;
      return false;
    },
  );
  const hasEnded = await Promise.race([ended, options.stopRequested.then(() => false)]);
  await primary.stop();
  if (failure !== undefined) throw failure;
  // The start finds the later term and sets the database aside.
  if (hasEnded) await runNode(config, options);
}

/** Runs a replica until the process is to end. */
async function runReplica(config: Config, options: NodeOptions): Promise<void> {
  const { startReplica } = await import("./replica");
  const replica = await startReplica(config);
  options.announceReplica(replica.url);
  await options.stopRequested;
  await replica.stop();
}
