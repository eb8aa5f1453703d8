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
      const { pathname, search } = new URL(request.url);
      requests.push(`${request.method} ${pathname}${search}`);
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

/** A container of the list of a Docker host. */
export interface ListedContainer {
  name: string;
  labels: Record<string, string>;
  state?: string;
  /** Unix seconds. */
  created?: number;
}

/** Stand-in for a Docker host with containers that a test adds, stops and removes. */
interface LabelledDocker extends TestDocker {
  containers: ListedContainer[];
  /** Answer in place of the list; undefined for the list. */
  answer: Response | undefined;
}

/** Container without labels, such as a proxy, so that a host without labelled ones does not list nothing. */
const OTHER: ListedContainer = { name: "proxy", labels: {} };

/** Starts a Docker host with labelled containers, and another one. */
export function startLabelledDocker(...containers: ListedContainer[]): LabelledDocker {
  const docker: Pick<LabelledDocker, "containers" | "answer"> = { containers, answer: undefined };
  const server = startDocker(
    () =>
      docker.answer?.clone() ??
      Response.json(
        [OTHER, ...docker.containers].map(
          ({ name, labels, state = "running", created = 1_700_000_000 }) => ({
            Id: Bun.SHA256.hash(name, "hex"),
            Names: [`/${name}`],
            Image: "app:latest",
            Created: created,
            State: state,
            Labels: { "org.opencontainers.image.title": "app", ...labels },
          }),
        ),
      ),
  );
  return Object.assign(docker, server);
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
