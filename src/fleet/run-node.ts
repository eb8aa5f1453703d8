import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../base/config/options";
import { OperatorError } from "../db/errors";
import { type DataDirectory, hasInstallation, openDataDirectory } from "../db/data-directory";
import { lockForServer } from "../installation";
import { systemClock } from "../base/clock";
import { systemRandom } from "../base/hash";
import type { RunningServer } from "../server";
import { type ControlAnswer, type ControlCommand, listenForCommands } from "./commands";
import { isStillPrimary, openEligible, roleWithoutDatabase } from "./promotion";
import { openFleetStore } from "./store";
import { findReplicaFile } from "./follow/replica-file";
import type { Lease } from "./leader/lease";
import { fleetFolder, readNode, replicaFolder } from "./node";
import { explainSuperseded, startPrimary } from "./primary/primary";
import { RESTORE_CHECK } from "./commands/restore-check";
import type { UsageBatch } from "./usage";

export interface NodeOptions {
  /** Shows how the server is reached. */
  announce(server: RunningServer): void;
  announceReplica(url: string): void;
  /** Resolves when the process is to end. */
  stopRequested: Promise<void>;
  isReplica: boolean;
  /** True for a replica that may be promoted. */
  isEligible: boolean;
  /** True if a node whose term has ended goes on as a replica. */
  rejoins: boolean;
}

type Role = "primary" | "replica";

/** Runs a node of a fleet, in one role after another, until it is stopped. Throws an OperatorError if it must not go on. */
export async function runNode(config: Config, options: NodeOptions): Promise<void> {
  const directory = openDataDirectory(config.dataDir);
  // Before the role is decided: another process may be changing what the decision rests on.
  const lock = lockForServer(directory);
  let node: ReturnType<typeof createRoles> | undefined;
  try {
    node = createRoles(config, options, directory);
    for (let role: Role | "stop" = await node.firstRole(); role !== "stop";) {
      role = await (role === "primary" ? node.runPrimary() : node.runReplica());
    }
  } finally {
    await node?.stop();
    lock.release();
  }
}

function createRoles(config: Config, options: NodeOptions, directory: DataDirectory) {
  const { isEligible, isReplica, stopRequested } = options;
  const folder = fleetFolder(directory);
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  /** Uses of keys that this node counted as a replica, and stores as the primary. */
  const unsent: UsageBatch[] = [];
  /** True if the first role as a replica ends at once, since its promotion was interrupted. */
  let isInterrupted = false;
  /** Resolves when the next role has begun. */
  let begun = Promise.withResolvers<Role>();
  /** Runs a command in the present role. During the start, commands wait for the first one. */
  let run = async (command: ControlCommand): Promise<ControlAnswer> => {
    await begun.promise;
    return run(command);
  };
  const control = listenForCommands(folder, async (command) => {
    try {
      return await run(command);
    } catch (error) {
      return { isDone: false, text: (error as Error).message };
    }
  });

  function begin(role: Role, runCommand: typeof run): void {
    run = runCommand;
    begun.resolve(role);
    begun = Promise.withResolvers<Role>();
  }

  /** Answers when the next role has begun, which is another one than wanted if the upload failed. */
  async function answerBegun(next: Promise<Role>, wanted: Role): Promise<ControlAnswer> {
    const name = wanted === "primary" ? "the primary" : "a replica";
    if ((await next) === wanted) return { isDone: true, text: `This node is ${name} now.` };
    return { isDone: false, text: `This node is not ${name}: the log says why.` };
  }

  async function firstRole(): Promise<Role> {
    if (!isReplica) return hasInstallation(config.dataDir) ? "primary" : roleOfEmptyDirectory();
    const eligible = isEligible ? openEligible(config, directory) : undefined;
    const place = await eligible?.findPlaceAtStart();
    if (place === "primary") return place;
    isInterrupted = place === "interrupted";
    const node = readNode(directory, systemRandom);
    if (node.term === undefined || !hasInstallation(config.dataDir)) return "replica";
    // The primary itself is no replica, which is refused because of its database.
    if (!isEligible && (await isStillPrimary({ node, store: openStore() }))) return "replica";
    // The database of an earlier term is set aside by the start as a primary.
    return "primary";
  }

  const openStore = () => openFleetStore(config, systemClock());

  function roleOfEmptyDirectory(): Promise<Role> {
    return roleWithoutDatabase({
      node: readNode(directory, systemRandom),
      store: openStore(),
      rejoins: options.rejoins,
      hasCopy: findReplicaFile(replicaFolder(directory)) !== undefined,
    });
  }

  async function runPrimary(): Promise<Role | "stop"> {
    const primary = await startPrimary(config, unsent.splice(0));
    if ("kept" in primary) {
      if (!isReplica && !options.rejoins) throw explainSuperseded(primary);
      return "replica";
    }
    const demotion = Promise.withResolvers<"demote">();
    begin("primary", async (command) => {
      if (command !== "demote") return { isDone: false, text: "This node is the primary." };
      const next = begun.promise;
      demotion.resolve("demote");
      return answerBegun(next, "replica");
    });
    options.announce(primary.server);
    const ended = primary.ended.then(
      () => "ended" as const,
      (error: unknown) => ({ error }),
    );
    const event = await Promise.race([
      ended,
      demotion.promise,
      stopRequested.then(() => "stop" as const),
    ]);
    if (event === "demote") {
      return (await primary.handOver()) ? "replica" : "primary";
    }
    if (event === "stop") await Promise.race([primary.server.drain(), ended]);
    await primary.stop();
    if (typeof event === "object") throw event.error;
    // The next start finds the later term and sets the database aside.
    return event === "ended" ? "primary" : "stop";
  }

  async function runReplica(): Promise<Role | "stop"> {
    const { startReplica } = await import("./replica/serve");
    const replica = await startReplica(config, { isEligible, stopRequested });
    if (!replica) return "stop";
    const promoted = Promise.withResolvers<Lease>();
    const eligible = isEligible ? openEligible(config, directory) : undefined;
    const watch = eligible?.watch(replica, promoted.resolve);
    const nightly = isEligible
      ? (await import("./replica/nightly-restore")).startNightlyRestore(replica)
      : undefined;
    begin("replica", async (command) => {
      if (command === "demote") return { isDone: false, text: "This node is a replica." };
      if (!watch) throw new OperatorError("Start this replica with --eligible to promote it.");
      const next = begun.promise;
      await watch.promote(command === "promote --force");
      return answerBegun(next, "primary");
    });
    options.announceReplica(replica.url);
    if (isInterrupted) {
      isInterrupted = false;
      watch
        ?.promote(true)
        .catch((error: unknown) =>
          replica.log.error({ err: error }, "the interrupted promotion could not be completed"),
        );
    }
    const event = await Promise.race([promoted.promise, stopRequested.then(() => "stop" as const)]);
    nightly?.cancel();
    watch?.stop();
    if (event === "stop") await replica.drain();
    else replica.usage.hold();
    await replica.stop();
    if (event === "stop") return event;
    unsent.push(...replica.usage.takeRest());
    removeCopy(replica.folder);
    await event.stop();
    return "primary";
  }

  return { firstRole, runPrimary, runReplica, stop: () => control.stop() };
}

/** Removes what was needed to follow: the copy is the database now. A nightly restore may still be under way. */
function removeCopy(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(RESTORE_CHECK)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}
