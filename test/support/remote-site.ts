import { createTestClock, type TestClock } from "./clock";
import { commandLine, type CommandLine } from "./command-line";
import { type ServedApp, serveApp } from "./served-app";

/** A listening application with two pages, and commands that are sent to it. */
export interface RemoteSite extends AsyncDisposable, ServedApp {
  clock: TestClock;
  /** Key with every scope that the commands need. */
  key: string;
  /** Runs a command with the server and the key in its environment, unless given otherwise. */
  run: CommandLine;
}

/** Serves the page `shop` with three components, and the page `other` if there are to be several. */
export async function createRemoteSite({ pages = 1 }: { pages?: 1 | 2 } = {}): Promise<RemoteSite> {
  const clock = createTestClock();
  const served = await serveApp({ clock });
  const { app, origin } = served;
  await app.page({ slug: "shop", name: "Shop" }, ["Checkout", "Search", "Mail"]);
  if (pages === 2) await app.page({ slug: "other", name: "Other" }, ["API"]);
  const key = await app.keyWith(
    "read:status",
    "write:incidents",
    "write:components",
    "write:maintenance",
    "manage:monitors",
  );
  // Commands to a server open no data directory.
  const run = commandLine("/nonexistent/data");
  return {
    ...served,
    clock,
    key,
    run: (args, env = {}, input = []) =>
      run(args, { ALLCLEAR_SERVER: origin, ALLCLEAR_KEY: key, ...env }, input),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}
