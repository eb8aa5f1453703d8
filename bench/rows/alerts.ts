import { openConnection, requestText } from "../support/connection";
import { type Figure, percentile } from "../support/figure";
import { readUntil } from "../support/paced-reads";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const MONITORS = 20;
const GROUPS = 500;
const PER_GROUP = 10;
const SECONDS = 60;
const READ_PACE_MS = 1;
const REACH = 1.2;

/**
 * Takes 5,000 alerts of Alertmanager in 500 bodies within a minute, beside 1,000 status reads a second. Compares these
 * reads with those of the same server before.
 */
export async function measureAlerts(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug, componentIds, keys } = await seed(workspace.path("data"), {
    keys: 1,
    scopes: ["read:status", "write:components", "manage:monitors"],
  });
  const server = await startAllclear(workspace, dataDir);
  const [reader, sender] = [await openConnection(server.url), await openConnection(server.url)];
  const headers = { Authorization: `Bearer ${keys[0]}` };
  const post = (path: string, body: object) => {
    const json = { method: "POST", text: JSON.stringify(body) };
    return sender.send(requestText(server.url, path, { headers, json }));
  };
  const status = requestText(server.url, `/api/v1/status/${slug}`, { headers });
  const read = async () => {
    const answer = await reader.send(status);
    if (answer.status !== 200) throw new Error(`a read was answered with ${answer.status}`);
  };
  try {
    for (let index = 0; index < MONITORS; index++) {
      const { status: made } = await post("/api/v1/monitors", {
        type: "alert",
        name: `Service ${index}`,
        component_ids: [componentIds[index % componentIds.length]],
        open_incident: "automatic",
        config: {
          format: "alertmanager",
          match: [`service="service-${index}"`, 'severity=~"critical|page"'],
          degraded: [`service="service-${index}"`],
        },
      });
      if (made !== 201) throw new Error(`a monitor was answered with ${made}`);
    }
    const before = await readUntil(Bun.sleep((SECONDS * 1_000) / 3), READ_PACE_MS, read);
    const bodies = Array.from({ length: GROUPS }, (_, group) => bodyOf(group));
    const sending = sendPaced(bodies, (body) => post("/api/v1/alerts", body));
    const during = await readUntil(sending, READ_PACE_MS, read);
    const slowest = Math.max(...(await sending));
    const incidents = await reader.send(
      requestText(server.url, `/api/v1/incidents?page=${slug}`, { headers }),
    );
    const { data } = JSON.parse(incidents.body.toString()) as { data: unknown[] };
    const [idle, busy] = [before, during].map((reads) =>
      percentile(
        reads.map(({ ms }) => ms),
        99,
      ),
    ) as [number, number];
    return [
      {
        what: `${(GROUPS * PER_GROUP).toLocaleString("en-US")} alerts in ${GROUPS} bodies in ${SECONDS} s, ${MONITORS} monitors, beside 1,000 status reads a second: p99 of the reads, incidents`,
        target: `${REACH} × idle, 1 incident`,
        measured: `${(busy / idle).toFixed(2)} (${busy.toFixed(2)} ms against ${idle.toFixed(2)} ms), ${data.length} incident${data.length === 1 ? "" : "s"}; slowest read ${longest(during)} ms (before ${longest(before)} ms), slowest body ${slowest.toFixed(0)} ms`,
        isReached: busy <= REACH * idle && data.length === 1,
        numbers: { "p99 in ms": busy, "slowest body in ms": slowest },
      },
    ];
  } finally {
    reader.close();
    sender.close();
    await server.stop();
  }
}

/** Returns the time of the slowest read, which no turn of the server exceeds. */
function longest(reads: readonly { ms: number }[]): string {
  return reads.reduce((most, { ms }) => Math.max(most, ms), 0).toFixed(1);
}

/** Returns a body with alerts of one service, of which half are critical. */
function bodyOf(group: number): object {
  return {
    version: "4",
    groupKey: `{}:{group="${group}"}`,
    alerts: Array.from({ length: PER_GROUP }, (_, index) => ({
      status: "firing",
      labels: {
        alertname: `Rule${group}`,
        service: `service-${group % (MONITORS + 5)}`,
        severity: index % 2 === 0 ? "critical" : "warning",
        pod: `pod-${group}-${index}`,
        cluster: "north",
      },
      annotations: { summary: `Pod ${index} of group ${group} fails` },
      startsAt: new Date().toISOString(),
      generatorURL: "http://prometheus.example.com/graph",
      fingerprint: `${group}-${index}`,
    })),
  };
}

/** Sends bodies at equal distances. Returns the times of their answers in ms. */
async function sendPaced(
  bodies: readonly object[],
  send: (body: object) => Promise<{ status: number }>,
): Promise<number[]> {
  const times: number[] = [];
  const begin = performance.now();
  for (const [index, body] of bodies.entries()) {
    const early = begin + (index * SECONDS * 1_000) / bodies.length - performance.now();
    if (early > 0) await Bun.sleep(early);
    const since = performance.now();
    const { status } = await send(body);
    if (status !== 200) throw new Error(`a body was answered with ${status}`);
    times.push(performance.now() - since);
  }
  return times;
}
