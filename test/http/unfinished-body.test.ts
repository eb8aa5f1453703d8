import { describe, expect, test } from "bun:test";
import { createTestClock, settle } from "../support/clock";
import { openConnection } from "../support/raw-http";
import { type ServedApp, serveApp } from "../support/served-app";

/** The statuses of the requests to sign out that were counted so far. */
function counted({ app }: ServedApp): Record<string, number> {
  const found: Record<string, number> = {};
  for (const family of app.app.routes.counts.families()) {
    for (const { labels, value } of family.read()) {
      if (labels?.["route"] === "/admin/sign-out") found[labels["status"] ?? ""] = value;
    }
  }
  return found;
}

const HEAD = ["POST /admin/sign-out HTTP/1.1", "Content-Type: application/x-www-form-urlencoded"];

async function begin({ origin }: ServedApp, ...lines: string[]) {
  const { port, host } = new URL(origin);
  const connection = await openConnection(Number(port));
  const head = [...HEAD, `Host: ${host}`, `Origin: ${origin}`, ...lines];
  connection.send(`${head.join("\r\n")}\r\n\r\n`);
  return connection;
}

/** Resolves once as many requests were counted. */
async function untilCounted(site: ServedApp, total: number): Promise<void> {
  while (Object.values(counted(site)).reduce((sum, value) => sum + value, 0) < total) {
    await settle();
  }
}

describe("an upload that its sender breaks off", () => {
  test.each([
    ["with a declared length", "Content-Length: 1000", "next=%2Fadmin"],
    ["in chunks", "Transfer-Encoding: chunked", "4\r\nnext\r\n"],
  ])("%s is counted as 499, and is no error of the server", async (_how, line, part) => {
    await using site = await serveApp({ clock: createTestClock() });
    {
      using connection = await begin(site, line);
      connection.send(part);
      // The server has the beginning once it answers what comes later.
      expect((await fetch(`${site.origin}/healthz`)).status).toBe(200);
    }
    await untilCounted(site, 1);
    expect(counted(site)).toEqual({ "499": 1 });
    expect(site.app.logged.filter((entry) => Number(entry["level"]) >= 40)).toEqual([]);

    using whole = await begin(site, "Content-Length: 0", "Connection: close");
    expect(await whole.untilClosed()).toStartWith("HTTP/1.1 303");
    expect(counted(site)).toEqual({ "303": 1, "499": 1 });
  });

  test("gives the room of its body back", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    for (let count = 1; count <= 20; count++) {
      {
        using connection = await begin(site, "Transfer-Encoding: chunked");
        connection.send("4\r\nnext\r\n");
        expect((await fetch(`${site.origin}/healthz`)).status).toBe(200);
      }
      await untilCounted(site, count);
    }
    expect(counted(site)).toEqual({ "499": 20 });
  });
});

describe("a body in chunks of one byte", () => {
  const chunks = (bytes: number) => `${"1\r\na\r\n".repeat(bytes)}0\r\n\r\n`;

  test("is read whole up to 256 KiB, and refused beyond", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    using whole = await begin(site, "Transfer-Encoding: chunked", "Connection: close");
    whole.send(chunks(256 * 1024));
    expect(await whole.untilClosed()).toStartWith("HTTP/1.1 303");
    using larger = await begin(site, "Transfer-Encoding: chunked", "Connection: close");
    larger.send(chunks(256 * 1024 + 1));
    expect(await larger.untilClosed()).toStartWith("HTTP/1.1 413");
  });

  test("beyond what the runtime keeps is refused by it, and is no error of the server", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    using connection = await begin(site, "Transfer-Encoding: chunked");
    connection.send(chunks(1024 * 1024 + 1));
    expect(await connection.untilClosed()).toStartWith("HTTP/1.1 413");
    await untilCounted(site, 1);
    expect(counted(site)).toEqual({ "413": 1 });
    expect(site.app.logged.filter((entry) => Number(entry["level"]) >= 40)).toEqual([]);
  });
});
