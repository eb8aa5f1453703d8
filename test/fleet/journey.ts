/**
 * Shows the fleet of deploy/fleet/compose.yaml and the loss of its primary, without Docker:
 *
 *     bun test/fleet/journey.ts
 *
 * It builds the executable, and starts the parts of the sample as processes on free ports of loopback, with the commands
 * of its nodes: versitygw, valkey-server or redis-server, the primary a, the eligible replica b, the replica c, and
 * HAProxy in the place of Caddy. `test/fleet/long.ts` says where the programs come from. Each step is printed with the
 * time since the start and its own, in seconds. The exit code is 0 if all succeed, otherwise 1. All processes end with it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { executable as buildExecutable } from "../support/binary";
import { eventually } from "../support/fleet/eventually";
import { createKeyAt } from "../support/fleet/keys";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { startHaproxy } from "../support/fleet/proxies";
import { startRedis } from "../support/fleet/redis";
import { startS3 } from "../support/fleet/s3";
import { startReceiver } from "../support/receiver";
import { freePort } from "../support/free-port";
import { findProgram } from "../support/servers/server-process";

const COMPOSE = join(import.meta.dir, "../../deploy/fleet/compose.yaml");
const FIRST = "Checkout is slow";
const SECOND = "Search is down";

/** Time in ms in which a delivery that is repeated would come. */
const REPEAT_MS = 3_000;

const startedAt = performance.now();

function secondsSince(time: number): string {
  return ((performance.now() - time) / 1_000).toFixed(1).padStart(5);
}

/** Does a step and prints it, with its result if that is a text. */
async function step<T>(text: string, work: () => Promise<T>): Promise<T> {
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

function ensure(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

/** Returns the names of the incidents that an address lists, once it answers. */
async function namesAt(url: string, key: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/api/v1/incidents`, { headers });
  ensure(answer.status === 200, `${url} answered ${answer.status}`);
  const { data } = (await answer.json()) as { data: { name: string }[] };
  return data.map(({ name }) => name);
}

/** Waits until the API and the page of an address show all these incidents. */
async function untilShown(url: string, key: string, names: readonly string[]): Promise<void> {
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
async function post(url: string, key: string, name: string): Promise<string> {
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

async function stateOf(node: FleetNode): Promise<{ role: string; term: number }> {
  return (await (await node.call("/readyz")).json()) as { role: string; term: number };
}

/** Creates a page and a webhook for new incidents. */
async function applyFile(primary: FleetNode, receiver: string): Promise<void> {
  const file = join(primary.folder, "journey.json");
  const pages = [{ slug: "acme", name: "Acme", components: [{ name: "API" }] }];
  const webhook = { ref: "journey", url: receiver, events: ["incident.created"] };
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
  await Bun.write(file, JSON.stringify({ pages, webhooks: [{ ...webhook, secret }] }));
  const { code, stderr } = await primary.run("apply", file);
  ensure(code === 0, stderr);
}

/** Starts HAProxy with the rules of the sample's Caddyfile, also on a port that was chosen before. */
function startBalancer(publicPort: number, nodes: readonly FleetNode[]) {
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

async function run(stack: AsyncDisposableStack): Promise<void> {
  for (const names of [["haproxy"], ["valkey-server", "redis-server"]]) {
    ensure(findProgram(...names) !== undefined, `${names.join(" or ")} is not installed.`);
  }
  const { services } = parse(await Bun.file(COMPOSE).text(), { merge: true });
  const executable = await step("Build the executable", buildExecutable);
  const store = await step("Start the store", async () => stack.use(await startS3()));
  const valkey = await step("Start Valkey", async () => stack.use(await startRedis()));
  const receiver = stack.use(startReceiver());
  const publicPort = await freePort();
  const publicUrl = `http://127.0.0.1:${publicPort}`;
  const env = {
    ALLCLEAR_BASE_URL: publicUrl,
    ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1",
    ALLCLEAR_VALKEY_URL: valkey.url,
    ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8",
  };
  const start = (name: string) => {
    const [, ...args] = services[name].command as string[];
    return step(`Start ${name} with serve ${args.join(" ")}`, async () =>
      stack.use(await startNode({ store, path: "fleet", executable, args, env })),
    );
  };

  const a = await start("a");
  await step("Create a page, a webhook and a key at a", () => applyFile(a, receiver.url));
  const { value: key } = await createKeyAt(a, "read:status", "write:incidents");
  const [b, c] = [await start("b"), await start("c")];
  await step("b and c are ready for the API", () =>
    eventually("b and c are ready", async () => {
      const answers = await Promise.all([b.call("/readyz/api"), c.call("/readyz/api")]);
      return answers.every(({ status }) => status === 200);
    }),
  );
  await step("Start HAProxy", async () => stack.use(await startBalancer(publicPort, [a, b, c])));
  const idsOf = (name: string) =>
    receiver.received.filter(({ body }) => body.includes(name)).map(({ id }) => id);
  const delivered = (name: string) =>
    step(`The webhook of “${name}” is delivered`, async () => {
      await eventually(`“${name}” is delivered`, async () => idsOf(name).length > 0);
      return idsOf(name).join(", ");
    });

  await step(`Post “${FIRST}” at a`, () => post(a.url, key, FIRST));
  for (const [name, url] of [
    ["b", b.url],
    ["c", c.url],
    ["HAProxy", publicUrl],
  ] as const) {
    await step(`API and page of ${name} show it`, () => untilShown(url, key, [FIRST]));
  }
  await delivered(FIRST);

  await step("Kill a with kill -9", () => a.kill());
  await step("The page and the API go on through HAProxy", () =>
    untilShown(publicUrl, key, [FIRST]),
  );
  await step("promote at c, which is not eligible, is refused", async () => {
    const { code, stderr } = await c.run("promote");
    ensure(code === 1, "it was not refused");
    return stderr.trim();
  });
  await step("promote at b is refused while the lease of a may be alive", async () => {
    const { code, stderr } = await b.run("promote");
    ensure(code === 1, "it was not refused");
    return stderr.trim();
  });
  await step("promote at b, tried again until the lease has ended", async () => {
    let said = "";
    await eventually("b can be promoted", async () => {
      const { code, stderr } = await b.run("promote");
      said = stderr.trim();
      return code === 0;
    });
    return said;
  });
  await step("b has the incident", () => untilShown(b.url, key, [FIRST]));
  await step(`Post “${SECOND}” through HAProxy`, () => post(publicUrl, key, SECOND));
  await delivered(SECOND);
  await step("c follows b and shows both", async () => {
    await untilShown(c.url, key, [FIRST, SECOND]);
    const { role, term } = await stateOf(c);
    ensure(role === "replica" && term === 2, `c is a ${role} of term ${term}`);
    return `${role}, term ${term}`;
  });

  await step("Start a again", () => a.restart());
  await step("Kill a as a replica, and start it once more", async () => {
    await eventually("a is ready", async () => (await a.call("/readyz/api")).status === 200);
    await a.kill();
    await a.restart();
  });
  await step("a goes on as a replica and shows both", async () => {
    await eventually("a is ready", async () => (await a.call("/readyz/api")).status === 200);
    await untilShown(a.url, key, [FIRST, SECOND]);
    const { role, term } = await stateOf(a);
    const kept = "allclear.db.term-1";
    ensure(role === "replica" && existsSync(join(a.folder, kept)), `a is a ${role}`);
    return `${role}, term ${term}, ${kept} is kept`;
  });
  await step("No webhook is repeated", async () => {
    await Bun.sleep(REPEAT_MS);
    const counts = [FIRST, SECOND].map((name) => idsOf(name).length);
    ensure(counts.join() === "1,1", `the webhooks came ${counts.join(" and ")} times`);
  });
  const status = await step("fleet status exits with 0", async () => {
    const status = await c.run("fleet", "status");
    ensure(status.code === 0, status.stderr);
    return status;
  });
  console.log(`\n${status.stdout}${status.stderr}`);
}

const stack = new AsyncDisposableStack();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)));
}
try {
  await run(stack);
  console.log("All steps succeeded.");
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await stack.disposeAsync();
}
