import { optionNames } from "../base/config/options";
import { describeDuration } from "../base/time";
import { type RunningServer, startServer } from "../server";
import { PROGRAM, VERSION } from "../version";
import { type Command, type ExitCode, type Invocation, type Output, UsageError } from "./command";
import { untilSignal } from "./process";

export const serveCommand: Command = {
  name: "serve",
  summary: "Serve status pages, the dashboard and the API.",
  options: optionNames("serve"),
  flags: [
    {
      name: "rejoin",
      help: "With --fleet-store: set the database aside and go on as a replica if another node has become the primary.",
    },
    {
      name: "replica",
      help: "Serve a copy of another server's database, which follows the log in --fleet-store.",
    },
    {
      name: "eligible",
      help: "With --replica or --rejoin: as a replica, this node may become the primary. Give it all settings of a primary.",
    },
  ],
  async run(invocation) {
    const { first, again } = untilSignal();
    // The process ends with the command: a second signal waits for nothing.
    return Promise.race([serve(invocation, first), again.then(() => 1 as const)]);
  },
};

async function serve(
  { config, isSet, output }: Invocation,
  stopRequested: Promise<void>,
): Promise<ExitCode> {
  const announce = (server: RunningServer) => announceServer(server, output);
  if (config.fleetStore || isSet("replica")) {
    const { runNode } = await import("../fleet/run-node");
    await runNode(config, {
      announce,
      announceReplica: (url) =>
        output.err(`Allclear ${VERSION} is ready as a replica. Open ${url}`),
      stopRequested,
      isReplica: isSet("replica"),
      isEligible: isSet("eligible"),
      rejoins: isSet("rejoin"),
    });
    return 0;
  }
  const other = ["eligible", "rejoin"].find(isSet);
  if (other !== undefined) throw new UsageError([`--fleet-store is required with --${other}.`]);
  const server = await startServer(config);
  announce(server);
  await stopRequested;
  await server.drain();
  await server.stop();
  return 0;
}

function announceServer(server: RunningServer, output: Output): void {
  output.err(`Allclear ${VERSION} is ready. Open ${server.url}`);
  const setUpLabel = `Set up (link valid ${describeDuration(server.linkMs)})`;
  void server.laterSetUpUrl?.then((url) => {
    if (url !== undefined) output.err(`  ${setUpLabel}  ${url}`);
  });
  const next = [
    server.setUpUrl === undefined
      ? ["Dashboard", `${server.url}/admin`]
      : [setUpLabel, server.setUpUrl],
    ["API documentation", `${server.url}/docs`],
    ["Create an API key", `${PROGRAM} key create --name first --scope read:status`],
  ];
  const width = Math.max(...next.map(([label = ""]) => label.length));
  for (const [label = "", text] of next) output.err(`  ${label.padEnd(width)}  ${text}`);
}
