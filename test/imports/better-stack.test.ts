import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readBetterStack } from "../../src/imports/better-stack/read";
import { createImportSite } from "../support/import-site";
import { statuspageServer } from "../support/statuspage";
import { temporaryFolder } from "../support/temporary-folder";

const FIXTURES = join(import.meta.dir, "fixtures/better-stack");
const [FIRST, SECOND, HEARTBEATS] = await Promise.all(
  ["monitors-1.json", "monitors-2.json", "heartbeats.json"].map(
    (name) => Bun.file(join(FIXTURES, name)).json() as Promise<Record<string, unknown>>,
  ),
);

const ADDRESS = "https://uptime.betterstack.com";
const KEY = "0123456789abcdefTOKEN";

/** A server that answers as Better Stack does. */
const stackServer = (refusals = 0) =>
  statuspageServer(({ pathname, searchParams }, nth) => {
    if (nth <= refusals) return { status: 429, headers: { "retry-after": "7" } };
    if (pathname === "/api/v2/heartbeats") return { document: HEARTBEATS };
    if (pathname !== "/api/v2/monitors") return { status: 404 };
    return { document: searchParams.get("page") === "2" ? SECOND : FIRST };
  });

const readByKey = (server = stackServer()) =>
  readBetterStack(ADDRESS, { apiKey: KEY }, server.deps);

async function readFileWith(content: string) {
  using folder = temporaryFolder();
  const file = join(folder.path, "saved.json");
  await Bun.write(file, content);
  return await readBetterStack(file, { apiKey: undefined }, statuspageServer(() => ({})).deps);
}

describe("the API of Better Stack", () => {
  test("is read with the token, page by page, and the token is sent to its address alone", async () => {
    const server = stackServer();
    const { monitors } = await readByKey(server);
    expect(monitors).toHaveLength(10);
    expect(server.requests.map(({ url }) => url.href)).toEqual([
      `${ADDRESS}/api/v2/monitors`,
      `${ADDRESS}/api/v2/monitors?page=2`,
      `${ADDRESS}/api/v2/heartbeats`,
    ]);
    for (const { headers } of server.requests) {
      expect(headers["Authorization"]).toBe(`Bearer ${KEY}`);
    }
  });

  test("that asks to wait is asked again after that time", async () => {
    const server = stackServer(1);
    expect((await readByKey(server)).monitors).toHaveLength(10);
    expect(server.waits).toEqual([7_000]);
  });

  test.each([
    [{ status: 401 }, "does not accept the API key (status 401)"],
    [{ status: 403 }, "does not accept the API key (status 403)"],
    [{ status: 404 }, "answered no list"],
    [{ document: { data: {} } }, "answered no list"],
    [{ status: 307, headers: { location: "https://elsewhere.example/" } }, "with status 307"],
  ])("that answers %j is an error without the token", async (reply, message) => {
    const failed = await readByKey(statuspageServer(() => reply)).catch(({ message: it }) => it);
    expect(failed).toContain(message);
    expect(failed).not.toContain(KEY);
  });

  test.each([
    [4_000, "", "5,000 is the most", 2],
    [1, "a".repeat(8_000_000), "more than 64 MiB", 9],
  ])("with answers of %d rows without an end is left", async (rows, padding, message, count) => {
    const server = statuspageServer((_url, nth) => {
      const data = Array.from({ length: rows }, (_, i) => ({ id: nth * rows + i }));
      return { document: { data, pagination: { next: "https://a.example" }, padding } };
    });
    const failed = await readByKey(server).catch((error: Error) => error.message);
    expect(failed).toContain(message);
    expect(server.requests).toHaveLength(count);
  });

  test("that names a next page without end is read until nothing new comes", async () => {
    const server = statuspageServer(({ pathname }) => ({
      document: pathname.endsWith("/heartbeats") ? HEARTBEATS : FIRST,
    }));
    const { monitors } = await readByKey(server);
    expect([monitors.length, server.requests.length]).toEqual([4, 3]);
  });

  test.each([
    [ADDRESS, undefined, "needs --api-key-file"],
    ["saved.json", KEY, "the source is the address"],
    ["http://uptime.betterstack.com", KEY, "must begin with https://"],
  ])("%s with the token %p is refused before anything is sent", async (place, apiKey, message) => {
    const server = stackServer();
    const read = readBetterStack(place, { apiKey }, server.deps);
    expect(read).rejects.toThrow(message);
    await read.catch(() => {});
    expect(server.requests).toEqual([]);
  });
});

describe("a monitor of Better Stack", () => {
  test("with a keyword keeps its headers, warnings and waits", async () => {
    const [monitor] = (await readByKey()).monitors;
    expect(monitor).toMatchObject({
      foreign: { type: "monitor", id: "2", name: "Uptime homepage" },
      body: {
        type: "http",
        interval_seconds: 30,
        timeout_ms: 15_000,
        failure_threshold: 13,
        success_threshold: 1,
        retry_interval_seconds: 10,
        paused: false,
        config: {
          url: "https://uptime.example.com",
          headers: { "Content-Type": "application/xml", "X-Key": "hidden-header" },
          certificate_warning_days: 7,
          assertions: [{ source: "body", op: "contains", value: "We call you" }],
        },
      },
      changes: [{ field: "domain_expiration", from: 14, to: null }],
    });
  });

  test("with expected statuses keeps sign-in, body, proxy and what it does not verify", async () => {
    const [, monitor] = (await readByKey()).monitors;
    expect(monitor?.body).toMatchObject({
      type: "http",
      paused: true,
      success_threshold: 19,
      config: {
        method: "POST",
        body: "hidden-body",
        headers: { Authorization: `Basic ${btoa("monitor:hidden-password")}` },
        follow_redirects: false,
        verify_tls: false,
        ip_family: "ipv4",
        proxy: {
          url: "http://proxy.example.com:3128",
          username: "ada",
          password: "hidden-proxy",
        },
        assertions: [{ source: "status", op: "in", value: [200, 404] }],
      },
    });
  });

  test("of every other type is converted, or kept with its settings", async () => {
    const { monitors, notRead } = await readByKey();
    expect(monitors.slice(2, 9)).toMatchObject([
      { body: { type: "ping", timeout_ms: 1_000, config: { host: "router.example.com" } } },
      { body: { type: "tcp", timeout_ms: 5_000, config: { port: 5432 } } },
      { body: { type: "smtp", config: { port: 25 } }, changes: [{ field: "port", to: "25" }] },
      { body: { type: "tcp", config: { port: 993 } }, changes: [{ field: "monitor_type" }] },
      { body: { type: "dns", config: { name: "example.com", resolver: "1.1.1.1" } } },
      {
        body: { type: "unsupported", config: { type: "playwright" } },
        held: expect.stringContaining("cannot check"),
      },
      { body: { config: { assertions: [{ op: "not_contains", value: "Error" }] } } },
    ]);
    expect(notRead).toEqual(["monitor.future_field"]);
  });

  test("shares the maintenance windows of those with the same times, heartbeats included", async () => {
    const { schedules } = await readByKey();
    expect(schedules).toMatchObject([
      {
        body: { cron: "2 1 * * *", duration_minutes: 122, time_zone: "Europe/Amsterdam" },
        components: ["component:monitor-2", "component:monitor-3", "component:heartbeat-12345"],
      },
      // Across midnight it begins on Saturday alone, since Monday is none of its days.
      {
        body: { cron: "0 23 * * 6", duration_minutes: 150, time_zone: "UTC" },
        components: ["component:monitor-4"],
      },
    ]);
  });

  test.each([
    [{ maintenance_from: "soon" }, "times"],
    [{ maintenance_to: "01:02:00" }, "times"],
    [{ maintenance_timezone: "Mars" }, "time zone"],
    [{ maintenance_days: [] }, "no day"],
  ])("with a window of %j leaves it out and says why", async (fields, word) => {
    const [row] = (FIRST?.["data"] ?? []) as { attributes: object }[];
    const data = [{ ...row, attributes: { ...row?.attributes, ...fields } }];
    const found = await readFileWith(JSON.stringify({ data }));
    expect(found.schedules).toEqual([]);
    expect(found.leftOut).toMatchObject([{ reason: expect.stringContaining(word) }]);
  });
});

test("a heartbeat of Better Stack waits for its job to call this server", async () => {
  const heartbeat = (await readByKey()).monitors.at(-1);
  expect(heartbeat).toMatchObject({
    foreign: { type: "heartbeat", id: "12345" },
    body: { type: "push", interval_seconds: 10_800, config: { grace_seconds: 300 } },
    disabled: expect.stringContaining("Its job calls Better Stack"),
  });
  expect(JSON.stringify(heartbeat)).not.toContain("hidden");
});

test.each([
  ['{"data":1}', "no answer of Better Stack"],
  ["[]x", "is no JSON"],
  ['{"data":[{"type":"incident"}]}', "1 object that are no monitors"],
])("a file with %j is an error", async (content, message) => {
  expect(readFileWith(content)).rejects.toThrow(message);
});

test("monitors of Better Stack are created on a private page, and a second import changes nothing", async () => {
  await using site = await createImportSite();
  const found = { ...(await readByKey()), kind: "better-stack" } as const;
  const report = await site.importFound(found);
  const verdictOf = (name: string) =>
    report.items.find(
      ({ foreign, target }) => foreign.name === name && target?.kind !== "component",
    )?.verdict;
  const names = ["API", "Mail", "Checkout", "Testing heartbeat", "Maintenance window 01:02–03:04"];
  expect(names.map(verdictOf)).toEqual(["created", "changed", "held", "disabled", "created"]);
  expect(JSON.stringify(report)).not.toMatch(/hidden/);
  expect(site.monitors()).toHaveLength(10);
  const again = await site.importFound(found);
  expect(Object.keys(again.counts)).toEqual(["unchanged"]);
});
