import { Database } from "bun:sqlite";
import { join } from "node:path";
import { startKuma } from "../imports/fixtures/uptime-kuma/start";
import { holds } from "./binary";
import { startDnsServer } from "./dns-server";
import { startDocker } from "./docker";
import { giveKumaPast } from "./kuma-heartbeats";
import {
  createKumaObjects,
  KUMA_PAGES,
  KUMA_PASSWORD,
  KUMA_USER,
  PUSH_TOKEN,
} from "./kuma-installation";
import { type KumaReadings, readAsKumaClient } from "./kuma-readings";
import { usePingProgram } from "./ping-program";
import { startRelay } from "./relay";
import { startWebSocketServer } from "./servers/websocket";

/** A real Uptime Kuma that checks servers on this machine. */
export interface KumaWithPast extends AsyncDisposable {
  /** Data directory, whose database is in use. */
  data: string;
  port: number;
  /** Numbers of the monitors by name. */
  monitors: ReadonlyMap<string, number>;
  /** Variables for a server that replaces it. */
  env: Record<string, string>;
  read(): Promise<KumaReadings>;
  /** Reads a server with its pages and numbers, with a key of the scope `read:analytics`. */
  readOther(origin: string, key: string): Promise<KumaReadings>;
  /** Ends Uptime Kuma. The servers that it checks go on. */
  stop(): Promise<void>;
}

/** Answers a ping in the format of Debian's program. */
const PING = `cat <<END
PING $LAST ($LAST) 56(84) bytes of data.
64 bytes from $LAST: icmp_seq=1 ttl=64 time=3.00 ms

--- $LAST ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 3.000/3.000/3.000/0.000 ms
END`;

/** Monitors that have no heartbeat of their own. */
const SILENT = new Set(["Data centre", "Old"]);

/** Starts an Uptime Kuma with monitors, pages and a past. `directory` has the installed program. */
export async function startKumaWithPast(directory: string): Promise<KumaWithPast> {
  await using started = new AsyncDisposableStack();
  started.use(usePingProgram(PING));
  const web = startWebServer();
  started.defer(() => web.stop(true));
  const dns = started.use(await startDnsServer(() => ({ records: [Buffer.from([192, 0, 2, 1])] })));
  const docker = started.use(startDocker(() => Response.json({ State: RUNNING })));
  const relay = started.use(await startRelay());
  const webSocket = started.use(await startWebSocketServer(() => {}));
  const servers = {
    http: `http://127.0.0.1:${web.port}`,
    dns: Number(dns.address.split(":")[1]),
    webSocket: webSocket.port,
    smtp: relay.port,
    docker: docker.path,
  };

  const now = Date.now();
  const first = started.use(await startKuma(directory));
  const { data } = first;
  const monitors = await createKumaObjects(first, servers, now);
  await first.stop();
  {
    using database = new Database(join(data, "kuma.db"));
    giveKumaPast(database, monitors, now);
  }
  const kuma = started.use(await startKuma(directory, { data }));
  await fetch(`${kuma.address}/api/push/${PUSH_TOKEN}?status=up&msg=Done&ping=1200`);

  const pages = KUMA_PAGES.map(({ slug }) => slug);
  const onPages = new Set<string>(
    KUMA_PAGES.flatMap(({ groups }) => groups.flatMap((group) => group.monitors)),
  );
  const names = new Map([...monitors].map(([name, number]) => [number, name]));
  for (const [number, name] of names) if (!onPages.has(name)) names.delete(number);
  const shown = { pages, names };
  const authorization = `Basic ${btoa(`${KUMA_USER}:${KUMA_PASSWORD}`)}`;
  const read = () =>
    readAsKumaClient({
      origin: kuma.address,
      ...shown,
      metrics: { path: "/metrics", authorization },
    });
  const hasBeats = ({ heartbeats, metrics }: KumaReadings) => {
    const checked = new Set(
      metrics.get("monitor_status")?.samples.map(({ labels }) => labels["monitor_name"]),
    );
    return [...monitors].every(
      ([name, number]) =>
        SILENT.has(name) ||
        (checked.has(name) && heartbeats["acme"]?.heartbeatList[number]?.length !== 0),
    );
  };
  if (!(await holds(async () => hasBeats(await read())))) {
    throw new Error("Uptime Kuma has not checked all monitors");
  }
  const parts = started.move();
  return {
    data,
    port: Number(URL.parse(kuma.address)?.port),
    monitors,
    env: {
      ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}`,
      ALLCLEAR_PUBLIC_RATE_LIMIT: "10000",
    },
    read,
    readOther: (origin, key) =>
      readAsKumaClient({
        origin,
        ...shown,
        metrics: { path: "/compat/kuma/metrics", authorization: `Basic ${btoa(`kuma:${key}`)}` },
      }),
    stop: kuma.stop,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const RUNNING = { Running: true, Status: "running" };

function startWebServer() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.endsWith("/broken")
        ? new Response("Broken", { status: 503 })
        : Response.json({ all: "fine" }),
  });
}
