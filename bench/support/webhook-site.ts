import type { Taken } from "../programs/webhook-receiver";
import { compileProgram } from "./compile";
import { openData } from "./open-data";
import { type Seed, seed } from "./seed";
import { type Server, startAllclear, startServer } from "./server";
import type { Workspace } from "./workspace";
import { LOAD_CORE, SERVER_CORE } from "./wrk";

/** Allclear with endpoints at a receiver on the other core. */
export interface WebhookSite {
  receiver: Server;
  page: Seed;
  key: string;
  start(): Promise<Server>;
  taken(): Promise<Taken>;
  /** Tells what was taken once there is so much of it. Throws when that takes longer than so long. */
  untilTaken(count: number, patienceMs: number): Promise<Taken>;
  forget(): Promise<void>;
  /** Queues events for all endpoints while no server runs. */
  queue(events: number): Promise<void>;
}

const QUEUED_AT_ONCE = 500;
const LOOK_EVERY_MS = 50;
const SUBJECTS = 500;
/** An event of an incident is about so large. */
const TEXT = "We are seeing elevated error rates for part of the requests. ".repeat(12);

export async function createWebhookSite(
  workspace: Workspace,
  { endpoints, hanging = 0 }: { endpoints: number; hanging?: number },
): Promise<WebhookSite> {
  const scopes = ["read:status", "write:components", "manage:webhooks"] as const;
  const page = await seed(workspace.path("data"), { keys: 1, scopes: [...scopes] });
  const { dataDir } = page;
  const [key = ""] = page.keys;
  const program = compileProgram(workspace, "webhook-receiver");
  const receiver = await startServer(workspace, [program, String(hanging)], { core: LOAD_CORE });
  const start = () =>
    startAllclear(workspace, dataDir, {
      core: SERVER_CORE,
      env: { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" },
    });
  const taken = async () => (await (await fetch(`${receiver.url}/taken`)).json()) as Taken;

  const server = await start();
  for (let index = 0; index < endpoints; index++) {
    const answer = await fetch(`${server.url}/api/v1/webhooks`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ url: `${receiver.url}/hook/${index}` }),
    });
    if (answer.status !== 201) throw new Error(`a webhook was refused: ${await answer.text()}`);
  }
  await server.stop();

  return {
    receiver,
    page,
    key,
    start,
    taken,
    async untilTaken(count, patienceMs) {
      const until = performance.now() + patienceMs;
      for (;;) {
        const found = await taken();
        if (found.count >= count) return found;
        if (performance.now() > until) throw new Error(`only ${found.count} of ${count} arrived`);
        await Bun.sleep(LOOK_EVERY_MS);
      }
    },
    async forget() {
      await (await fetch(`${receiver.url}/forget`, { method: "POST" })).bytes();
    },
    async queue(events) {
      const { ctx, close } = openData(dataDir);
      for (let from = 0; from < events; from += QUEUED_AT_ONCE) {
        const count = Math.min(QUEUED_AT_ONCE, events - from);
        await ctx.db.write((tx) => {
          for (let index = 0; index < count; index++) {
            const subjectId = `inc_bench_${index % SUBJECTS}`;
            const data = { id: subjectId, name: "Checkout is slow", text: TEXT };
            ctx.outbox.record(tx, { type: "incident.updated", pageId: null, subjectId, data });
          }
        });
      }
      close();
    },
  };
}
