import { describe, expect, test } from "bun:test";
import { expectProblem } from "../support/app";
import { createComponentSite } from "../support/component-site";
import { streamOf } from "../support/streamed-body";
import { shareSite } from "../support/shared-site";

const JSON_TYPE = { "content-type": "application/json" };
const GOOD = '{"status":"major_outage","reason":"Slow"}';

describe("accepted JSON bodies", () => {
  test.each([
    ["as application/json", GOOD, "application/json"],
    ["with a charset", GOOD, "application/json; charset=utf-8"],
    ["with a charset in capitals and no space", GOOD, "Application/JSON;charset=UTF-8"],
    ["as a +json type", GOOD, "application/merge-patch+json"],
    ["with white space around it", `\n\t ${GOOD} \r\n`, "application/json"],
    ["nested as deep as its schema", '{"status":"major_outage","reason":null}', "application/json"],
    [
      "with brackets inside its text",
      `{"status":"major_outage","reason":"${"[{".repeat(400)}\\"${"[{".repeat(80)}"}`,
      "application/json",
    ],
    [
      "with 1,000 code points of text beyond ASCII",
      `{"status":"major_outage","reason":"${"🚀".repeat(1_000)}"}`,
      "application/json",
    ],
  ])("a JSON body %s is accepted", async (_how, raw, type) => {
    await using site = await createComponentSite();
    const answer = await site.patch({ raw, headers: { "content-type": type } });
    expect(answer.status).toBe(200);
    expect(answer.body.status).toBe("major_outage");
    expect(site.app.events()).toHaveLength(1);
  });

  test("a body that arrives in pieces is accepted, even with a divided character", async () => {
    await using site = await createComponentSite();
    const bytes = Buffer.from('{"status":"major_outage","reason":"é🚀"}');
    const pieces = [...bytes].map((byte) => new Uint8Array([byte]));
    const raw = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    const headers = { ...JSON_TYPE, "transfer-encoding": "chunked" };
    expect((await site.patch({ raw, headers })).status).toBe(200);
    const history = await site.app.call(`${site.path}/history`, { key: site.key });
    expect(history.body.data[0].reason).toBe("é🚀");
  });
});

describe("bodies that are not JSON", () => {
  const shared = shareSite(createComponentSite);

  test.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ["nothing at all", ""],
    ["white space", "  "],
    ["an open brace", "{"],
    ["a trailing comma", '{"status":"major_outage",}'],
    ["single quotes", "{'status':'major_outage'}"],
    ["a comment", '{"status":"major_outage"} // now'],
    ["two documents", `${GOOD}${GOOD}`],
    ["NaN", '{"status":NaN}'],
    ["a NUL outside a text", `${GOOD}\0`],
    ["a bare NUL inside a text", '{"status":"major_outage","reason":"a\0b"}'],
    ["200,000 arrays deep", "[".repeat(200_000)],
    ["200,000 arrays deep and closed", "[".repeat(100_000) + "]".repeat(100_000)],
    ["40,000 objects deep", '{"a":'.repeat(40_000)],
    ["33 levels deep in a field", `{"status":${"[".repeat(33)}${"]".repeat(33)}}`],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
    [
      "a text with a byte that is not UTF-8",
      new Uint8Array(Buffer.from('{"status":"major_outage","reason":"\xff"}', "latin1")),
    ],
    ["UTF-16", new Uint8Array(Buffer.from(GOOD, "utf16le"))],
  ])("a body with %s is invalid_request, and nothing is written", async (_what, raw) => {
    const site = await shared();
    const before = await site.state();
    expectProblem(await site.patch({ raw, headers: JSON_TYPE }), "invalid_request");
    expect(await site.state()).toEqual(before);
  });

  test("a missing body is invalid_request, and nothing is written", async () => {
    await using site = await createComponentSite();
    const before = await site.state();
    expectProblem(await site.patch({}), "invalid_request");
    expectProblem(await site.patch({ headers: JSON_TYPE }), "invalid_request");
    expect(await site.state()).toEqual(before);
  });
});

describe("bodies of other media types", () => {
  const shared = shareSite(createComponentSite);

  test.each([
    ["no type", undefined],
    ["text", "text/plain"],
    ["a form", "application/x-www-form-urlencoded"],
    ["a multipart form", "multipart/form-data; boundary=x"],
    ["JSON as text", "text/json"],
    ["JSON lines", "application/jsonl"],
    ["a type that begins like JSON", "application/json-seq"],
    ["a type that only contains JSON", "x-application/json"],
    ["an empty type", ""],
  ])(
    "a body with the media type %s is unsupported_media_type, and nothing is written",
    async (_what, type) => {
      const site = await shared();
      const before = await site.state();
      const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
      const raw = new TextEncoder().encode(GOOD);
      expectProblem(await site.patch({ raw, headers }), "unsupported_media_type");
      expect(await site.state()).toEqual(before);
    },
  );

  test("a body of another type that arrives in pieces is unsupported_media_type and not read", async () => {
    await using site = await createComponentSite();
    const body = streamOf(GOOD);
    const headers = { "content-type": "text/plain", "transfer-encoding": "chunked" };
    expectProblem(await site.patch({ raw: body.stream, headers }), "unsupported_media_type");
    expect(body.wasRead()).toBe(false);
  });
});

describe("compressed bodies", () => {
  test.each(["gzip", "GZIP", "br", "deflate, gzip", "x-own"])(
    "a compressed body is unsupported_media_type, and the answer names the encoding: %s",
    async (encoding) => {
      await using site = await createComponentSite();
      const before = await site.state();
      const headers = { ...JSON_TYPE, "content-encoding": encoding };
      for (const raw of [Bun.gzipSync(GOOD), GOOD]) {
        const answer = await site.patch({ raw, headers });
        const { detail } = expectProblem(answer, "unsupported_media_type");
        expect(detail).toContain(`Content-Encoding ${encoding.toLowerCase()}`);
        expect(answer.headers.get("accept-encoding")).toBe("identity");
      }
      const chunked = { ...headers, "transfer-encoding": "chunked" };
      const { stream } = streamOf(GOOD);
      expectProblem(await site.patch({ raw: stream, headers: chunked }), "unsupported_media_type");
      expect(await site.state()).toEqual(before);
    },
  );

  test("a body with the encoding identity is accepted", async () => {
    await using site = await createComponentSite();
    const headers = { ...JSON_TYPE, "content-encoding": "identity" };
    expect((await site.patch({ raw: GOOD, headers })).status).toBe(200);
  });
});

describe("a body's size", () => {
  const LIMIT = 256 * 1024;
  /** A good body of exactly so many bytes. */
  const padded = (bytes: number) => GOOD + " ".repeat(bytes - GOOD.length);

  test("a body can have at most 256 KiB", async () => {
    await using site = await createComponentSite();
    const before = await site.state();
    expectProblem(
      await site.patch({ raw: padded(LIMIT + 1), headers: JSON_TYPE }),
      "payload_too_large",
    );
    expect(await site.state()).toEqual(before);
    expect((await site.patch({ raw: padded(LIMIT), headers: JSON_TYPE })).status).toBe(200);
  });

  test("a body with a declared length of 300 KiB is rejected before it is read", async () => {
    await using site = await createComponentSite();
    const body = streamOf(padded(300 * 1024));
    const headers = { ...JSON_TYPE, "content-length": String(300 * 1024) };
    expectProblem(await site.patch({ raw: body.stream, headers }), "payload_too_large");
    expect(body.wasRead()).toBe(false);
  });

  test("a body of 300 KiB without a declared length is rejected, and nothing is written", async () => {
    await using site = await createComponentSite();
    const before = await site.state();
    const headers = { ...JSON_TYPE, "transfer-encoding": "chunked" };
    const pieces = Array.from({ length: 30 }, () => " ".repeat(10 * 1024));
    const { stream } = streamOf(GOOD, ...pieces);
    expectProblem(await site.patch({ raw: stream, headers }), "payload_too_large");
    expect(await site.state()).toEqual(before);
  });

  test("the size of a body is what arrives, not its declared length", async () => {
    await using site = await createComponentSite();
    const headers = { ...JSON_TYPE, "content-length": "10" };
    const { stream } = streamOf(padded(200 * 1024), " ".repeat(100 * 1024));
    expectProblem(await site.patch({ raw: stream, headers }), "payload_too_large");
  });
});
