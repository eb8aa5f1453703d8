import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readConditions } from "../../src/imports/gatus/conditions";
import { readGatus } from "../../src/imports/gatus/read";
import { evaluate, type Subject } from "../../src/features/monitors/assertions/evaluate";
import { createTestClock } from "../support/clock";
import { startGatus } from "../support/gatus-process";
import { importPast } from "../support/past-source";
import { serveApp } from "../support/served-app";
import { temporaryFolder } from "../support/temporary-folder";

/** Path of an installed Gatus. */
const BINARY = process.env["GATUS_BINARY"] ?? "";
if (BINARY === "") console.warn("Skipped: no Gatus is installed (GATUS_BINARY).");

const TIMEOUT_MS = 600_000;

/** Time after which the checked server responds. */
const DELAY_MS = 40;

/** Responses on which conditions are compared. */
const RESPONSES: Readonly<Record<string, { status: number; body: string }>> = {
  object: {
    status: 200,
    body: JSON.stringify({
      state: "UP",
      n: 5,
      load: 0.7,
      list: [1, 2, 3],
      none: null,
      flag: true,
      text: "12",
      long: "one two three",
      users: [{ id: 7, name: "anna/bert" }],
      deep: { a: { "b-c": "x" } },
      matrix: [[1, 2], [3]],
    }),
  },
  list: { status: 200, body: '[{"id":1,"name":"a"},{"id":2,"name":"b"}]' },
  down: { status: 503, body: "DOWN\n" },
  padded: { status: 200, body: " \n OK  \n" },
  none: { status: 204, body: "" },
  page: { status: 404, body: "<h1>Not/found</h1>\n<p>Try a.b*c [later]</p>" },
};

const STATUS = ["200", "0xC8", "any(200, 204)", "any(503)", "pat(2*)", "pat(?0[03])", "204", "x"];
const BODIES = ["UP", "DOWN", "OK", "any(OK, DOWN)", "pat(*OWN*)", "pat(D*N)", "pat(*</h1>*)"];
const MORE_BODIES = ["pat(*)", "pat(D?W[M-O])", "pat(<h1>*</p>)", "pat(*b\\*c*)", "pat([^D]*)"];
const PATHS = ["state", "n", "flag", "text", "users[0].id", "users[0].name", "deep.a.b-c"];
const MORE_PATHS = ["matrix[0][1]", "missing", "users[3].id", "state.more"];
const VALUES = ["UP", "5", "7", "true", "12", "x", "2", "any(UP, 5)", "pat(*nna*)", "pat(a*t)"];
const BOTH = ["==", "!="];
const ORDERS = ["<", "<=", ">", ">="];

/** Conditions without a reported difference are compared as Gatus does. */
const CONDITIONS = [
  ...STATUS.flatMap((value) => BOTH.map((op) => `[STATUS] ${op} ${value}`)),
  ...ORDERS.flatMap((op) => [`[STATUS] ${op} 204`, `300 ${op} [STATUS]`, `[STATUS] ${op} 0`]),
  ...[...BODIES, ...MORE_BODIES].flatMap((value) => BOTH.map((op) => `[BODY] ${op} ${value}`)),
  ...[...PATHS, ...MORE_PATHS].flatMap((path) =>
    VALUES.flatMap((value) => BOTH.map((op) => `[BODY].${path} ${op} ${value}`)),
  ),
  ...ORDERS.flatMap((op) => [`[BODY].n ${op} 5`, `4 ${op} [BODY].n`, `[BODY].text ${op} 12`]),
  ...[...BOTH, ...ORDERS].flatMap((op) => [
    `len([BODY].list) ${op} 3`,
    `len([BODY].users) ${op} 0`,
    `len([BODY].state) ${op} 2`,
    `4 ${op} len([BODY].long)`,
  ]),
  ...["state", "users[0].id", "users[1]", "missing", "deep.a", "deep.b"].flatMap((path) =>
    BOTH.map((op) => `has([BODY].${path}) ${op} true`),
  ),
  "has([BODY]) == true",
  "has([BODY]) == false",
  "[BODY][0].id == 1",
  "[BODY][1].name == b",
  "[BODY][2].name == b",
  "has([BODY][1].name) == true",
  "[CONNECTED] == true",
  "[RESPONSE_TIME] < 30s",
  "[RESPONSE_TIME] > 30s",
];

/** Lists the conditions for a response. Paths are for JSON alone: Gatus ends itself where a list has no such path. */
function conditionsFor(name: string): string[] {
  if (name === "object") return CONDITIONS.filter((each) => !each.includes("[BODY]["));
  return CONDITIONS.filter(
    (each) => !each.includes("[BODY].") && (name === "list" || !each.includes("[BODY][")),
  );
}

/** Returns true if all assertions of a condition hold on a response. */
function holds(condition: string, { status, body }: { status: number; body: string }): boolean {
  const subject: Subject = {
    status,
    headers: new Map(),
    latencyMs: 5,
    certificateDays: null,
    body: { bytes: new TextEncoder().encode(body), isTruncated: false },
  };
  const { assertions } = readConditions([condition], "http");
  const progress = evaluate(assertions, subject);
  return "failure" in progress && progress.failure === null;
}

/** Colours of values in badges. */
const COLOURS = /#(?:40cc11|94cc11|ccd311|ccb311|cc8111|c7130a)/gi;

interface Status {
  name: string;
  key: string;
  group?: string;
  results: { success: boolean; conditionResults?: { success: boolean }[] }[];
}

/** Reads the statuses of a Gatus, or of what answers as one, until all of these keys have some results. */
async function readStatuses(
  url: string,
  keys: readonly string[],
  count: number,
): Promise<Status[]> {
  for (let attempt = 0; ; attempt += 1) {
    // Gatus answers the same query from memory for ten seconds.
    const pageSize = 100 - (attempt % 50);
    const answer = await fetch(`${url}/api/v1/endpoints/statuses?pageSize=${pageSize}`);
    const statuses = (await answer.json()) as Status[] | null;
    const isDone = keys.every((key) =>
      statuses?.some((each) => each.key === key && each.results.length >= count),
    );
    if (statuses && isDone) return statuses;
    await Bun.sleep(200);
  }
}

/** Starts a Gatus with a configuration, and a server whose paths are the responses. */
async function start(folder: string, configOf: (origin: string) => object) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await Bun.sleep(DELAY_MS);
      const { status, body } = RESPONSES[new URL(request.url).pathname.slice(1)] ?? {
        status: 404,
        body: "",
      };
      return new Response(status === 204 ? null : body, { status });
    },
  });
  const path = join(folder, "config.yaml");
  const web = { address: "127.0.0.1", port: "${GATUS_PORT}" };
  // JSON is YAML too.
  const text = JSON.stringify({ web, ...configOf(`http://127.0.0.1:${server.port}`) });
  await Bun.write(path, text.replaceAll('"${GATUS_PORT}"', "${GATUS_PORT}"));
  const gatus = await startGatus(BINARY, path);
  return {
    path,
    gatus,
    async [Symbol.asyncDispose]() {
      await gatus[Symbol.asyncDispose]();
      await server.stop(true);
    },
  };
}

describe.skipIf(BINARY === "")("the real Gatus", () => {
  test(
    "judges conditions as their assertions do",
    async () => {
      using folder = temporaryFolder();
      const names = Object.keys(RESPONSES);
      await using running = await start(folder.path, (origin) => ({
        endpoints: names.map((name) => ({
          name,
          url: `${origin}/${name}`,
          interval: "1s",
          conditions: conditionsFor(name),
        })),
      }));
      const keys = names.map((name) => `_${name}`);
      const statuses = await readStatuses(running.gatus.url, keys, 1);
      let compared = 0;
      const different: string[] = [];
      for (const { name, results } of statuses) {
        const found = results[0]?.conditionResults ?? [];
        const conditions = conditionsFor(name);
        expect(found).toHaveLength(conditions.length);
        for (const [index, condition] of conditions.entries()) {
          const { disabled, changes } = readConditions([condition], "http");
          if (disabled.length > 0 || changes.length > 0) continue;
          const response = RESPONSES[name] ?? { status: 0, body: "" };
          const verdict = found[index]?.success ?? false;
          compared += 1;
          if (holds(condition, response) !== verdict) {
            different.push(`${name}: ${condition} is ${verdict}`);
          }
        }
      }
      expect(different).toEqual([]);
      expect(compared).toBeGreaterThan(500);
    },
    TIMEOUT_MS,
  );

  test(
    "is told the same by the page that its configuration and history became",
    async () => {
      using folder = temporaryFolder();
      const database = join(folder.path, "gatus.db");
      await using running = await start(folder.path, (origin) => ({
        storage: { type: "sqlite", path: database },
        // Each is checked once, so that its figures stay.
        endpoints: [
          { name: "Shop", group: "Core", path: "object", status: 200 },
          { name: "Mail & more", group: "", path: "down", status: 200 },
          { name: "Page", group: "a/b", path: "page", status: 404 },
        ].map(({ name, group, path, status }) => ({
          name,
          group,
          url: `${origin}/${path}`,
          interval: "1h",
          conditions: [`[STATUS] == ${status}`],
        })),
        "external-endpoints": ["job", "late job"].map((name) => ({
          name,
          group: "Core",
          token: "hunter22",
        })),
        announcements: [{ timestamp: "2026-01-01T00:00:00Z", type: "outage", message: "Down." }],
      }));
      const { url } = running.gatus;
      const report = async (key: string, success: boolean) => {
        const external = `${url}/api/v1/endpoints/${key}/external?success=${success}&duration=2s`;
        const headers = { Authorization: "Bearer hunter22" };
        expect((await fetch(external, { method: "POST", headers })).status).toBe(200);
      };
      for (let index = 0; index < 3; index += 1) {
        await report("core_job", true);
        await report("core_late-job", false);
      }
      const keys = ["_mail---more", "a-b_page", "core_job", "core_late-job", "core_shop"];
      await readStatuses(url, keys, 1);
      // Reads a database that is still written to.
      const found = await readGatus(running.path, {
        history: database,
        envFile: undefined,
        environment: { GATUS_PORT: "1" },
        allowsUnset: false,
        readsNamedFiles: true,
      });
      using _history = found.history;
      await using served = await serveApp({ clock: createTestClock(Date.now() + 1_000) });
      await importPast(served.app, found);
      const base = `${served.origin}/compat/gatus`;
      const theirs = await readStatuses(url, keys, 1);
      const ours = await readStatuses(base, keys, 1);
      const named = (list: Status[]) => list.map(({ name, key, group }) => ({ name, key, group }));
      expect(named(ours)).toEqual(named(theirs));
      for (const { key, results } of ours) {
        const original = theirs.find((each) => each.key === key)?.results ?? [];
        const success = (all: Status["results"]) => all.map((each) => each.success);
        expect([key, success(results)]).toEqual([key, success(original)]);
        const texts = async (root: string, path: string) => {
          const answer = await fetch(`${root}/api/v1/endpoints/${key}/${path}`);
          return `${answer.status} ${answer.headers.get("content-type")?.split(";")[0]} ${await answer.text()}`;
        };
        const shields = "health/badge.shields";
        expect(JSON.parse((await texts(base, shields)).replace(/^\S+ \S+ /, ""))).toEqual(
          JSON.parse((await texts(url, shields)).replace(/^\S+ \S+ /, "")),
        );
        for (const duration of ["1h", "24h", "7d", "30d"]) {
          const path = `uptimes/${duration}`;
          expect([key, await texts(base, path)]).toEqual([key, await texts(url, path)]);
          const words = async (root: string) => {
            const svg = await texts(root, `${path}/badge.svg`);
            const shown = [...svg.matchAll(/>([^<>]+)</g)].map(([, word = ""]) => word.trim());
            return [...shown, ...(svg.match(COLOURS) ?? [])].filter(Boolean);
          };
          expect(await words(base)).toEqual(expect.arrayContaining(await words(url)));
        }
        const averages = await Promise.all(
          [base, url].map(async (root) =>
            Number((await texts(root, "response-times/24h")).split(" ")[2]),
          ),
        );
        // Durations that jobs report are shown to nobody here.
        if (!key.endsWith("job")) {
          const [ourMs = Number.NaN, theirMs = Number.NaN] = averages;
          expect(ourMs).toBeGreaterThanOrEqual(DELAY_MS - 1);
          expect(Math.abs(ourMs - theirMs)).toBeLessThanOrEqual(1);
        }
        expect(await texts(base, "uptimes/2h")).toBe(await texts(url, "uptimes/2h"));
      }
      const configs = await Promise.all(
        [base, url].map(async (root) => (await fetch(`${root}/api/v1/config`)).json()),
      );
      const [ourConfig, theirConfig] = configs as { announcements: object[] }[];
      expect(Object.keys(ourConfig ?? {}).sort()).toEqual(Object.keys(theirConfig ?? {}).sort());
      expect(ourConfig?.announcements).toMatchObject([
        { type: "outage", message: "Outage: Down." },
      ]);
      expect(theirConfig?.announcements).toMatchObject([{ type: "outage", message: "Down." }]);
    },
    TIMEOUT_MS,
  );

  test(
    "lists the components of a page as those of a remote instance",
    async () => {
      using folder = temporaryFolder();
      await using served = await serveApp({ clock: createTestClock(Date.now()) });
      const config = join(folder.path, "ours.yaml");
      await Bun.write(
        config,
        JSON.stringify({
          endpoints: ["a", "b"].map((name) => ({
            name,
            group: "Group",
            url: `https://${name}.example.com`,
            conditions: ["[STATUS] == 200"],
          })),
        }),
      );
      const found = await readGatus(config, {
        history: undefined,
        envFile: undefined,
        environment: {},
        allowsUnset: false,
        readsNamedFiles: false,
      });
      await importPast(served.app, found);
      await using running = await start(folder.path, (origin) => ({
        remote: {
          instances: [
            {
              "endpoint-prefix": "remote-",
              url: `${served.origin}/compat/gatus/api/v1/endpoints/statuses`,
            },
          ],
        },
        endpoints: [{ name: "own", url: `${origin}/list`, conditions: ["[STATUS] == 200"] }],
      }));
      const keys = ["_own", "group_a", "group_b"];
      const statuses = await readStatuses(running.gatus.url, keys, 1);
      expect(statuses.map(({ name, group, key }) => [name, group, key])).toEqual([
        ["own", undefined, "_own"],
        ["remote-a", "Group", "group_a"],
        ["remote-b", "Group", "group_b"],
      ]);
      expect(statuses.map(({ results }) => results.at(-1)?.success)).toEqual([true, true, true]);
    },
    TIMEOUT_MS,
  );
});
