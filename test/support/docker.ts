import { join } from "node:path";
import { createTestClock } from "./clock";
import { createTestEgress } from "./egress";
import { probe } from "./probe";
import { temporaryFolder } from "./temporary-folder";

/** State of a container as Docker describes it. */
export type DockerState = Record<string, unknown>;

/** Stand-in for the API of Docker on a socket file. */
interface TestDocker extends Disposable {
  path: string;
  /** Method and path of each request. */
  requests: string[];
}

/** Starts a stand-in that answers for each container by `answer`. */
export function startDocker(answer: (container: string) => Response): TestDocker {
  const folder = temporaryFolder();
  const path = join(folder.path, "docker.sock");
  const requests: string[] = [];
  const server = Bun.serve({
    unix: path,
    fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      return answer(/^\/containers\/([^/]+)\/json$/.exec(pathname)?.[1] ?? "");
    },
  });
  return {
    path,
    requests,
    [Symbol.dispose]() {
      void server.stop(true);
      folder[Symbol.dispose]();
    },
  };
}

/** Checks a container of the host `local`, with these variables of the operator. */
export async function checkContainer(
  env: Record<string, string>,
  config: { host?: string; container?: string } = {},
  signal?: AbortSignal,
) {
  const clock = createTestClock();
  const names = { localhost: [["127.0.0.1"]], "metadata.test": [["169.254.169.254"]] };
  const { egress } = await createTestEgress(names, { clock, env });
  const context = { egress, clock, ...(signal && { signal }) };
  return probe("docker", { host: "local", container: "web", ...config }, { context });
}
