import { optionNames } from "../config";
import { describeDuration } from "../kernel/time";
import { startServer } from "../server";
import { PROGRAM, VERSION } from "../version";
import type { Command } from "./command";
import { untilSignal } from "./until-signal";

export const serveCommand: Command = {
  name: "serve",
  summary: "Serve status pages, the dashboard and the API.",
  options: optionNames("serve"),
  async run({ config, output }) {
    const stopRequested = untilSignal();
    const server = await startServer(config);
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
    await stopRequested;
    await server.stop();
    return 0;
  },
};
