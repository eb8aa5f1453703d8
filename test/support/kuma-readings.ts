import { type ReadFamily, readExposition } from "./exposition";

/** A heartbeat in a public document. */
export interface KumaBeat {
  status: number;
  /** In UTC. */
  time: string;
  msg: string;
  ping: number | null;
}

/** A badge by what people see of it. */
export interface KumaBadge {
  status: number;
  title: string;
  /** Colour behind the value. */
  colour: string | undefined;
}

/** Everything that clients of Uptime Kuma read from an installation. */
export interface KumaReadings {
  /** Names of the monitors by number. */
  names: ReadonlyMap<number, string>;
  /** JSON documents by their path. */
  documents: Record<string, unknown>;
  /** Beats and uptimes of the last 24 hours by page and number of a monitor. */
  heartbeats: Record<string, KumaHeartbeats>;
  badges: Record<string, KumaBadge>;
  metrics: Map<string, ReadFamily>;
}

interface KumaHeartbeats {
  heartbeatList: Record<string, KumaBeat[]>;
  uptimeList: Record<string, number>;
}

/** Six badges of a monitor, behind its number. */
const BADGES = ["status", "uptime", "ping", "avg-response", "response", "cert-exp"] as const;

interface Where {
  origin: string;
  /** Slugs of the pages, and monitors that are on one. */
  pages: readonly string[];
  names: ReadonlyMap<number, string>;
  metrics: { path: string; authorization: string };
}

/** Reads an installation as clients of Uptime Kuma do. */
export async function readAsKumaClient({
  origin,
  pages,
  names,
  metrics,
}: Where): Promise<KumaReadings> {
  // Uptime Kuma keeps answers for up to five minutes, unless it is asked not to.
  const headers = { "x-apicache-bypass": "true" };
  const get = (path: string) => fetch(origin + path, { headers });
  const readings: KumaReadings = {
    names,
    documents: {},
    heartbeats: {},
    badges: {},
    metrics: new Map(),
  };
  for (const slug of pages) {
    const base = `/api/status-page/${slug}`;
    for (const path of [base, `${base}/incident-history`, `${base}/manifest.json`]) {
      readings.documents[path] = await (await get(path)).json();
    }
    const heartbeats = await get(`/api/status-page/heartbeat/${slug}`);
    readings.heartbeats[slug] = (await heartbeats.json()) as KumaHeartbeats;
    readings.badges[`${base}/badge`] = await badgeOf(await get(`${base}/badge`));
  }
  readings.documents["/api/entry-page"] = await (await get("/api/entry-page")).json();
  for (const number of names.keys()) {
    for (const badge of BADGES) {
      const path = `/api/badge/${number}/${badge}`;
      readings.badges[path] = await badgeOf(await get(path));
    }
  }
  const { path, authorization } = metrics;
  const exposition = await fetch(origin + path, { headers: { authorization } });
  readings.metrics = readMetrics(await exposition.text());
  return readings;
}

async function badgeOf(answer: Response): Promise<KumaBadge> {
  const svg = await answer.text();
  const [, title = ""] = /<title>(.*?)<\/title>/.exec(svg) ?? [];
  const fills = [...svg.matchAll(/<rect[^>]* fill="([^"]+)"/g)].map(([, fill]) => fill);
  const colour = fills.findLast((fill) => fill?.startsWith("url(") === false);
  return { status: answer.status, title, colour };
}

/** Parses the families of monitors. The others of Uptime Kuma are those of Node.js. */
function readMetrics(text: string): Map<string, ReadFamily> {
  const lines = text.split("\n").filter((line) => /^(# (HELP|TYPE) )?monitor_/.test(line));
  return readExposition(`${lines.join("\n")}\n`);
}
