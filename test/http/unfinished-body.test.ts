import { describe, expect, test } from "bun:test";
import { beginRequest, countedOf, untilCounted, untilRead } from "../support/body-senders";
import { createTestClock } from "../support/clock";
import { type ServedApp, serveApp } from "../support/served-app";

const ROUTE = "/admin/sign-out";
const FORM = "Content-Type: application/x-www-form-urlencoded";

const begin = (site: ServedApp, ...lines: string[]) =>
  beginRequest(site, `POST ${ROUTE}`, [FORM, ...lines]);

describe("aborted uploads", () => {
  test.each([
    ["with a declared length", "Content-Length: 1000", "next=%2Fadmin"],
    ["in chunks", "Transfer-Encoding: chunked", "4\r\nnext\r\n"],
  ])(
    "an aborted upload %s is counted as 499 and not logged as an error",
    async (_how, line, part) => {
      await using site = await serveApp({ clock: createTestClock() });
      {
        using connection = await begin(site, line);
        connection.send(part);
        await untilRead(site);
      }
      await untilCounted(site, ROUTE, 1);
      expect(countedOf(site, ROUTE)).toEqual({ "499": 1 });
      expect(site.app.logged.filter((entry) => Number(entry["level"]) >= 40)).toEqual([]);

      using whole = await begin(site, "Content-Length: 0", "Connection: close");
      expect(await whole.untilClosed()).toStartWith("HTTP/1.1 303");
      expect(countedOf(site, ROUTE)).toEqual({ "303": 1, "499": 1 });
    },
  );

  test("an aborted upload frees the slot of its body", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    for (let count = 1; count <= 20; count++) {
      {
        using connection = await begin(site, "Transfer-Encoding: chunked");
        connection.send("4\r\nnext\r\n");
        await untilRead(site);
      }
      await untilCounted(site, ROUTE, count);
    }
    expect(countedOf(site, ROUTE)).toEqual({ "499": 20 });
  });
});

describe("a body in chunks of one byte", () => {
  const chunks = (bytes: number) => `${"1\r\na\r\n".repeat(bytes)}0\r\n\r\n`;

  test("a body in chunks of one byte is accepted up to 256 KiB", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    using whole = await begin(site, "Transfer-Encoding: chunked", "Connection: close");
    whole.send(chunks(256 * 1024));
    expect(await whole.untilClosed()).toStartWith("HTTP/1.1 303");
    using larger = await begin(site, "Transfer-Encoding: chunked", "Connection: close");
    larger.send(chunks(256 * 1024 + 1));
    expect(await larger.untilClosed()).toStartWith("HTTP/1.1 413");
  });

  test("a chunked body beyond the runtime's limit is 413 and not logged as an error", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    using connection = await begin(site, "Transfer-Encoding: chunked");
    connection.send(chunks(1024 * 1024 + 1));
    expect(await connection.untilClosed()).toStartWith("HTTP/1.1 413");
    await untilCounted(site, ROUTE, 1);
    expect(countedOf(site, ROUTE)).toEqual({ "413": 1 });
    expect(site.app.logged.filter((entry) => Number(entry["level"]) >= 40)).toEqual([]);
  });
});
