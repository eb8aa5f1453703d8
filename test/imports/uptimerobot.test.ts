import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { redactText } from "../../src/base/redaction";
import { DAY_MS } from "../../src/base/time";
import { readUptimeRobot, type UptimeRobotOptions } from "../../src/imports/uptimerobot/read";
import { createImportSite } from "../support/import-site";
import { statuspageServer } from "../support/statuspage";
import { temporaryFolder } from "../support/temporary-folder";

const FIXTURES = join(import.meta.dir, "fixtures/uptimerobot");
const [FIRST, SECOND] = (await Promise.all(
  ["monitors-1.json", "monitors-2.json"].map((name) => Bun.file(join(FIXTURES, name)).json()),
)) as [Record<string, unknown>, Record<string, unknown>];

const ADDRESS = "https://api.uptimerobot.com/v3/";
const KEY = "u1-0123456789abcdef";
const NONE: UptimeRobotOptions = { apiKey: undefined, timeZone: undefined };

/** A server that answers as UptimeRobot does to this key. */
const robotServer = (refusals = 0) =>
  statuspageServer(({ pathname, searchParams }, nth) => {
    if (nth <= refusals) return { status: 429, headers: { "retry-after": "45" } };
    if (pathname !== "/v3/monitors") return { status: 404 };
    return { document: searchParams.get("cursor") === "3" ? SECOND : FIRST };
  });

const readByKey = (server = robotServer(), timeZone?: string) =>
  readUptimeRobot(ADDRESS, { apiKey: KEY, timeZone }, server.deps);

const readSaved = (name: string) =>
  readUptimeRobot(join(FIXTURES, name), NONE, statuspageServer(() => ({})).deps);

/** Reads a file with the given content. */
async function readFileWith(name: string, content: string | Uint8Array) {
  using folder = temporaryFolder();
  const file = join(folder.path, name);
  await Bun.write(file, content);
  return await readUptimeRobot(file, NONE, statuspageServer(() => ({})).deps);
}

describe("the API of UptimeRobot", () => {
  test("is read with the key by one answer after the other, and the key is sent to its address alone", async () => {
    const server = robotServer();
    const { monitors } = await readByKey(server);
    expect(monitors.map(({ foreign }) => foreign.id)).toEqual([
      "777810874",
      "2",
      "3",
      "4",
      "5",
      "6",
      "7",
      "8",
      "9",
    ]);
    expect(server.requests.map(({ url }) => url.href)).toEqual([
      "https://api.uptimerobot.com/v3/monitors",
      "https://api.uptimerobot.com/v3/monitors?cursor=3",
    ]);
    for (const { headers } of server.requests) {
      expect(headers["Authorization"]).toBe(`Bearer ${KEY}`);
    }
  });

  test("that asks to wait is asked again after that time", async () => {
    const server = robotServer(2);
    expect((await readByKey(server)).monitors).toHaveLength(9);
    expect(server.waits).toEqual([45_000, 45_000]);
    expect(server.lines[0]).toBe("api.uptimerobot.com asks to wait for 45 seconds.");
  });

  test.each([
    [{ status: 401 }, "does not accept the API key (status 401)"],
    [{ status: 500 }, "answered with status 500"],
    [{ status: 404 }, "answered no list of monitors"],
    [{ document: { stat: "fail" } }, "answered no list of monitors"],
    [{ document: { data: [], nextCursorId: 7 } }, "repeats its answers without an end"],
    [{ status: 302, headers: { location: "https://elsewhere.example/" } }, "with status 302"],
  ])("that answers %j is an error without the key", async (reply, message) => {
    const failed = await readByKey(statuspageServer(() => reply)).catch(({ message: it }) => it);
    expect(failed).toContain(message);
    expect(failed).not.toContain(KEY);
  });

  test.each([
    ["https://api.uptimerobot.com/", undefined, "needs --api-key-file"],
    ["monitors.csv", KEY, "the source is the address https://api.uptimerobot.com/v3/"],
    ["http://api.uptimerobot.com/v3/", KEY, "must begin with https://"],
  ])("%s with the key %p is refused before anything is sent", async (place, apiKey, message) => {
    const server = robotServer();
    const read = readUptimeRobot(place, { apiKey, timeZone: undefined }, server.deps);
    expect(read).rejects.toThrow(message);
    await read.catch(() => {});
    expect(server.requests).toEqual([]);
  });
});

describe("an API of UptimeRobot without an end", () => {
  /** A server whose answers each lead to another one. */
  const endlessServer = (rows: number, padding: string) =>
    statuspageServer((_url, nth) => {
      const data = Array.from({ length: rows }, (_, i) => ({ id: nth * rows + i }));
      return { document: { data, nextCursorId: nth, padding } };
    });

  test.each([
    ["with many monitors", endlessServer(3_000, ""), "5,000 is the most", 2],
    ["with large answers", endlessServer(1, "a".repeat(8_000_000)), "more than 64 MiB", 9],
  ])("%s is left as soon as there is more than is read", async (_name, server, message, count) => {
    const failed = await readByKey(server).catch((error: Error) => error.message);
    expect(failed).toContain(message);
    expect(server.requests).toHaveLength(count);
  });
});

describe("a monitor of UptimeRobot", () => {
  test("by HTTP keeps its request, sign-in, statuses, limits and tags", async () => {
    const [monitor] = (await readByKey()).monitors;
    expect(monitor).toMatchObject({
      foreign: { type: "monitor", id: "777810874", name: "Shop & checkout" },
      body: {
        type: "http",
        name: "Shop & checkout",
        tags: ["production"],
        paused: false,
        interval_seconds: 300,
        timeout_ms: 30_000,
        degraded_after_ms: 2_500,
        config: {
          url: "https://shop.example.com/health?a=1&b=2",
          method: "POST",
          body: "a=b+c",
          headers: {
            "x-key": "hidden-header",
            Authorization: `Basic ${btoa("monitor:hidden-password")}`,
            "Content-Type": "application/x-www-form-urlencoded",
          },
          follow_redirects: false,
          ip_family: "ipv4",
          certificate_warning_days: 14,
          assertions: [{ source: "status", op: "in", value: ["200-299", "301"] }],
        },
      },
      changes: [],
    });
  });

  test("with a keyword compares the body, with or without regard to case", async () => {
    const [, wanted, unwanted] = (await readByKey()).monitors;
    expect(wanted?.body).toMatchObject({
      paused: true,
      timeout_ms: 60_000,
      config: {
        verify_tls: false,
        assertions: [
          { source: "status", op: "in", value: ["200-399"] },
          { source: "body", op: "matches", value: String.raw`(?i)All \(good\)` },
        ],
      },
    });
    expect(wanted?.changes).toMatchObject([{ field: "timeout", from: 90, to: 60 }]);
    const { assertions } = (unwanted?.body.config ?? {}) as { assertions?: unknown[] };
    expect(assertions?.at(-1)).toEqual({ source: "body", op: "not_contains", value: "Error" });
    expect(unwanted?.changes).toMatchObject([{ field: "keywordCaseType" }]);
  });

  test("of every other type is converted, or kept with its settings", async () => {
    const { monitors, notRead } = await readByKey();
    const rest = monitors.slice(3).map(({ body, disabled, held }) => ({
      type: body.type,
      config: body.config,
      isDisabled: disabled !== undefined,
      isHeld: held !== undefined,
    }));
    const plain = { isDisabled: false, isHeld: false };
    expect(rest).toMatchObject([
      { type: "ping", config: { host: "router.example.com" }, ...plain },
      { type: "tcp", config: { host: "db.example.com", port: 5432 }, ...plain },
      { type: "push", config: { grace_seconds: 600 }, isDisabled: true, isHeld: false },
      {
        type: "dns",
        config: { name: "example.com", record_type: "MX", expected: ["10 mail.example.com"] },
        ...plain,
      },
      { type: "unsupported", config: { source: "uptimerobot", type: "udp" }, isHeld: true },
      { type: "http", isDisabled: true, isHeld: false },
    ]);
    expect(JSON.stringify(rest[4])).not.toContain("hidden-key");
    expect(monitors.at(-1)?.disabled).toContain("does not have its password");
    expect(notRead).toEqual(["futureField"]);
  });

  test("has maintenance windows, each with all its components, in the time zone of the account", async () => {
    const found = await readByKey(robotServer(), "Europe/Berlin");
    expect(found.schedules).toMatchObject([
      {
        foreign: { type: "maintenance_window", id: "71", name: "Weekly & short" },
        body: { cron: "5 9 * * TUE,SUN", duration_minutes: 120, time_zone: "Europe/Berlin" },
        components: ["component:777810874", "component:4"],
        changes: [],
      },
    ]);
    expect(found.maintenance).toMatchObject([
      {
        foreign: { id: "72" },
        body: {
          scheduled_for: "2030-12-15T00:00:00.000Z",
          scheduled_until: "2030-12-15T04:00:00.000Z",
        },
      },
    ]);
    expect(found.leftOut).toMatchObject([
      { foreign: { id: "73" }, reason: "Its days cannot be read." },
    ]);
    const [schedule] = (await readByKey()).schedules;
    expect(schedule?.changes).toMatchObject([{ field: "time", to: "09:05 UTC" }]);
    expect(readByKey(robotServer(), "Mars/Base")).rejects.toThrow("no time zone");
  });
});

test("a monitor of UptimeRobot with more statuses than an assertion has says so", async () => {
  const statuses = Array.from({ length: 60 }, (_, i) => `${200 + i}`);
  const monitor = { id: 1, type: "HTTP", url: "https://a.example" };
  const data = [{ ...monitor, successHttpResponseCodes: statuses }];
  const { monitors } = await readFileWith("saved.json", JSON.stringify({ data }));
  expect(monitors[0]?.changes).toMatchObject([
    { field: "successHttpResponseCodes", from: 60, to: 50 },
  ]);
});

describe("a hostile answer of UptimeRobot", () => {
  test.each(["constructor", "toString", "__proto__"])("with the type %s is held", async (type) => {
    const saved = JSON.stringify({ monitors: [{ id: 1, friendly_name: "a", url: "b", type }] });
    const { monitors } = await readFileWith("saved.json", saved);
    expect(monitors).toMatchObject([{ body: { config: { type: type.toLowerCase() } } }]);
    const table = await readFileWith("a.csv", `Friendly Name,URL,Type\na,b,${type}\n`);
    expect(table.monitors).toMatchObject([{ body: { type: "unsupported" } }]);
  });

  test("with a window of countless minutes leaves it out", async () => {
    const maintenanceWindows = ["once", "daily"].map((interval) => ({
      id: interval,
      interval,
      date: "2030-12-15",
      time: "01:00:00",
      duration: 1e300,
    }));
    const data = [{ id: 1, type: "PING", url: "a.example", maintenanceWindows }];
    const found = await readFileWith("saved.json", JSON.stringify({ data }));
    expect(found.leftOut).toMatchObject([
      { foreign: { id: "once" }, reason: "Its time or its duration cannot be read." },
      { foreign: { id: "daily" }, reason: "Its time or its duration cannot be read." },
    ]);
  });

  test("with long and unusual ids gets short ones, which stay the same", async () => {
    const ids = ["a".repeat(1_000_000), "\u001b[31m", "?token=hidden"];
    const data = ids.map((id) => ({ id, friendlyName: "a", type: "PING", url: "a.example" }));
    const read = async () => {
      const { monitors } = await readFileWith("saved.json", JSON.stringify({ data }));
      return monitors.map(({ foreign }) => foreign.id);
    };
    const first = await read();
    expect(new Set(first).size).toBe(3);
    for (const id of first) expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(await read()).toEqual(first);
  });
});

describe("files of UptimeRobot", () => {
  test("an answer of version 2 has the same monitors, with its numbers for types", async () => {
    const { monitors, notRead } = await readSaved("get-monitors.json");
    expect(monitors.map(({ body }) => body)).toMatchObject([
      {
        type: "http",
        paused: true,
        config: {
          digest: { username: "ada", password: "hidden-password" },
          assertions: [{ source: "status", op: "in", value: ["200", "403"] }],
        },
      },
      {
        type: "http",
        config: {
          assertions: [{}, { source: "body", op: "not_contains", value: "failure" }],
        },
      },
      { type: "tcp", config: { host: "mail.example.com", port: 25 } },
    ]);
    expect(notRead).toEqual([]);
  });

  test("a table is read by its columns, in which short intervals are minutes", async () => {
    const { monitors, notRead } = await readSaved("import.csv");
    expect(monitors.map(({ body }) => body)).toMatchObject([
      { type: "http", name: "example.com", interval_seconds: 300 },
      {
        type: "http",
        interval_seconds: 60,
        config: { assertions: [{}, { op: "not_contains", value: "Error" }] },
      },
      { type: "tcp", config: { host: "db.example.com", port: 5432 } },
      { type: "push", interval_seconds: 1440 },
    ]);
    expect(notRead).toEqual([]);
  });

  test("lines of a table without content are no monitors", async () => {
    const table = "Friendly Name,URL\nShop,https://shop.example.com\n,\n , \n";
    expect((await readFileWith("a.csv", table)).monitors).toHaveLength(1);
  });

  test("a table in UTF-16 with semicolons is the same one", async () => {
    const text = await Bun.file(join(FIXTURES, "import.csv")).text();
    const semicolons = `\ufeff${text.replaceAll(",", ";")}`;
    const utf16 = new Uint8Array(Buffer.from(semicolons, "utf16le"));
    expect((await readFileWith("a.csv", utf16)).monitors).toEqual(
      (await readSaved("import.csv")).monitors,
    );
  });

  test.each([
    ['{"stat":"fail","error":{"type":"invalid_parameter"}}', "request that failed"],
    ['{"monitors":1}', "no answer of UptimeRobot"],
    ["{", "no answer of UptimeRobot"],
    ["Owner,Street\na,b\n", "must name the columns"],
    ["", "is empty"],
    ['Friendly Name,URL\n"a,b\n', "the last quote is not closed"],
  ])("a file with %j is an error", async (content, message) => {
    expect(readFileWith("file", content)).rejects.toThrow(message);
  });
});

test("monitors of UptimeRobot are created on a private page, and a second import changes nothing", async () => {
  await using site = await createImportSite();
  const found = { ...(await readByKey()), kind: "uptimerobot" } as const;
  const report = await site.importFound(found);
  const verdictOf = (name: string) =>
    report.items.find(
      ({ foreign, target }) => foreign.name === name && target?.kind !== "component",
    )?.verdict;
  expect(
    ["Shop & checkout", "Front page", "Backup", "Game server", "Intranet"].map(verdictOf),
  ).toEqual(["created", "changed", "disabled", "held", "disabled"]);
  expect(["Weekly & short", "Move", "Strange"].map(verdictOf)).toEqual([
    "changed",
    "created",
    "not_moved",
  ]);
  const shown = JSON.stringify(report);
  expect(shown).not.toMatch(/hidden/);
  expect(redactText(shown)).toBe(shown);
  const pages = report.items.filter(({ target }) => target?.kind === "page");
  expect(pages).toMatchObject([{ foreign: { name: "UptimeRobot" }, verdict: "created" }]);
  const stored = site.monitors();
  expect(stored).toHaveLength(9);
  // The router is pinged by a program that may be missing here.
  const paused = stored.filter((row) => row.paused && row.name !== "Router");
  expect(paused.map(({ name }) => name).toSorted()).toEqual([
    "Backup",
    "Front page",
    "Game server",
    "Intranet",
  ]);
  // A single window that is still to come is the same one later, too.
  await site.app.clock.advance(DAY_MS);
  const later = robotServer();
  await later.clock.advance(DAY_MS);
  const again = await site.importFound({ ...(await readByKey(later)), kind: "uptimerobot" });
  expect(Object.keys(again.counts).toSorted()).toEqual(["not_moved", "unchanged"]);
});
