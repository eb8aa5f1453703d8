import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { MonitorConfig } from "../../../../src/features/monitors/probes";
import type { ProbeContext, ProbeResult } from "../../../../src/features/monitors/monitoring";
import { createTestEgress, patience } from "../../../support/egress";
import { upstreamProbe } from "../../../../src/features/monitors/probes/upstream";
import { AssertionEvaluator } from "../../../../src/features/monitors/assertions/evaluator";

/** Document of Statuspage with these components. */
function documentOf(components: Record<string, string>, indicator = "none"): object {
  return {
    page: { id: "kctbh9vrtdwd", name: "Provider", url: "https://status.provider.example" },
    components: Object.entries(components).map(([name, status], index) => ({
      id: `c${index}`,
      name,
      status,
      group: false,
    })),
    incidents: [],
    scheduled_maintenances: [],
    status: { indicator, description: `Status is ${indicator}` },
  };
}

/** Answer of the page to the next requests, and the requests that it got. */
let answer: (request: Request) => Response;
const requests: { url: string; headers: Headers }[] = [];
let server: Bun.Server<undefined>;
let context: ProbeContext;

beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      // The runtime empties a request once it is answered.
      requests.push({ url: request.url, headers: new Headers(request.headers) });
      return answer(request);
    },
  });
  const { egress, clock } = await createTestEgress({ localhost: [["127.0.0.1"]] });
  context = { egress, clock, evaluator: new AssertionEvaluator(clock), signal: patience() };
});

afterAll(() => server.stop(true));

let pages = 0;

/** Checks a page of its own, or the one at a path. */
function check(config: MonitorConfig = {}, path = `/page-${(pages += 1)}`): Promise<ProbeResult> {
  const url = `http://localhost:${server.port}${path}`;
  return upstreamProbe.run({ url, ...config }, context);
}

const says =
  (document: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json(document, { headers });

describe("documents as ten providers write them", () => {
  test.each([
    ["bitbucket", "failed", ["Git via SSH"], "failed", "Git via SSH: major outage."],
    ["cloudflare", "degraded", ["Authoritative DNS"], "ok", null],
    ["digitalocean", "failed", ["Spaces"], "ok", null],
    ["discord", "ok", ["Voice", "api"], "ok", null],
    ["github", "degraded", ["Actions"], "failed", "Actions: partial outage."],
    ["openai", "failed", ["Embeddings"], "ok", null],
    [
      "reddit",
      "failed",
      ["Vote Processing", "Mobile Web", "Desktop Web"],
      "failed",
      "Mobile Web, Desktop Web: partial outage.",
    ],
    [
      "twilio",
      "degraded",
      ["SMS, Côte d'Ivoire"],
      "degraded",
      "SMS, Côte d'Ivoire: degraded performance.",
    ],
    ["vercel", "ok", ["Edge Network"], "ok", null],
    ["zoom", "ok", ["Zoom Meetings"], "ok", "Zoom Meetings: under maintenance."],
  ] as const)(
    "the whole page of %s is %s, and the components %p are %s",
    async (name, whole, components, named, message) => {
      const document = Bun.file(join(import.meta.dir, "fixtures", `${name}.json`));
      answer = () => new Response(document);
      const levelOf = ({ outcome, isDegraded }: ProbeResult) => (isDegraded ? "degraded" : outcome);
      expect(levelOf(await check())).toBe(whole);
      const result = await check({ components: [...components] });
      expect([levelOf(result), result.message]).toEqual([named, message]);
      const { components: all } = await document.json();
      const names = all.map((each: { name: string }) => each.name.trim());
      expect(result.offered).toEqual(names);
      // By their ids as well.
      const ids = components.map(
        (wanted) =>
          all.find(
            (each: { name: string }) => each.name.trim().toLowerCase() === wanted.toLowerCase(),
          ).id,
      );
      expect(levelOf(await check({ components: ids }))).toBe(named);
    },
  );

  test("of components with the same name in several groups the worst counts, and an id chooses one", async () => {
    const document = Bun.file(join(import.meta.dir, "fixtures", "digitalocean.json"));
    answer = () => new Response(document);
    expect((await check({ components: ["AMS3"] })).outcome).toBe("failed");
    const { components } = await document.json();
    const last = components.findLast(({ name }: { name: string }) => name === "AMS3");
    expect((await check({ components: [last.id] })).outcome).toBe("ok");
  });
});

describe("a status page of a provider", () => {
  test.each([
    ["operational", "ok", false],
    ["under_maintenance", "ok", false],
    ["degraded_performance", "ok", true],
    ["partial_outage", "failed", false],
    ["major_outage", "failed", false],
  ] as const)(
    "a named component that is %s gives %s, degraded: %p",
    async (status, outcome, isDegraded) => {
      answer = says(documentOf({ DNS: status, API: "operational", Other: "major_outage" }));
      const result = await check({ components: ["API", " dns "] });
      expect(result).toMatchObject({ outcome, isDegraded });
      const message = status === "operational" ? null : `DNS: ${status.replaceAll("_", " ")}.`;
      expect(result.message).toBe(message);
      expect(result.latencyMs).toBeNull();
    },
  );

  test.each([
    ["none", "ok", false],
    ["maintenance", "ok", false],
    ["minor", "ok", true],
    ["major", "failed", false],
    ["critical", "failed", false],
    ["on fire", "unknown", undefined],
  ] as const)("without names the indicator %s gives %s", async (indicator, outcome, isDegraded) => {
    answer = says(documentOf({ API: "major_outage" }, indicator));
    const result = await check();
    expect(result.outcome).toBe(outcome);
    expect(result.isDegraded).toBe(isDegraded);
  });

  test("a component is named by its id, and the worst of those with the same name counts", async () => {
    const document = {
      ...documentOf({ A: "operational" }),
      components: [
        { id: "c1", name: "Web", status: "operational" },
        { id: "c2", name: "Web", status: "partial_outage" },
        { id: "c3", name: "Mail", status: "operational" },
      ],
    };
    answer = says(document);
    expect((await check({ components: ["c3"] })).outcome).toBe("ok");
    expect((await check({ components: ["Web"] })).outcome).toBe("failed");
    expect((await check({ components: ["c1"] })).offered).toEqual(["Web", "Web", "Mail"]);
  });

  test("what is not known of the page has no data, and never fails", async () => {
    const good = documentOf({ API: "operational" });
    for (const [make, config, message] of [
      [says(good), { components: ["Search"] }, "The page has no component “Search”."],
      [
        says(documentOf({ API: "sideways" })),
        { components: ["API"] },
        "has a status that is not known",
      ],
      [says(good), { format: "allclear" }, "not one of Allclear"],
      [says({ hello: 1 }), {}, "no JSON of Statuspage"],
      [says([]), {}, "no JSON of Statuspage"],
      [() => new Response("<html>"), {}, "no JSON of Statuspage"],
      [() => new Response("x".repeat(5_000_000)), {}, "longer than a check reads"],
      [() => new Response(null, { status: 503 }), {}, "status 503"],
      [() => new Response(null, { status: 304 }), {}, "status 304"],
      [() => Response.redirect("/again", 302), {}, "redirects more than 5 times"],
      [() => Response.redirect("ftp://localhost/", 302), {}, "no JSON of Statuspage"],
    ] as const) {
      answer = make;
      const result = await check(config);
      expect(result.outcome).toBe("unknown");
      expect(result.message).toContain(message);
    }
    const url = "http://localhost:1/";
    expect((await upstreamProbe.run({ url }, context)).outcome).toBe("unknown");
  });

  test("the document is below the address of the page, and an address of JSON is asked as it is", async () => {
    answer = says(documentOf({ API: "operational" }));
    for (const [path, asked] of [
      ["/", "/api/v2/summary.json"],
      ["/status/acme", "/status/acme/api/v2/summary.json"],
      ["/status/acme/", "/status/acme/api/v2/summary.json"],
      ["/status/acme?key=1", "/status/acme/api/v2/summary.json?key=1"],
      ["/feeds/own.json?page=1", "/feeds/own.json?page=1"],
    ] as const) {
      expect((await check({}, path)).outcome).toBe("ok");
      const { pathname, search } = new URL(requests.at(-1)?.url ?? "");
      expect(pathname + search).toBe(asked);
    }
  });

  test("a hostile page is read as far as is kept, and texts of it are one line", async () => {
    const good = { id: "c1", name: "API", status: "operational" };
    const page = (...components: unknown[]) => ({ ...documentOf({}), components });
    const odd = [
      null,
      7,
      { id: { toString: 1 }, name: "Odd", status: "operational" },
      { id: "c2", name: " A\u0007P\nI\ud800 ", status: "major_outage" },
    ];
    answer = says(page(good, ...odd));
    expect(await check({ components: ["API"] })).toMatchObject({ outcome: "ok" });
    expect((await check({ components: ["Odd"] })).outcome).toBe("ok");
    expect((await check({ components: ["c2"] })).message).toBe("AP I\ufffd: major outage.");
    const many = Array.from({ length: 20_000 }, (_, index) => ({ ...good, name: `N${index}` }));
    answer = says(page(good, ...many));
    const { outcome, offered } = await check({ components: ["API"] });
    expect([outcome, offered?.length]).toEqual(["ok", 5_000]);
    for (const body of [
      "[".repeat(1_000_000),
      JSON.stringify({ ...documentOf({}), more: Array(250_000).fill([]) }),
      JSON.stringify({ ...documentOf({}), more: Array(100_000).fill({ a: 1, b: 2, c: 3 }) }),
    ]) {
      answer = () => new Response(body);
      expect((await check()).outcome).toBe("unknown");
    }
  });

  test("a page that sends to an address that monitors must not ask has no data", async () => {
    answer = () => Response.redirect("http://169.254.169.254/latest", 302);
    const result = await check();
    expect(result.outcome).toBe("unknown");
    expect(result.message).toContain("link-local");
    const count = requests.length;
    answer = (request) =>
      request.url.includes("moved")
        ? Response.json(documentOf({ API: "operational" }))
        : Response.redirect("/moved", 302);
    expect((await check({ components: ["API"] })).outcome).toBe("ok");
    expect(requests.length).toBe(count + 2);
  });

  test("a page that has not changed is not sent again, and its last status goes on", async () => {
    const path = "/conditional";
    answer = says(documentOf({ API: "major_outage" }), {
      etag: '"v1"',
      "last-modified": "Tue, 10 Mar 2026 12:00:00 GMT",
    });
    expect((await check({ components: ["API"] }, path)).outcome).toBe("failed");
    answer = () => new Response(null, { status: 304 });
    expect((await check({ components: ["API"] }, path)).outcome).toBe("failed");
    const [one, other] = ["a".repeat(24), "b".repeat(24)];
    answer = () =>
      new Response(null, { status: 304, headers: { "Allclear-Via": `${one}, ${other}` } });
    expect((await check({ components: ["API"] }, path)).via).toEqual([one, other]);
    const headers = requests.at(-1)?.headers ?? new Headers();
    expect(headers.get("if-none-match")).toBe('"v1"');
    expect(headers.get("if-modified-since")).toBe("Tue, 10 Mar 2026 12:00:00 GMT");
  });
});
