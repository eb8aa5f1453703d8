/** Steps and requests of `test/fleet/journey.ts`. */
import { join } from "node:path";
import { eventually } from "./eventually";
import type { FleetNode } from "./nodes";
import { startHaproxy } from "./proxies";

/** Longest wait of a writer for an answer, in ms. */
const REQUEST_MAX_MS = 10_000;

/** Pause between two changes of a writer, in ms. A page of the API lists 100. */
const WRITE_PAUSE_MS = 500;

const startedAt = performance.now();

function secondsSince(time: number): string {
  return ((performance.now() - time) / 1_000).toFixed(1).padStart(5);
}

/** Does a step and prints it, with its result if that is a text. */
export async function step<T>(text: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const print = (detail: string) =>
    console.log(`${secondsSince(startedAt)} s  ${secondsSince(began)} s  ${text}${detail}`);
  try {
    const result = await work();
    print(typeof result === "string" ? `: ${result}` : "");
    return result;
  } catch (error) {
    print(": FAILED");
    throw error;
  }
}

export function ensure(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

/** Returns the names of the incidents that an address lists, once it answers. */
export async function namesAt(url: string, key: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/api/v1/incidents?limit=100`, { headers });
  ensure(answer.status === 200, `${url} answered ${answer.status}`);
  const { data } = (await answer.json()) as { data: { name: string }[] };
  return data.map(({ name }) => name);
}

/** Waits until the API and the page of an address show all these incidents. */
export async function untilShown(
  url: string,
  key: string,
  names: readonly string[],
): Promise<void> {
  await eventually(`${url} shows ${names.join(" and ")}`, async () => {
    const listed = await namesAt(url, key);
    const page = await (await fetch(`${url}/status/acme`)).text();
    return names.every((name) => listed.includes(name) && page.includes(name));
  });
}

/**
 * Posts an incident, again while a node answers 503, and returns how often and the durability of the answer. A replica
 * knows a new primary after two seconds.
 */
export async function post(url: string, key: string, name: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": crypto.randomUUID(),
  };
  const body = JSON.stringify({ page: "acme", name, body: "We look into it." });
  let answer = new Response(null, { status: 503 });
  let attempts = 0;
  await eventually(`${url} answers`, async () => {
    attempts += 1;
    answer = await fetch(`${url}/api/v1/incidents`, { method: "POST", headers, body });
    return answer.status !== 503;
  });
  ensure(answer.status === 201, `${url} answered ${answer.status}: ${await answer.text()}`);
  const durability = answer.headers.get("allclear-durability") ?? "replicated";
  return `${durability}, attempt ${attempts}`;
}

export async function stateOf(node: FleetNode): Promise<{ role: string; term: number }> {
  return (await (await node.call("/readyz")).json()) as { role: string; term: number };
}

/** Creates a page and a webhook for new incidents. */
export async function applyFile(primary: FleetNode, receiver: string): Promise<void> {
  const file = join(primary.folder, "journey.json");
  const pages = [{ slug: "acme", name: "Acme", components: [{ name: "API" }] }];
  const webhook = { ref: "journey", url: receiver, events: ["incident.created"] };
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
  await Bun.write(file, JSON.stringify({ pages, webhooks: [{ ...webhook, secret }] }));
  const { code, stderr } = await primary.run("apply", file);
  ensure(code === 0, stderr);
}

/** Starts HAProxy with the rules of the sample's Caddyfile, also on a port that was chosen before. */
export function startBalancer(publicPort: number, nodes: readonly FleetNode[]) {
  const backend = (name: string, health: string) => `
backend ${name}
  balance leastconn
  option httpchk
  http-check send meth GET uri ${health} ver HTTP/1.1 hdr Host health
  option forwardfor
  option redispatch
  default-server check inter 1s fall 1 rise 1
${nodes.map(({ port }) => `  server node-${port} 127.0.0.1:${port}`).join("\n")}
`;
  return startHaproxy(
    ({ port }) => `
defaults
  mode http
  retries 3
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 2s

frontend public
  bind 127.0.0.1:${port}
  bind 127.0.0.1:${publicPort}
  use_backend api if { path_beg /api/v1/ }
  default_backend pages
${backend("api", "/readyz/api")}${backend("pages", "/readyz")}`,
  );
}

/** Acknowledged changes of a writer. */
export interface Written {
  /** Names of the incidents. */
  names: readonly string[];
  /** Number of the changes that only one machine had. */
  local: number;
  /** Longest time between two acknowledged changes, or before the first one, in ms. */
  longestGapMs: number;
}

/** Posts incidents through an address, one after another, until it is stopped. */
export function startWriter(url: string, key: string): { stop(): Promise<Written> } {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const names: string[] = [];
  let [local, longestGapMs, lastAt, isStopped] = [0, 0, performance.now(), false];
  async function write(): Promise<void> {
    for (let number = 1; !isStopped; number++) {
      const name = `Change ${String(number).padStart(3, "0")}`;
      const answer = await fetch(`${url}/api/v1/incidents`, {
        method: "POST",
        headers,
        body: JSON.stringify({ page: "acme", name, body: "We look into it." }),
        signal: AbortSignal.timeout(REQUEST_MAX_MS),
      }).catch(() => undefined);
      if (answer?.status === 201) {
        names.push(name);
        if (answer.headers.get("allclear-durability") === "local") local += 1;
        longestGapMs = Math.max(longestGapMs, performance.now() - lastAt);
        lastAt = performance.now();
      }
      await Bun.sleep(WRITE_PAUSE_MS);
    }
  }
  const written = write();
  return {
    async stop() {
      isStopped = true;
      await written;
      return { names, local, longestGapMs };
    },
  };
}
