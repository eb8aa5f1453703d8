/**
 * Shows the fleet of deploy/fleet/compose.yaml and the change of its primary, without Docker:
 *
 *     bun test/fleet/journey.ts [by-hand | planned | automatic]
 *
 * - `by-hand`, the default, kills the primary a and promotes the replica b,
 * - `planned` demotes a and promotes b, and back again, while changes are made: none is lost,
 * - `automatic` adds `--failover automatic` to all nodes, kills a, and measures the time without changes.
 *
 * It builds the executable, and starts the parts of the sample as processes on free ports of loopback, with the commands
 * of its nodes: versitygw, valkey-server or redis-server, the primary a, the eligible replica b, the replica c, and
 * HAProxy in the place of Caddy. `test/long.ts` says where the programs come from. Each step is printed with the
 * time since the start and its own, in seconds. The exit code is 0 if all succeed, otherwise 1. All processes end with it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { executable } from "../support/binary";
import { eventually } from "../support/fleet/eventually";
import {
  applyFile,
  ensure,
  namesAt,
  post,
  startBalancer,
  startWriter,
  stateOf,
  step,
  untilShown,
  type Written,
} from "../support/fleet/journey";
import { createKeyAt } from "../support/fleet/keys";
import { type FleetNode, startNode } from "../support/fleet/nodes";
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

/** Longest time without changes after the loss of a primary with automatic failover, in ms. */
const AUTOMATIC_MAX_MS = 25_000;

/** Number of the changes that a writer makes before and after a planned switch. */
const CHANGES = 5;

const MODES = { "by-hand": runByHand, planned: runPlanned, automatic: runAutomatic };

/** A running fleet of which each node shows the first incident, whose webhook was delivered. */
interface Journey {
  a: FleetNode;
  b: FleetNode;
  c: FleetNode;
  key: string;
  /** Address of HAProxy. */
  publicUrl: string;
  /** Returns the ids of the webhooks about an incident. */
  idsOf(name: string): string[];
  /** Waits for the webhook about an incident. */
  delivered(name: string): Promise<string>;
}

async function start(stack: AsyncDisposableStack, more: readonly string[]): Promise<Journey> {
  for (const names of [["haproxy"], ["valkey-server", "redis-server"]]) {
    ensure(findProgram(...names) !== undefined, `${names.join(" or ")} is not installed.`);
  }
  const { services } = parse(await Bun.file(COMPOSE).text(), { merge: true });
  await step("Build the executable", executable);
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
    const args = [...(services[name].command as string[]).slice(1), ...more];
    return step(`Start ${name} with serve ${args.join(" ")}`, async () =>
      stack.use(await startNode({ store, path: "fleet", args, env })),
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
  return { a, b, c, key, publicUrl, idsOf, delivered };
}

async function runByHand(journey: Journey): Promise<void> {
  const { a, b, c, key, publicUrl, delivered } = journey;
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

  await returnOfA(journey, [FIRST, SECOND]);
  await once(journey, [FIRST, SECOND]);
}

async function runPlanned(journey: Journey): Promise<void> {
  const { a, b, key, publicUrl } = journey;
  const writer = startWriter(publicUrl, key);
  const changes = async (node: FleetNode) => {
    const before = (await namesAt(node.url, key)).length;
    await eventually("further changes are made", async () => {
      return (await namesAt(node.url, key)).length >= before + CHANGES;
    });
  };
  await step(`Make ${CHANGES} changes through HAProxy, and more from now on`, () => changes(a));
  await step("promote at b is refused while a is the primary", async () => {
    const { code, stderr } = await b.run("promote");
    ensure(code === 1, "it was not refused");
    return stderr.trim();
  });
  for (const [from, to, names] of [
    [a, b, "a and b"],
    [b, a, "b and a"],
  ] as const) {
    await step(`demote and promote at ${names}`, async () => {
      for (const [node, command] of [
        [from, "demote"],
        [to, "promote"],
      ] as const) {
        const { code, stderr } = await node.run(command);
        ensure(code === 0, stderr);
      }
    });
    await step(`Make ${CHANGES} changes more`, () => changes(to));
    const { role } = await stateOf(from);
    ensure(role === "replica", `the old primary is a ${role}`);
  }
  const written = await step("End the changes", () => writer.stop());
  describe(written);
  ensure(written.local === 0, `${written.local} changes were on one machine only`);
  await allShow(journey, [FIRST, ...written.names]);
  await once(journey, [FIRST, ...written.names]);
}

async function runAutomatic(journey: Journey): Promise<void> {
  const { a, b, c, key, publicUrl } = journey;
  await step(`Post “${SECOND}” at a`, () => post(a.url, key, SECOND));
  await journey.delivered(SECOND);
  await step("b shows both", () => untilShown(b.url, key, [FIRST, SECOND]));
  await step("Kill a with kill -9", () => a.kill());
  const writer = startWriter(publicUrl, key);
  await step("The page and the API go on through HAProxy", () =>
    untilShown(publicUrl, key, [FIRST, SECOND]),
  );
  await step("b becomes the primary by itself", () =>
    eventually("b is the primary", async () => (await stateOf(b)).role === "primary"),
  );
  await step("c follows b and shows a change made since", () =>
    eventually("c shows a change", async () => (await namesAt(c.url, key)).length > 2),
  );
  const written = await step("End the changes", () => writer.stop());
  describe(written);
  ensure(written.longestGapMs <= AUTOMATIC_MAX_MS, "changes were not possible for too long");
  const names = [FIRST, SECOND, ...written.names];
  await returnOfA(journey, [FIRST, SECOND]);
  await allShow(journey, names);
  await once(journey, names);
}

function describe({ names, longestGapMs }: Written): void {
  const seconds = (longestGapMs / 1_000).toFixed(1);
  console.log(`${names.length} changes were acknowledged; the longest time without: ${seconds} s`);
}

/** Starts the old primary, which goes on as a replica. */
async function returnOfA({ a, key }: Journey, names: readonly string[]): Promise<void> {
  await step("Start a again", () => a.restart());
  await step("Kill a as a replica, and start it once more", async () => {
    await eventually("a is ready", async () => (await a.call("/readyz/api")).status === 200);
    await a.kill();
    await a.restart();
  });
  await step("a goes on as a replica and shows the incidents", async () => {
    await eventually("a is ready", async () => (await a.call("/readyz/api")).status === 200);
    await untilShown(a.url, key, names);
    const { role, term } = await stateOf(a);
    const kept = "allclear.db.term-1";
    ensure(role === "replica" && existsSync(join(a.folder, kept)), `a is a ${role}`);
    return `${role}, term ${term}, ${kept} is kept`;
  });
}

/** Waits until the API of each node lists these incidents. */
async function allShow({ a, b, c, key }: Journey, names: readonly string[]): Promise<void> {
  await step("No acknowledged change is lost: all nodes have each", () =>
    eventually("all nodes have each", async () => {
      const lists = await Promise.all([a, b, c].map(({ url }) => namesAt(url, key)));
      return lists.every((listed) => names.every((name) => listed.includes(name)));
    }),
  );
}

/** Ensures that the webhook of each incident has come once. */
async function once({ idsOf }: Journey, names: readonly string[]): Promise<void> {
  await step("Each webhook is delivered once", async () => {
    await eventually("all are delivered", async () =>
      names.every((name) => idsOf(name).length > 0),
    );
    await Bun.sleep(REPEAT_MS);
    const repeated = names.filter((name) => idsOf(name).length > 1);
    ensure(repeated.length === 0, `the webhooks of ${repeated.join(", ")} came more than once`);
    return String(names.length);
  });
}

async function run(stack: AsyncDisposableStack, mode: keyof typeof MODES): Promise<void> {
  const more = mode === "automatic" ? ["--failover", "automatic"] : [];
  const journey = await start(stack, more);
  await MODES[mode](journey);
  const status = await step("fleet status exits with 0", async () => {
    const status = await journey.c.run("fleet", "status");
    ensure(status.code === 0, status.stderr);
    return status;
  });
  console.log(`\n${status.stdout}${status.stderr}`);
}

const [mode = "by-hand"] = process.argv.slice(2);
const isMode = (text: string): text is keyof typeof MODES => Object.hasOwn(MODES, text);
const stack = new AsyncDisposableStack();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)));
}
try {
  if (!isMode(mode)) throw new Error(`The modes are ${Object.keys(MODES).join(", ")}.`);
  await run(stack, mode);
  console.log("All steps succeeded.");
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await stack.disposeAsync();
}
