import type { Config } from "../config";
import type { RunningServer } from "../server";
import { explainSuperseded, startPrimary } from "./primary";

interface NodeOptions {
  /** Shows how the server is reached. */
  announce(server: RunningServer): void;
  /** Resolves when the process is to end. */
  stopRequested: Promise<void>;
  /** True if a node whose term has ended goes on as a replica. */
  rejoins: boolean;
}

/** Runs a node of a fleet until it is stopped. Throws an OperatorError if it must not go on. */
export async function runNode(config: Config, options: NodeOptions): Promise<void> {
  const primary = await startPrimary(config);
  if ("kept" in primary) throw explainSuperseded(primary);
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
