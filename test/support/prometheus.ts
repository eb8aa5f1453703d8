import { describe } from "bun:test";
import { join } from "node:path";
import { freePort } from "./free-port";
import { temporaryFolder } from "./temporary-folder";
import { holds } from "./binary";

/** Names of the programs, of Debian and as their authors call them. */
const PROGRAMS = {
  prometheus: ["prometheus"],
  alertmanager: ["prometheus-alertmanager", "alertmanager"],
} as const;

const programOf = (name: keyof typeof PROGRAMS) =>
  PROGRAMS[name].map((each) => Bun.which(each)).find((each) => each !== null);

/** Describes tests with Prometheus and Alertmanager. Without them they are skipped, loudly; in CI that is a failure. */
export function describeWithAlertmanager(name: string, body: () => void): void {
  const missing = (["prometheus", "alertmanager"] as const).filter((each) => !programOf(each));
  if (missing.length === 0) {
    describe(name, body);
    return;
  }
  const reason = `This needs ${missing.join(" and ")}.`;
  if (process.env["CI"]) throw new Error(reason);
  console.warn(`SKIPPED: “${name}”. ${reason}`);
  describe.skip(name, () => {});
}

interface Server extends AsyncDisposable {
  origin: string;
  /** Ends the process between two instructions. */
  kill(): Promise<void>;
  /** Starts it again with the same files. */
  start(): Promise<void>;
}

/** Starts a program that writes into a folder of its own, and waits until it is ready. */
async function startServer(
  program: keyof typeof PROGRAMS,
  argumentsOf: (folder: string, port: number) => Promise<string[]>,
): Promise<Server> {
  const folder = temporaryFolder();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const own = await argumentsOf(folder.path, port);
  let child: Bun.Subprocess | undefined;
  const server: Server = {
    origin,
    async kill() {
      child?.kill("SIGKILL");
      await child?.exited;
    },
    async start() {
      const log = Bun.file(join(folder.path, "log"));
      child = Bun.spawn([programOf(program) ?? program, ...own], { stdout: "ignore", stderr: log });
      const isReady = () =>
        fetch(`${origin}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        );
      if (!(await holds(isReady))) throw new Error(`${program} is not ready: ${await log.text()}`);
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      folder[Symbol.dispose]();
    },
  };
  await server.start();
  return server;
}

export interface Alertmanager extends Server {
  /** Address of its cluster of peers. */
  cluster: string;
  /** Reports alerts to it, as Prometheus does. */
  fire(...alerts: { labels: Record<string, string>; endsAt?: string }[]): Promise<void>;
  /** Silences alerts with a label for an hour. */
  silence(name: string, value: string): Promise<void>;
}

/** Interval of groups and repeats. */
const INTERVAL = "200ms";

/** Starts an Alertmanager that reports to a URL with an API key, as a peer of another one if that is given. */
export async function startAlertmanager(
  url: string,
  key: string,
  peer?: Alertmanager,
): Promise<Alertmanager> {
  const cluster = `127.0.0.1:${await freePort()}`;
  const server = await startServer("alertmanager", async (folder, port) => {
    const config = join(folder, "alertmanager.yml");
    await Bun.write(
      config,
      JSON.stringify({
        route: {
          receiver: "allclear",
          group_by: ["cluster"],
          group_wait: "0s",
          group_interval: INTERVAL,
          repeat_interval: INTERVAL,
        },
        receivers: [
          {
            name: "allclear",
            webhook_configs: [
              { url, send_resolved: true, http_config: { authorization: { credentials: key } } },
            ],
          },
        ],
      }),
    );
    return [
      `--config.file=${config}`,
      `--storage.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--cluster.listen-address=${cluster}`,
      "--cluster.peer-timeout=1s",
      "--cluster.settle-timeout=1s",
      "--cluster.gossip-interval=50ms",
      ...(peer ? [`--cluster.peer=${peer.cluster}`] : []),
    ];
  });
  const post = async (path: string, json: unknown) => {
    const headers = { "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(json) };
    const answer = await fetch(`${server.origin}${path}`, sent);
    if (!answer.ok) throw new Error(await answer.text());
  };
  return Object.assign(server, {
    cluster,
    fire: (...alerts: object[]) => post("/api/v2/alerts", alerts),
    silence: (name: string, value: string) =>
      post("/api/v2/silences", {
        matchers: [{ name, value, isRegex: false, isEqual: true }],
        startsAt: new Date().toISOString(),
        endsAt: new Date(Date.now() + 3_600_000).toISOString(),
        createdBy: "test",
        comment: "test",
      }),
  });
}

/** Starts a Prometheus that reads metrics of a host and port, and fires an alert while `shop_errors` is above 0. */
export function startPrometheus(target: string, alertmanager: Alertmanager): Promise<Server> {
  return startServer("prometheus", async (folder, port) => {
    const rules = join(folder, "rules.yml");
    await Bun.write(
      rules,
      JSON.stringify({
        groups: [
          {
            name: "shop",
            interval: "1s",
            rules: [
              {
                alert: "ShopErrors",
                expr: "shop_errors > 0",
                labels: { severity: "critical", service: "checkout" },
                annotations: { summary: "Orders fail at {{ $labels.instance }}" },
              },
            ],
          },
        ],
      }),
    );
    const config = join(folder, "prometheus.yml");
    await Bun.write(
      config,
      JSON.stringify({
        global: { scrape_interval: "1s", evaluation_interval: "1s" },
        rule_files: [rules],
        alerting: {
          alertmanagers: [
            { static_configs: [{ targets: [alertmanager.origin.slice("http://".length)] }] },
          ],
        },
        scrape_configs: [{ job_name: "shop", static_configs: [{ targets: [target] }] }],
      }),
    );
    return [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--rules.alert.resend-delay=1s",
    ];
  });
}
