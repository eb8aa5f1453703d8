import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createEgress } from "../../src/egress/egress";
import { parseNetworks } from "../../src/base/config/parse";
import { readStatuspage } from "../../src/imports/statuspage/read";
import { createTestClock } from "../support/clock";
import { createImportSite } from "../support/import-site";
import { answering, httpAnswer, type OnConnection, startRawServer } from "../support/raw-server";
import {
  componentOf,
  documentsOf,
  incidentOf,
  publicAnswers,
  statuspageServer,
  updateOf,
} from "../support/statuspage";
import { temporaryFolder } from "../support/temporary-folder";

const NO_OPTIONS = { apiKey: undefined, pageId: undefined, subscribersFile: undefined };

/** Reads a page from a server on loopback, whose address is allowed unless `allowed` says otherwise. */
async function readFrom(onConnection: OnConnection, allowed = "127.0.0.1/32") {
  await using server = await startRawServer(onConnection);
  const clock = createTestClock();
  const egress = createEgress({ clock, allowedNetworks: parseNetworks(allowed) });
  const deps = { egress, clock, progress() {}, wait: async () => {} };
  const address = `http://127.0.0.1:${server.port}`;
  const outcome = await readStatuspage(address, NO_OPTIONS, deps).then(
    () => "read",
    (error: Error) => error.message.replaceAll(String(server.port), "PORT"),
  );
  return { outcome, connections: server.connections() };
}

/** Sends a response without an end. */
function endless(socket: Socket): void {
  const piece = "[".repeat(64 * 1024);
  const writeMore = () => {
    if (socket.destroyed) return;
    socket.write(piece);
    setImmediate(writeMore);
  };
  socket.write(httpAnswer(200, "", { "Content-Length": String(2 ** 30) }));
  writeMore();
}

describe("a hostile Statuspage", () => {
  test("on a private address is refused before a connection", async () => {
    const { outcome, connections } = await readFrom(endless, "");
    expect(outcome).toStartWith("http://127.0.0.1:PORT/api/v2/summary.json cannot be read:");
    expect(outcome).toContain("not an address of the public internet");
    expect(connections).toBe(0);
  });

  test.each(["http://10.1.2.3/", "http://169.254.169.254/latest/meta-data", "http://[::1]:1/"])(
    "that redirects to %s is refused",
    async (location) => {
      const { outcome, connections } = await readFrom(
        answering(httpAnswer(302, "", { Location: location })),
      );
      expect(outcome).toContain("cannot be read");
      expect(outcome).toMatch(/not an address of the public internet|link-local/);
      expect(connections).toBe(1);
    },
  );

  test.each(["file:///etc/passwd", "http://user:pass@127.0.0.1/", "http://[", "gopher://x/"])(
    "that redirects to %s is refused, and no password is shown",
    async (location) => {
      const { outcome } = await readFrom(answering(httpAnswer(302, "", { Location: location })));
      expect(outcome).not.toBe("read");
      expect(outcome).not.toContain("pass@");
    },
  );

  test("that answers 1 GiB is refused after 8 MiB", async () => {
    const { outcome } = await readFrom(endless);
    expect(outcome).toContain("is larger than 8 MiB");
  });

  test("that answers 1 GiB in compressed form is refused after 8 MiB", async () => {
    const zeros = Bun.gzipSync(new Uint8Array(64 * 1024 * 1024));
    const { outcome } = await readFrom((socket) => {
      const headers = { "Content-Encoding": "gzip", "Content-Length": String(zeros.length) };
      socket.write(httpAnswer(200, "", headers));
      socket.end(zeros);
    });
    expect(outcome).toContain("is larger than 8 MiB");
  });

  test.each([1_000, 1_000_000])("that answers with a depth of %d is refused", async (depth) => {
    const text = `{"page":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const { outcome } = await readFrom(answering(httpAnswer(200, text)));
    expect(outcome).toContain("is nested deeper than 100 levels");
  });

  test("that answers nothing is given up after 30 seconds", async () => {
    await using server = await startRawServer((socket) => {
      socket.on("data", () => void clock.advance(30_000));
    });
    const clock = createTestClock();
    const egress = createEgress({ clock, allowedNetworks: parseNetworks("127.0.0.1/32") });
    const deps = { egress, clock, progress() {}, wait: async () => {} };
    const outcome = readStatuspage(`http://127.0.0.1:${server.port}`, NO_OPTIONS, deps);
    await expect(outcome).rejects.toThrow("Timed out waiting for the answer");
  });
});

describe("hostile documents of Statuspage", () => {
  /** Reads a file with the given text. */
  async function readText(text: string) {
    using folder = temporaryFolder();
    const file = join(folder.path, "saved.json");
    await Bun.write(file, text);
    return await readStatuspage(file, NO_OPTIONS, statuspageServer(() => ({})).deps);
  }

  test("with brackets in texts are not taken for deep ones", async () => {
    const name = `${'"['.repeat(1_000)}\\`;
    const documents = documentsOf({ components: [componentOf("api", { name })] });
    const { components } = await readText(JSON.stringify(documents));
    expect(components[0]?.body.name).toBe(name);
  });

  test("nested deep are refused in a file too", async () => {
    const deep = `${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`;
    await expect(readText(`{"page": ${deep}}`)).rejects.toThrow("nested deeper than 100 levels");
  });

  test.each([
    ["components", 5_001],
    ["incidents", 20_001],
  ])("with too many %s are refused", async (name, count) => {
    const rows = Array.from({ length: count }, (_, index) => ({ id: `${index}` }));
    const text = JSON.stringify({ ...documentsOf(), [name]: rows });
    await expect(readText(text)).rejects.toThrow("is the most");
  });

  test.each([
    ["updates", updateOf("resolved", "2026-03-01T12:00:00.000Z"), 100_001],
    [
      "affected components",
      { affected_components: Array.from({ length: 201 }, (_, at) => ({ code: `c${at}` })) },
      1_000,
    ],
  ])("with too many %s in few incidents are refused", async (name, update, count) => {
    const updates = Array.from({ length: count }, () => update);
    const incidents = [incidentOf("inc1", { incident_updates: updates })];
    const text = JSON.stringify(documentsOf({ incidents }));
    await expect(readText(text)).rejects.toThrow(`${name}; `);
  });

  test("with a folder that never ends are refused", async () => {
    const { deps } = statuspageServer(() => ({}));
    await expect(readStatuspage("/dev/zero", NO_OPTIONS, deps)).rejects.toThrow("/dev/zero");
  });

  test("with huge texts are cut, in short reports", async () => {
    const huge = "\u0301x ".repeat(60_000);
    const page = { id: "p", name: huge, time_zone: huge, page_description: huge, url: huge };
    const incident = incidentOf("inc1", {
      name: huge,
      impact: huge,
      postmortem_body: huge,
      postmortem_published_at: huge,
      incident_updates: [
        updateOf(huge, "2026-03-01T12:00:00.000Z"),
        updateOf("resolved", "2026-03-01T12:00:00.000Z", { api: huge }, { body: huge }),
      ],
    });
    const component = componentOf("api", { description: huge, status: huge, group_id: huge });
    const documents = documentsOf({ page, components: [component], incidents: [incident] });
    const { deps } = statuspageServer(publicAnswers(documents));
    const found = await readStatuspage("https://status.acme.test", NO_OPTIONS, deps);
    await using site = await createImportSite();
    const { items, counts, ...report } = await site.importFound(found);
    expect(counts).toMatchObject({ changed: 3 });
    expect(JSON.stringify({ items, report }).length).toBeLessThan(20_000);
  });

  test("with control characters in ids are left out", async () => {
    const rows = [componentOf("a\u001b[31m"), componentOf("x".repeat(101)), componentOf("")];
    const { components, leftOut } = await readText(
      JSON.stringify(documentsOf({ components: rows })),
    );
    expect(components).toEqual([]);
    expect(leftOut.slice(0, 3).map(({ reason }) => reason)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining("Its id")),
    );
    expect(JSON.stringify(leftOut)).not.toContain("\\u001b");
  });

  test("with fields of JavaScript objects read none of them", async () => {
    const text = JSON.stringify(documentsOf()).replace('"time_zone":', '"__proto__":');
    const found = await readText(text);
    expect(found.pages).toHaveLength(1);
  });
});
