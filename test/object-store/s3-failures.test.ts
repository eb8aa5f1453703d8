import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObjectStore } from "../../src/object-store/object-store";
import { openObjectStore } from "../../src/object-store/open";
import type { Clock } from "../../src/base/clock";
import { createTestClock, TEST_START } from "../support/clock";
import {
  answering,
  httpAnswer,
  type OnConnection,
  type RawServer,
  startRawServer,
} from "../support/raw-server";
import { temporaryFolder } from "../support/temporary-folder";

const SECRET = "s3cret-of-the-bucket";
const ONE = Buffer.from("1");

function openAt(port: number, clock: Clock = createTestClock(), path = "all/clear"): ObjectStore {
  const endpoint = `http://127.0.0.1:${port}`;
  const address = { kind: "s3", bucket: "bucket", path, region: "eu-1", endpoint } as const;
  return openObjectStore(address, { keyId: "KEYID", secret: SECRET }, { clock });
}

/** Answers all requests, and returns what `use` returns. */
async function withServer<T>(
  onConnection: OnConnection,
  use: (store: ObjectStore, server: RawServer) => Promise<T>,
): Promise<T> {
  await using server = await startRawServer(onConnection);
  return await use(openAt(server.port), server);
}

/** Returns the error of a call, which must fail. */
async function errorOf(call: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("the call did not fail");
  const text = `${error.message} ${error.stack} ${Bun.inspect(error)}`;
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain("KEYID");
  expect(text).not.toMatch(/Signature\b/);
  const { kind, status, message } = error as Error & Record<string, unknown>;
  return { kind, status, message };
}

const xmlError = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${SECRET} KEYID Signature</Message></Error>`;

describe("a store that answers with an error", () => {
  test.each([
    [403, "SignatureDoesNotMatch"],
    [404, "NoSuchBucket"],
    [500, "InternalError"],
    [503, "SlowDown"],
    [301, "PermanentRedirect"],
  ])("%i %s is reported by status and code, without the text", async (status, code) => {
    await withServer(answering(httpAnswer(status, xmlError(code))), async (store) => {
      const message = (what: string) =>
        `The store s3://bucket/all/clear answered ${status} ${code}: ${what}.`;
      const expected = (what: string) => ({ kind: "refused", status, message: message(what) });
      expect(await errorOf(store.get("a/b"))).toEqual(expected("read a/b"));
      expect(await errorOf(store.download("a/b", "/nowhere"))).toEqual(expected("read a/b"));
      expect(await errorOf(store.put("a", ONE))).toEqual(expected("write a"));
      expect(await errorOf(store.put("a", ONE, { ifMatch: '"x"' }))).toEqual(expected("write a"));
      expect(await errorOf(store.list("a/"))).toEqual(expected("list a/"));
      expect(await errorOf(store.remove(["a"]))).toEqual(expected("remove a"));
    });
  });

  test("an object that cannot be removed keeps no other from being removed", async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `${index}`);
    // A set, since a request is repeated if the server closes its connection.
    const asked = new Set<string>();
    const server = answering((request) => {
      const [, key = ""] = /^DELETE \S+\/(\d+) /.exec(request) ?? [];
      asked.add(key);
      return key === "0" ? httpAnswer(403, xmlError("AccessDenied")) : httpAnswer(204, "");
    });
    await withServer(server, async (store) => {
      expect(await errorOf(store.remove(keys))).toMatchObject({
        status: 403,
        message: expect.stringContaining("remove 0."),
      });
      // Also none is removed after the error, when the caller may write again.
      expect([...asked].toSorted()).toEqual(keys.toSorted());
    });
  });

  test("a redirect is not followed, since the signature is for one server", async () => {
    const headers = { Location: "http://127.0.0.1:1/" };
    await withServer(answering(httpAnswer(307, "", headers)), async (store, server) => {
      expect(await errorOf(store.get("a"))).toMatchObject({ status: 307 });
      expect(server.connections()).toBe(1);
    });
  });

  test("409, which says that another write is under way, is an error and not a lost condition", async () => {
    const busy = answering(httpAnswer(409, xmlError("ConditionalRequestConflict")));
    await withServer(busy, async (store) => {
      expect(await errorOf(store.put("a", ONE, { ifNoneMatch: true }))).toMatchObject({
        status: 409,
      });
    });
  });

  test("412 without a condition is an error", async () => {
    await withServer(answering(httpAnswer(412)), async (store) => {
      expect(await errorOf(store.put("a", ONE))).toMatchObject({ status: 412 });
      expect(await store.put("a", ONE, { ifMatch: '"x"' })).toBe("changed");
    });
  });

  test("an answer without an entity tag is an error", async () => {
    await withServer(answering(httpAnswer(200, "x")), async (store) => {
      expect(await errorOf(store.get("a"))).toMatchObject({ kind: "refused" });
      expect(await errorOf(store.put("a", ONE))).toMatchObject({ kind: "refused" });
    });
  });
});

describe("a request", () => {
  test("a request has the encoded key, the headers of the object and a signature of all of them", async () => {
    let received = "";
    const server = answering((request) => {
      received = request;
      return httpAnswer(200, "", { ETag: '"e"' });
    });
    await withServer(server, async (store) => {
      await store.put("a b/ü+(1).json", ONE, {
        type: "application/json",
        cacheControl: "no-store",
        contentEncoding: "gzip",
        ifMatch: '"x"',
      });
    });
    expect(received).toStartWith("PUT /bucket/all/clear/a%20b/%C3%BC%2B%281%29.json HTTP/1.1\r\n");
    const lines = received.toLowerCase();
    for (const header of [
      "content-type: application/json",
      "cache-control: no-store",
      "content-encoding: gzip",
      'if-match: "x"',
      "content-length: 1",
    ]) {
      expect(lines).toContain(`\r\n${header}\r\n`);
    }
    expect(lines).toContain(
      "signedheaders=cache-control;content-encoding;content-type;host;if-match;x-amz-content-sha256;x-amz-date,",
    );
    expect(received).not.toContain(SECRET);
  });
});

describe("an upload in parts", () => {
  const MIB = 1_024 * 1_024;
  const xml = (name: string, text: string) => `<${name}Result>${text}</${name}Result>`;

  /** Answers the requests of an upload of 20 MiB, except for those that `fault` answers. */
  async function upload(fault: (line: string, tries: number) => string | undefined) {
    const lines: string[] = [];
    using folder = temporaryFolder();
    const file = join(folder.path, "file");
    writeFileSync(file, Buffer.alloc(20 * MIB));
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        await request.arrayBuffer();
        const { searchParams } = new URL(request.url);
        const part = searchParams.get("partNumber") ?? [...searchParams.keys()].join();
        const line = `${request.method} ${part}`;
        lines.push(line);
        const wrong = fault(line, lines.filter((one) => one === line).length);
        if (wrong !== undefined) {
          const status = Number(wrong.slice(0, 3));
          return new Response(wrong.slice(4), { status });
        }
        if (line === "POST uploads") {
          return new Response(xml("InitiateMultipartUpload", "<UploadId>u&amp;1</UploadId>"));
        }
        if (request.method === "POST") {
          return new Response(xml("CompleteMultipartUpload", '<ETag>"whole"</ETag>'));
        }
        return new Response("", { headers: { ETag: `"${line}"` } });
      },
    });
    // Its timers run at once, so that no test waits for a pause.
    const clock: Clock = {
      ...createTestClock(),
      after: (delayMs, run) => {
        if (delayMs < 5_000) setImmediate(run);
        return { cancel() {} };
      },
    };
    const result = openAt(Number(server.port), clock).upload("a", file);
    const error = await result.then(
      () => undefined,
      () => errorOf(result),
    );
    return { lines, error };
  }

  const BEGIN = "POST uploads";
  const END = "POST uploadId";
  const ABORT = "DELETE uploadId";

  test("its parts have 8 MiB, and the object exists with the last request", async () => {
    const { lines, error } = await upload(() => undefined);
    expect(error).toBeUndefined();
    expect(lines).toEqual([BEGIN, "PUT 1", "PUT 2", "PUT 3", END]);
  });

  test("a part that the store does not take is sent again", async () => {
    const { lines, error } = await upload((line, tries) =>
      line === "PUT 2" && tries < 3 ? `503 ${xmlError("SlowDown")}` : undefined,
    );
    expect(error).toBeUndefined();
    expect(lines).toEqual([BEGIN, "PUT 1", "PUT 2", "PUT 2", "PUT 2", "PUT 3", END]);
  });

  test("parts are removed if the store does not take one three times", async () => {
    const { lines, error } = await upload((line) =>
      line === "PUT 2" ? `503 ${xmlError("SlowDown")}` : undefined,
    );
    expect(error).toMatchObject({ status: 503, message: expect.stringContaining("write a") });
    expect(lines).toEqual([BEGIN, "PUT 1", "PUT 2", "PUT 2", "PUT 2", ABORT]);
  });

  test("a part that is refused is not sent again", async () => {
    const { lines, error } = await upload((line) =>
      line === "PUT 1" ? `403 ${xmlError("AccessDenied")}` : undefined,
    );
    expect(error).toMatchObject({ status: 403 });
    expect(lines).toEqual([BEGIN, "PUT 1", ABORT]);
  });

  test("an error that is found after the status was sent is an error", async () => {
    const { lines, error } = await upload((line) =>
      line === END ? `200 ${xmlError("InternalError")}` : undefined,
    );
    expect(error).toMatchObject({ kind: "refused" });
    expect(lines.at(-1)).toBe(ABORT);
  });

  test("an answer without an id of the upload is an error", async () => {
    const { lines, error } = await upload((line) => (line === BEGIN ? "200 <x/>" : undefined));
    expect(error).toMatchObject({ kind: "refused" });
    expect(lines).toEqual([BEGIN]);
  });
});

describe("a store that does not answer", () => {
  test.each([
    ["nothing", ""],
    ["half of the headers", "HTTP/1.1 200 OK\r\nETag: "],
    ["half of the body", 'HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 10\r\n\r\n12345'],
  ])("each call ends at its deadline after %s", async (_, sent) => {
    const asked = Promise.withResolvers<void>();
    await using server = await startRawServer((socket) => {
      socket.once("data", () => {
        socket.write(sent);
        asked.resolve();
      });
    });
    const clock = createTestClock();
    const call = errorOf(openAt(server.port, clock).get("a"));
    await asked.promise;
    await clock.advance(9_999);
    await clock.advance(1);
    expect(await call).toMatchObject({
      kind: "timeout",
      message: "The store s3://bucket/all/clear did not answer within 10 s: read a.",
    });
    await server.allClosed();
  });

  test("a download goes on while bytes arrive, and ends at a pause of the deadline", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "object");
    const client = Promise.withResolvers<import("node:net").Socket>();
    await using server = await startRawServer((socket) => {
      socket.once("data", () => client.resolve(socket));
    });
    const clock = createTestClock();
    const call = errorOf(openAt(server.port, clock).download("a", file));
    const socket = await client.promise;
    socket.write('HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 10\r\n\r\n');
    for (let size = 1; size <= 5; size++) {
      socket.write("1");
      // The piece has been written before the clock moves on.
      while (!existsSync(file) || Bun.file(file).size < size) await clock.advance(0);
      await clock.advance(6_000);
    }
    await clock.advance(4_000);
    expect(await call).toMatchObject({ kind: "timeout" });
    expect(existsSync(file)).toBe(false);
  });
});

describe("a store that closes its connections", () => {
  test("a refused connection is reported by its code", async () => {
    const { port } = await using(async (server) => server);
    expect(await errorOf(openAt(port).get("a"))).toEqual({
      kind: "unreachable",
      status: undefined,
      message: "The store s3://bucket/all/clear cannot be reached (ECONNREFUSED): read a.",
    });
  });

  test.each([
    ["after the request", ""],
    ["within the body", 'HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 10\r\n\r\n12345'],
    [
      "within a chunked body",
      'HTTP/1.1 200 OK\r\nETag: "e"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n',
    ],
  ])("an object is never returned in part when the connection ends %s", async (_, sent) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "object");
    await withServer(
      (socket) => socket.once("data", () => socket.end(sent)),
      async (store) => {
        expect(await errorOf(store.get("a"))).toMatchObject({ kind: "unreachable" });
        expect(await errorOf(store.download("a", file))).toMatchObject({ kind: "unreachable" });
        expect(existsSync(file)).toBe(false);
      },
    );
  });

  test("a conditional write is sent once, although other requests left a connection open", async () => {
    let writes = 0;
    await withServer(
      (socket) =>
        socket.on("data", (chunk: Buffer) => {
          if (chunk.toString().startsWith("GET")) {
            socket.write(httpAnswer(200, "1", { ETag: '"e"' }));
            return;
          }
          writes += 1;
          socket.destroy();
        }),
      async (store) => {
        await store.get("a");
        const call = store.put("a", ONE, { ifMatch: '"e"' });
        expect(await errorOf(call)).toMatchObject({ kind: "unreachable" });
        expect(writes).toBe(1);
      },
    );
  });
});

describe("an invalid listing", () => {
  const page = (contents: string, more = "") =>
    `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType>${more}${contents}</ListBucketResult>`;
  const object = (key: string, size = "1") =>
    `<Contents><Key>${key}</Key><Size>${size}</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`;

  test("keys outside of the path, and keys that would leave it, are left out", async () => {
    const keys = [
      "all/clear/%2E%2E/%2E%2E/etc/passwd",
      "all/clear/a%0Ab",
      "all/clear/a%5C..%5Cb",
      "all/clear/ok+1%2B",
      "all/clearly",
      "other",
    ];
    const xml = page(keys.map((key) => object(key)).join(""));
    await withServer(answering(httpAnswer(200, xml)), async (store) => {
      expect((await store.list("")).map(({ key }) => key)).toEqual(["ok 1+"]);
    });
  });

  test.each([
    ["not XML", "hello"],
    ["an error with status 200", xmlError("InternalError")],
    ["a cut page", page(object("all/clear/a")).slice(0, -5)],
    ["a size that is not a number", page(object("all/clear/a", "x"))],
    ["a key that is not UTF-8", page(object("all/clear/%ff"))],
    ["a page without a continuation", page("", "<IsTruncated>true</IsTruncated>")],
    [
      "a list without an end",
      page(
        object("all/clear/a"),
        "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>",
      ),
    ],
    ["more than 8 MiB", "x".repeat(8 * 1_024 * 1_024 + 1)],
  ])("%s is an error", async (_, xml) => {
    await withServer(answering(httpAnswer(200, xml)), async (store) => {
      expect(await errorOf(store.list(""))).toMatchObject({ kind: "refused" });
    });
  });
});

describe("the store's clock", () => {
  const dated = (date: string) => answering(httpAnswer(200, "1", { ETag: '"e"', Date: date }));

  test("the clock of a store is compared with this machine's at each answer", async () => {
    const date = new Date(TEST_START + 60_000).toUTCString();
    await withServer(dated(date), async (store) => {
      expect(store.clockSkewMs()).toBeUndefined();
      await store.get("a");
      expect(store.clockSkewMs()).toBe(60_500);
    });
  });

  test("the clock of a store is not known from an answer without a readable date", async () => {
    await withServer(dated("yesterday"), async (store) => {
      await store.get("a");
      expect(store.clockSkewMs()).toBeUndefined();
    });
  });

  test("the clock of a store is not known from an answer that took more than a second", async () => {
    const asked = Promise.withResolvers<import("node:net").Socket>();
    await using server = await startRawServer((socket) => {
      socket.once("data", () => asked.resolve(socket));
    });
    const clock = createTestClock();
    const store = openAt(server.port, clock);
    const call = store.get("a");
    const socket = await asked.promise;
    await clock.advance(1_001);
    const date = new Date(TEST_START).toUTCString();
    socket.end(httpAnswer(200, "1", { ETag: '"e"', Date: date }));
    await call;
    expect(store.clockSkewMs()).toBeUndefined();
  });
});

/** Returns a server that has ended. */
async function using<T>(use: (server: RawServer) => Promise<T>): Promise<T> {
  await using server = await startRawServer(() => {});
  return await use(server);
}
