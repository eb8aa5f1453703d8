import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import { type Connection, openConnection, requestText } from "../support/connection";
import type { Figure } from "../support/figure";
import { type HostileBody, hostileBodies, type JsonSchema } from "../support/hostile-bodies";
import { mainThreadMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const REACH_MS = 20;
/** A body that costs more than half of the reach is sent so often; its least cost counts. */
const TRIES = 5;
const SHOWN = 5;

/** Fields for which a body is refused although its schema passes it, by the operation. */
const SECOND_FAULTS: Record<string, object> = {
  createIncident: { page: "no-such-page" },
  updateIncident: { started_at: "9999-01-01T00:00:00Z" },
  addIncidentUpdate: { display_at: "9999-01-01T00:00:00Z" },
  editIncidentUpdate: { display_at: "9999-01-01T00:00:00Z" },
  planMaintenance: { page: "no-such-page" },
  updateMaintenance: { components: ["cmp_none"] },
  addMaintenanceUpdate: { display_at: "9999-01-01T00:00:00Z" },
  createMonitor: { component_ids: ["cmp_none"] },
  updateMonitor: { component_ids: ["cmp_none"] },
  createWebhook: { page: "no-such-page" },
  updateWebhook: { page: "no-such-page" },
};

/** As many unknown fields as a body that is parsed may have. */
const UNKNOWN_FIELDS = Object.fromEntries(
  Array.from({ length: 23_800 }, (_, index) => [index.toString(36).padStart(6, "k"), 1]),
);

/** Hostile bodies in places that the schema of an operation only describes, by the operation. */
const FURTHER_BODIES: Record<string, HostileBody[]> = {
  updateMonitor: [
    {
      what: "body.config.assertions[]: valid fields and unknown ones",
      text: JSON.stringify({
        config: {
          assertions: [{ source: "body", op: "eq", value: "x", ...UNKNOWN_FIELDS }],
        },
      }),
    },
  ],
};

interface Operation {
  id: string;
  method: string;
  path: string;
  schema: JsonSchema;
}

interface FormNotice {
  what: string;
  ms: number;
  bytes: number;
}

/** Measures the processor time of refusing hostile bodies of up to 256 KiB, for each operation with a body. */
export async function measureRefusedBodies(workspace: Workspace): Promise<Figure[]> {
  const seeded = await seed(workspace.path("data"), { keys: 1, scopes: [...SCOPE_NAMES] });
  const server = await startAllclear(workspace, seeded.dataDir);
  const connection = await openConnection(server.url);
  const headers = { Authorization: `Bearer ${seeded.keys[0]}` };
  const send = (method: string, path: string, text: string) =>
    connection.send(requestText(server.url, path, { headers, json: { method, text } }));
  try {
    const document = await readDocument(connection, server.url);
    const ids = await createTargets(send, seeded.componentIds[0] ?? "");
    const resolve = (reference: string) =>
      reference
        .slice(2)
        .split("/")
        .reduce((part, name) => part[name] as JsonSchema, document);
    const rejections: FormNotice[] = [];
    for (const { id, method, path, schema } of operationsOf(document)) {
      const second = SECOND_FAULTS[id];
      const faults = [{ "not a field": 1 }, ...(second ? [second] : [])];
      const further = FURTHER_BODIES[id] ?? [];
      for (const { what, text } of chain(further, hostileBodies(schema, resolve, faults))) {
        for (const target of targetsOf(path, ids)) {
          let ms = Number.POSITIVE_INFINITY;
          for (let round = 0; round < TRIES && ms > REACH_MS / 2; round++) {
            const since = mainThreadMs(server.pid);
            const { status } = await send(method, target, text).catch((error: unknown) => {
              throw new Error(`${id} was not answered: ${what}`, { cause: error });
            });
            ms = Math.min(ms, mainThreadMs(server.pid) - since);
            if (status < 400 || status >= 500) throw new Error(`${id} answered ${status}: ${what}`);
          }
          rejections.push({ what: `${id}, ${what}`, ms, bytes: Buffer.byteLength(text) });
        }
      }
    }
    return present(rejections);
  } finally {
    connection.close();
    await server.stop();
  }
}

/** Yields bodies one by one: all of an operation at once would fill the memory. */
function* chain(...sources: Iterable<HostileBody>[]): Generator<HostileBody> {
  for (const source of sources) yield* source;
}

function present(rejections: FormNotice[]): Figure[] {
  const worst = rejections.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
  const list = worst.map(
    ({ what, ms, bytes }) => `${ms.toFixed(1)} ms (${what}; ${Math.round(bytes / 1024)} KiB)`,
  );
  return [
    {
      what: `${rejections.length.toLocaleString("en-US")} hostile bodies of up to 256 KiB, the server's time on its processor until one is refused`,
      target: `${REACH_MS} ms, the worst`,
      measured: list.join("; "),
      isReached: (worst[0]?.ms ?? 0) <= REACH_MS,
      numbers: { "slowest in ms": worst[0]?.ms ?? 0 },
    },
  ];
}

async function readDocument(connection: Connection, url: string): Promise<JsonSchema> {
  const { body } = await connection.send(requestText(url, "/openapi.json"));
  return JSON.parse(body.toString()) as JsonSchema;
}

function operationsOf(document: JsonSchema): Operation[] {
  const paths = document["paths"] as Record<string, Record<string, JsonSchema>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const body = requestBody as { content: Record<string, { schema: JsonSchema }> } | undefined;
      const schema = body?.content["application/json"]?.schema;
      return schema
        ? [{ id: String(operationId), method: method.toUpperCase(), path, schema }]
        : [];
    }),
  );
}

type Send = (method: string, path: string, text: string) => ReturnType<Connection["send"]>;

/** Creates the resources that paths of operations name. Returns their ids by the first part of a path. */
async function createTargets(send: Send, componentId: string): Promise<Record<string, string[]>> {
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await send("POST", `/api/v1/${path}`, JSON.stringify(body));
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}`);
    return (JSON.parse(answer.body.toString()) as { id: string }).id;
  };
  const text = { page: "acme", name: "Bench", body: "Bench" };
  const times = {
    scheduled_for: "2990-01-01T00:00:00Z",
    scheduled_until: "2990-01-01T01:00:00Z",
  };
  const incidents = await create("incidents", text);
  return {
    components: [componentId],
    incidents: [incidents],
    updates: [await create(`incidents/${incidents}/updates`, { body: "Bench" })],
    maintenance: [await create("maintenance", { ...text, ...times, components: [] })],
    monitors: [
      await create("monitors", { type: "push", name: "Bench", paused: true }),
      await create("monitors", {
        type: "http",
        name: "Bench",
        paused: true,
        config: { url: "https://target.example/" },
      }),
    ],
    webhooks: [await create("webhooks", { url: "https://receiver.example", enabled: false })],
  };
}

/** Returns the paths at which an operation is measured. */
function targetsOf(path: string, ids: Record<string, string[]>): string[] {
  if (!path.includes("{id}")) return [path];
  const area = path.split("/")[3] ?? "";
  return (ids[area] ?? []).map((id) =>
    path.replace("{id}", id).replace("{update_id}", ids["updates"]?.[0] ?? ""),
  );
}
