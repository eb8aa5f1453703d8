import { afterAll, beforeAll, expect, test } from "bun:test";
import { KEYS_PATH } from "../../src/ui/frame/paths";
import { CLI_ACTOR } from "../../src/base/actor";
import { startSession } from "../../src/features/auth/sessions";
import { revokeKey } from "../../src/features/keys/keys";
import { createUser } from "../../src/features/users/users";
import { sessionCookie } from "../../src/http/cookies";
import { type Command, openCommand } from "../support/fleet/command";
import { describeLongRun } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { percentile } from "../support/fleet/fleet";
import { untilShared } from "../support/fleet/key-load";
import { type Link, startLink } from "../support/fleet/link";
import { durationMs, expectWithin, report, rounds } from "../support/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { type RedisServer, startRedis } from "../support/fleet/redis";
import { startS3 } from "../support/fleet/s3";

/** Longest time for which a replica may accept a revoked key, in ms. */
const REFUSED_WITHIN_MS = 2_000;
/** Longest time between two listings of the store without Valkey, and a part of it. */
const INTERVAL_MS = 1_000;
const PHASE_MS = 370;
/** Pause between two requests with a revoked key, in ms. */
const PAUSE_MS = 10;
const START_MAX_MS = 600_000;

interface RevokingFleet extends AsyncDisposable {
  primary: FleetNode;
  replicas: readonly FleetNode[];
  valkey: RedisServer;
  /** Link from the primary to Valkey. */
  link: Link;
  command: Command;
  /** Headers of an owner's form at the primary. */
  form: Record<string, string>;
}

async function startRevokingFleet(): Promise<RevokingFleet> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await startS3());
  const valkey = stack.use(await startRedis());
  const link = stack.use(await startLink(valkey.port));
  const node = { store, path: "fleet", env: { ALLCLEAR_VALKEY_URL: valkey.url } };
  const linked = valkey.url.replace(String(valkey.port), String(link.port));
  const primary = stack.use(await startNode({ ...node, env: { ALLCLEAR_VALKEY_URL: linked } }));
  const replicas = [
    stack.use(await startNode({ ...node, args: ["--replica"] })),
    stack.use(await startNode({ ...node, args: ["--replica"] })),
  ];
  const command = stack.use(openCommand(primary));
  const { ctx } = command;
  const address = { baseUrl: primary.url };
  const session = await ctx.db.write((tx) => {
    const owner = { email: "ada@acme.example", name: "Ada", role: "owner" as const };
    const { id } = createUser(ctx, tx, { ...owner, passwordHash: "none" }, CLI_ACTOR);
    return startSession({ ...ctx, ...address }, tx, id, { ip: "127.0.0.1", userAgent: "test" });
  });
  const [cookie = ""] = sessionCookie(address, session).split(";", 1);
  const owned = stack.move();
  return {
    primary,
    replicas,
    valkey,
    link,
    command,
    form: { cookie, origin: primary.url },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Revoke = (fleet: RevokingFleet, id: string) => Promise<void>;

const atDashboard: Revoke = async ({ primary, form }, id) => {
  const answer = await primary.call(`${KEYS_PATH}/${id}/revoke`, { method: "POST", headers: form });
  expect([answer.status, await answer.text()]).toEqual([303, ""]);
};

const byCommand: Revoke = async ({ command: { ctx } }, id) => {
  await ctx.db.write((tx) => revokeKey(ctx, tx, id, CLI_ACTOR));
};

interface Case {
  revoke: Revoke;
  /** Lets parts fail before a revocation, and ends that. */
  begin?: (fleet: RevokingFleet) => Promise<void> | void;
  end?: (fleet: RevokingFleet) => Promise<void>;
}

const CASES: Record<string, Case> = {
  "at the primary": { revoke: atDashboard },
  "by a command beside the primary": { revoke: byCommand },
  "while Valkey is dead": {
    revoke: atDashboard,
    begin: ({ valkey }) => valkey.kill(),
    end: ({ valkey }) => valkey.restart(),
  },
  "while Valkey is dead, by a command": {
    revoke: byCommand,
    begin: ({ valkey }) => valkey.kill(),
    end: ({ valkey }) => valkey.restart(),
  },
  "while the primary is cut off from Valkey": {
    revoke: atDashboard,
    begin: ({ link }) => link.cut(),
    end: ({ link }) => link.mend(),
  },
  "while the link from the primary to Valkey is stalled": {
    revoke: atDashboard,
    begin: ({ link }) => link.stall(),
    end: ({ link }) => link.mend(),
  },
};

const statusOf = async (node: FleetNode, key: string) =>
  (await node.call("/api/v1/key", { key })).status;

/** Asks until a replica knows that a key is revoked. Returns the time until the last request that it admitted, in ms. */
async function acceptedFor(replica: FleetNode, key: string, since: number): Promise<number> {
  let acceptedAt = since;
  let status = 0;
  while (status !== 401 && performance.now() - since < 240_000) {
    const askedAt = performance.now();
    status = await statusOf(replica, key);
    if (status === 200) acceptedAt = askedAt;
    await Bun.sleep(PAUSE_MS);
  }
  expect(status).toBe(401);
  return acceptedAt - since;
}

await describeLongRun(
  "a key that is revoked",
  { go: ["litestream", "versitygw"], debian: ["valkey-server|redis-server"] },
  () => {
    let fleet: RevokingFleet;
    beforeAll(async () => {
      fleet = await startRevokingFleet();
    }, START_MAX_MS);
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    test.each(Object.keys(CASES))(
      "%s is refused by every replica within two seconds, or gets 503",
      async (name) => {
        const { revoke, begin, end } = CASES[name] as Case;
        const { primary, replicas, command } = fleet;
        const nodes = [primary, ...replicas];
        const reader = (await command.createKey()).value;
        const times: number[] = [];
        for (let round = 0; round < rounds(1, 200); round++) {
          const { id, value } = await command.createKey();
          for (const node of nodes) {
            await eventually("a node knows the key", async () => {
              return (await statusOf(node, value)) === 200;
            });
          }
          await untilShared(nodes, reader);
          // Rounds begin at other times of the interval between two listings.
          await Bun.sleep((round * PHASE_MS) % INTERVAL_MS);
          await begin?.(fleet);
          try {
            const since = performance.now();
            const accepted = replicas.map((node) => acceptedFor(node, value, since));
            const [, ...found] = await Promise.all([revoke(fleet, id), ...accepted]);
            times.push(...found);
          } finally {
            await end?.(fleet);
          }
        }
        const figures = { median: percentile(times, 0.5), most: percentile(times, 1) };
        report(`revoked ${name}`, { times: times.length, ...figures });
        expectWithin(figures.most, REFUSED_WITHIN_MS);
      },
      durationMs(600_000, 2 * 60 * 60_000),
    );
  },
);
