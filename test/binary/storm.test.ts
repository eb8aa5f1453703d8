import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { statesSaid } from "../support/chat-messages";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { outageErrors } from "../support/outages";
import { type Received, type Receiver, startReceiver } from "../support/receiver";
import { startTarget } from "../support/target";

setDefaultTimeout(PROCESS_TEST_MS);

const ENV = { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" };
/** Names that occur in no other text of a message. */
const MONITORS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];
const COMPONENTS = ["Checkout", "Search"];
const GROUP_SECONDS = 5;
const SCOPES = ["read:status", "manage:monitors", "manage:webhooks"];
const TOO_MANY = 429;

/** Monitors of two components and one target, a chat and a program that receive everything. */
interface Storm {
  site: Installation;
  target: ReturnType<typeof startTarget>;
  chat: Receiver;
  /** Indices of the messages that the chat refused. */
  refused: Set<number>;
  program: Receiver;
  server: Server;
  key: string;
  /** Kills the server and starts another one. */
  restart(): Promise<void>;
  /** Resolves when all monitors have a state. */
  untilAll(state: "up" | "down"): Promise<void>;
  /** Reads one value from the database. */
  read<Value>(sql: string): Value | undefined;
}

async function withStorm(work: (storm: Storm) => Promise<void>): Promise<void> {
  using target = startTarget(Date.now);
  await using chat = startReceiver();
  await using program = startReceiver();
  await using site = await createInstallation();
  await site.createPage("acme", COMPONENTS);
  const { value: key } = await site.createKey(SCOPES);
  const storm: Storm = {
    site,
    target,
    chat,
    refused: new Set(),
    program,
    key,
    server: await site.serve({ env: ENV }),
    async restart() {
      await storm.server.kill();
      storm.server = await site.serve({ env: ENV });
    },
    async untilAll(state) {
      const isReached = await holds(async () => {
        const { data } = await read(storm, "monitors");
        return data.every((monitor: { state: string }) => monitor.state === state);
      });
      if (!isReached) throw new Error(`the monitors are not ${state}`);
    },
    read<Value>(sql: string) {
      using database = new Database(join(site.dataDir, "allclear.db"), { readonly: true });
      return database.query<{ value: Value }, []>(sql).get()?.value;
    },
  };
  const events = ["incident.created", "incident.updated", "incident.resolved", "incident.reopened"];
  const ofMonitors = ["monitor.down", "monitor.up"];
  await post(storm, "webhooks", {
    url: chat.url,
    format: "slack",
    group_seconds: GROUP_SECONDS,
    events: [...ofMonitors, ...events],
  });
  await post(storm, "webhooks", { url: program.url, events: ofMonitors });
  const { data: components } = await read(storm, "components?page=acme");
  for (const [index, name] of MONITORS.entries()) {
    await post(storm, "monitors", {
      type: "http",
      name,
      config: { url: `${target.url}/${index}` },
      component_ids: [components[index % COMPONENTS.length].id],
      interval_seconds: 5,
      failure_threshold: 2,
      retry_interval_seconds: 1,
      on_down: "major_outage",
      open_incident: "automatic",
    });
  }
  await storm.untilAll("up");
  await work(storm);
  expect(await storm.server.stop()).toBe(0);
}

// Tests read answers without types.
// oxlint-disable-next-line typescript/no-explicit-any
async function read({ server, key }: Storm, path: string): Promise<any> {
  return (await server.fetch(`/api/v1/${path}`, { key })).json();
}

async function post({ server, key }: Storm, path: string, body: object): Promise<void> {
  const answer = await server.fetch(`/api/v1/${path}`, {
    key,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
}

/** Resolves when a condition about the database or the receivers holds. */
async function until(condition: () => boolean): Promise<void> {
  if (!(await holds(async () => condition()))) throw new Error("the condition does not hold");
}

const pending = (storm: Storm) =>
  storm.read<number>("SELECT count(*) AS value FROM deliveries WHERE status = 'pending'");
const downCount = (storm: Storm) =>
  storm.read<number>("SELECT count(*) AS value FROM monitor_states WHERE state = 'down'") ?? 0;
const updateIsDue = (storm: Storm) =>
  storm.read<number>(
    "SELECT count(*) AS value FROM automatic_incidents WHERE update_due_at IS NOT NULL",
  ) !== 0;

/** Number of monitors that a message names. */
const namedIn = ({ body }: Received) => MONITORS.filter((name) => body.includes(name)).length;

/**
 * Expects that every event arrived, that no message arrived more than twice, at most one of the chat for each kill,
 * and that the last message about each monitor says its state.
 */
function expectMessages(storm: Storm, state: "up" | "down", kills: number): void {
  using database = new Database(join(storm.site.dataDir, "allclear.db"), { readonly: true });
  expect(outageErrors(database)).toEqual([]);
  const events = database
    .query<{ id: string }, []>("SELECT id FROM events WHERE type IN ('monitor.down', 'monitor.up')")
    .all()
    .map(({ id }) => id);
  const counts = countsOf(storm.program.received);
  expect([...counts.keys()].toSorted()).toEqual(events.toSorted());
  for (const count of counts.values()) expect(count).toBeLessThanOrEqual(1 + kills);
  const accepted = storm.chat.received.filter((_, index) => !storm.refused.has(index));
  const repeated = [...countsOf(accepted).values()].reduce((sum, count) => sum + count - 1, 0);
  expect(repeated).toBeLessThanOrEqual(kills);
  for (const name of MONITORS) {
    const said = accepted.flatMap(({ body }) => statesSaid(body, name)).at(-1) ?? state;
    expect(`${name} is ${said}`).toBe(`${name} is ${state}`);
  }
}

function countsOf(messages: readonly Received[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of messages) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Kills the server in a phase of an outage, and starts another one. Returns the number of kills. */
const PHASES: Readonly<Record<string, (storm: Storm) => Promise<number>>> = {
  async "before the first failure of an outage is written"(storm) {
    storm.target.isWell = false;
    await until(() => storm.target.requests.at(-1)?.isWell === false);
    await storm.restart();
    return 1;
  },
  async "while messages about an outage are gathered"(storm) {
    storm.target.isWell = false;
    await storm.chat.until(1);
    await until(() => downCount(storm) > 1);
    await storm.restart();
    return 1;
  },
  async "while a group of messages is sent"(storm) {
    const sent = Promise.withResolvers<string>();
    storm.chat.answer = (message) => {
      if (namedIn(message) < 2) return 200;
      sent.resolve(message.id);
      return new Promise<number>(() => undefined);
    };
    storm.target.isWell = false;
    const id = await sent.promise;
    await storm.server.kill();
    storm.chat.answer = () => 200;
    await storm.restart();
    await until(() => countsOf(storm.chat.received).get(id) === 2);
    return 1;
  },
  async "between a group's arrival and its record"(storm) {
    let id = "";
    storm.chat.answer = (message) => {
      if (namedIn(message) < 2 || id !== "") return 200;
      id = message.id;
      storm.server.signal("SIGKILL");
      return 200;
    };
    storm.target.isWell = false;
    await storm.server.exited;
    await storm.restart();
    await until(() => countsOf(storm.chat.received).get(id) === 2);
    return 1;
  },
  async "while an update of an incident waits to be written"(storm) {
    storm.target.isWell = false;
    await until(() => updateIsDue(storm));
    await storm.restart();
    await until(() => !updateIsDue(storm));
    return 1;
  },
  async "while monitors recover"(storm) {
    storm.target.isWell = false;
    await storm.untilAll("down");
    await until(() => pending(storm) === 0);
    storm.target.isWell = true;
    await until(() => downCount(storm) < MONITORS.length);
    await storm.restart();
    storm.target.isWell = false;
    return 1;
  },
  async "while a receiver pauses deliveries"(storm) {
    const { received } = storm.chat;
    storm.chat.answer = (_message, count) => {
      storm.refused.add(count - 1);
      return new Response(null, { status: TOO_MANY, headers: { "retry-after": "3" } });
    };
    storm.target.isWell = false;
    await storm.chat.until(1);
    await storm.restart();
    const before = received.length;
    storm.chat.answer = () => 200;
    await until(() => received.length > before);
    return 1;
  },
};

// Each has a server of its own, and mostly waits.
test.concurrent.each(Object.entries(PHASES))(
  "kill -9 %s loses no event and repeats at most one message",
  async (_phase, kill) => {
    await withStorm(async (storm) => {
      const kills = await kill(storm);
      await storm.untilAll("down");
      await until(() => pending(storm) === 0);
      expectMessages(storm, "down", kills);
      storm.target.isWell = true;
      await storm.untilAll("up");
      await until(() => pending(storm) === 0);
      expectMessages(storm, "up", kills);
      const { data: open } = await read(storm, "incidents?page=acme&open=true");
      expect(open).toEqual([]);
      expect((await read(storm, "incidents?page=acme")).data).toHaveLength(1);
    });
  },
);
