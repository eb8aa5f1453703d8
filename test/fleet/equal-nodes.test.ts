import { expect, test } from "bun:test";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { readLeader } from "../../src/fleet/leader";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine, percentile } from "../support/fleet/fleet";
import { applyPage, createKeyAt } from "../support/fleet/keys";
import { durationMs, expectWithin, report, rounds } from "../support/long";
import { FLEET_SECRET, type FleetNode, startNode } from "../support/fleet/nodes";
import { startRedis } from "../support/fleet/redis";
import { type S3Server, startS3 } from "../support/fleet/s3";
import { temporaryFolder } from "../support/temporary-folder";

const MANIFEST = join(import.meta.dir, "../../deploy/fleet/kubernetes/nodes.yaml");

/** Longest time without changes, in ms. */
const BACK_MAX_MS = 25_000;

/** Returns the container of the manifest: its arguments after `serve`, and its variables for secrets in files. */
async function readContainer(): Promise<{ args: string[]; fileVariables: string[] }> {
  const [statefulSet] = parseAllDocuments(await Bun.file(MANIFEST).text()).map((one) => one.toJS());
  const [{ args, env }] = statefulSet.spec.template.spec.containers;
  const names = (env as { name: string }[]).map(({ name }) => name);
  return { args: args.slice(1), fileVariables: names.filter((name) => name.endsWith("_FILE")) };
}

/** Writes each secret into a file, and returns the variables that name the files instead of those with the secrets. */
async function secretFiles(
  folder: string,
  names: readonly string[],
  { store, valkeyUrl }: { store: S3Server; valkeyUrl: string },
): Promise<Record<string, string | undefined>> {
  const secrets: Record<string, string> = {
    ALLCLEAR_FLEET_STORE_KEY_ID: store.credentials.keyId,
    ALLCLEAR_FLEET_STORE_SECRET: store.credentials.secret,
    ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
    ALLCLEAR_VALKEY_URL: valkeyUrl,
  };
  expect(names.toSorted()).toEqual(
    Object.keys(secrets)
      .map((name) => `${name}_FILE`)
      .toSorted(),
  );
  const env: Record<string, string | undefined> = {};
  for (const [name, secret] of Object.entries(secrets)) {
    const file = join(folder, name);
    await Bun.write(file, `${secret}\n`);
    env[name] = undefined;
    env[`${name}_FILE`] = file;
  }
  return env;
}

/** Returns role and term of a node; undefined while it does not answer. */
async function stateOf(node: FleetNode): Promise<string | undefined> {
  const answer = await node.call("/readyz").catch(() => undefined);
  const { role, term } = ((await answer?.json().catch(() => undefined)) ?? {}) as {
    role?: string;
    term?: number;
  };
  return role && `${role} ${term}`;
}

async function findPrimary(nodes: readonly FleetNode[]): Promise<FleetNode> {
  const states = await Promise.all(nodes.map(stateOf));
  const primaries = nodes.filter((_, index) => states[index]?.startsWith("primary"));
  const [primary] = primaries;
  if (!primary || primaries.length > 1) throw new Error(`the nodes are ${states.join(", ")}`);
  return primary;
}

const needed = {
  go: ["gofakes3", "litestream"] as const,
  debian: ["redis-server|valkey-server"],
};

await describeWithPrograms("three equal nodes", needed, () => {
  test(
    "with the arguments and secret files of the Kubernetes manifest always have one primary",
    async () => {
      const all = rounds(1, 20);
      const { args, fileVariables } = await readContainer();
      await using store = await startS3("gofakes3");
      await using valkey = await startRedis();
      using secrets = temporaryFolder();
      const env = await secretFiles(secrets.path, fileVariables, { store, valkeyUrl: valkey.url });
      await using stack = new AsyncDisposableStack();
      const path = "equal";
      const start = async () => stack.use(await startNode({ store, path, args, env }));
      const nodes = await Promise.all([start(), start(), start()]);
      const areInTerm = (term: number) =>
        eventually(`one node is the primary of term ${term}, which the others follow`, async () => {
          const states = await Promise.all(nodes.map(stateOf));
          return (
            states.toSorted().join() === `primary ${term},replica ${term},replica ${term}` &&
            (await Promise.all(nodes.map((node) => node.call("/readyz")))).every(({ ok }) => ok)
          );
        });
      await areInTerm(1);
      const first = await findPrimary(nodes);
      await applyPage(first);
      const { value: key } = await createKeyAt(first, "read:status", "write:incidents");
      const post = (node: FleetNode, name: string) =>
        node.call("/api/v1/incidents", {
          method: "POST",
          key,
          body: { page: "acme", name, body: "We look into it." },
        });
      await eventually("all nodes know the key", async () => {
        const answers = await Promise.all(
          nodes.map((node) => node.call("/api/v1/incidents", { key })),
        );
        return answers.every(({ status }) => status === 200);
      });

      const names: string[] = [];
      const back: number[] = [];
      for (let term = 2; term <= all + 1; term++) {
        const primary = await findPrimary(nodes);
        const others = nodes.filter((node) => node !== primary);
        expect((await post(primary, `Before ${term}`)).status).toBe(201);
        await killMachine(primary);
        const killedAt = performance.now();
        for (let count = 0; ; count++) {
          const other = others[count % others.length] as FleetNode;
          const answer = await post(other, `After ${term}`).catch(() => undefined);
          if (answer?.status === 201) break;
          if (performance.now() - killedAt > 240_000) throw new Error("no node takes changes");
          await Bun.sleep(100);
        }
        back.push(performance.now() - killedAt);
        names.push(`Before ${term}`, `After ${term}`);
        expect(await readLeader(store.open(path))).toMatchObject({ record: { term } });
        await primary.restart();
        await areInTerm(term);
        for (const node of nodes) {
          await eventually("all nodes have all incidents", async () => {
            const answer = await node.call("/api/v1/incidents", { key });
            const { data } = (await answer.json()) as { data: { name: string }[] };
            const listed = data.map(({ name }) => name);
            return listed.toSorted().join() === names.toSorted().join();
          });
        }
      }
      const figures = { backP50Ms: percentile(back, 0.5), backMaxMs: percentile(back, 1) };
      report("three equal nodes", { rounds: all, ...figures });
      expectWithin(figures.backMaxMs, BACK_MAX_MS);
    },
    durationMs(600_000, 3_600_000),
  );
});
