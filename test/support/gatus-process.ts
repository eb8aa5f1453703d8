import { freePort } from "./free-port";

/** A running Gatus, which is killed with the test. */
export interface GatusProcess extends AsyncDisposable {
  url: string;
  /** Ends it as an operator does, which takes ten seconds. */
  stop(): Promise<void>;
}

/** Starts the Gatus at a path with a configuration, which may refer to these variables and to GATUS_PORT. */
export async function startGatus(
  binary: string,
  config: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<GatusProcess> {
  const port = await freePort();
  const child = Bun.spawn([binary], {
    env: {
      ...variables,
      GATUS_CONFIG_PATH: config,
      GATUS_PORT: String(port),
      GATUS_LOG_LEVEL: "WARN",
    },
    stdout: "ignore",
    stderr: "pipe",
  });
  const url = `http://127.0.0.1:${port}`;
  const end = async (signal: "SIGINT" | "SIGKILL") => {
    child.kill(signal);
    await child.exited;
  };
  while (!(await isUp(url))) {
    if (child.exitCode !== null) {
      throw new Error(`Gatus ended: ${await new Response(child.stderr).text()}`);
    }
    await Bun.sleep(50);
  }
  return { url, stop: () => end("SIGINT"), [Symbol.asyncDispose]: () => end("SIGKILL") };
}

async function isUp(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
