import { describe, expect, test } from "bun:test";
import { Problem } from "../../src/errors";
import { formBody } from "../../src/http";
import { createTestApp, expectProblem } from "../support/app";
import { asUpload, multipart, type Part } from "../support/multipart";
import { rejectionOf } from "../support/refusal";

const LIMIT = 256 * 1_024;
const LOGO = { name: "logo", filename: "our logo ✓.png", type: "image/png" };
const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, value) => value);

/** Reads a form as a route reads it. */
function read(
  sent: { body: BodyInit; type: string },
  { takesFiles = true, url = "http://status.test/form" } = {},
) {
  const headers = { "content-type": sent.type };
  const request = new Request(url, { method: "POST", body: sent.body, headers });
  return formBody({ files: takesFiles }).parse({ request });
}

const readParts = (parts: readonly Part[], boundary?: string) => read(multipart(parts, boundary));

describe("a form with files", () => {
  test("gives texts as they were typed, and files byte by byte", async () => {
    const form = await readParts([
      { name: "title", text: " Über\r\nuns " },
      { name: "box", text: "a" },
      { name: "box", text: "b" },
      { ...LOGO, bytes: EVERY_BYTE },
    ]);
    expect(form.text("title")).toBe(" Über\r\nuns ");
    expect(form.all("box")).toEqual(["a", "b"]);
    expect(form.text("other")).toBe("");
    expect(form.file("logo")).toEqual({
      bytes: EVERY_BYTE,
      type: "image/png",
      name: "our logo ✓.png",
    });
    expect(form.file("title")).toBeUndefined();
    expect(form.text("logo")).toBe("");
  });

  test("has no file where none was chosen, and an empty one where that was", async () => {
    const none = { name: "logo", filename: "", bytes: "" };
    expect((await readParts([none])).file("logo")).toBeUndefined();
    const empty = { name: "logo", filename: "empty.png", bytes: "" };
    expect((await readParts([empty])).file("logo")?.bytes.byteLength).toBe(0);
  });

  test("may come without any, as forms without files do", async () => {
    const form = await read({ body: "a=1&a=2", type: "application/x-www-form-urlencoded" });
    expect([form.all("a"), form.file("a")]).toEqual([["1", "2"], undefined]);
  });

  test("keeps the first of several files in one field", async () => {
    const files = ["one", "two"].map((name) => ({ name: "logo", filename: name, bytes: name }));
    expect((await readParts(files)).file("logo")?.name).toBe("one");
  });

  test("takes names of every object for names", async () => {
    const form = await readParts([
      { name: "__proto__", text: "x" },
      { name: "constructor", filename: "f", bytes: "y" },
    ]);
    expect(form.text("__proto__")).toBe("x");
    expect(form.file("constructor")?.name).toBe("f");
    expect(form.file("__proto__")).toBeUndefined();
    expect(form.text("toString")).toBe("");
  });

  test("is one of a thousand fields as well", async () => {
    const parts = Array.from({ length: 1_000 }, (_, n) => ({ name: `f${n}`, text: String(n) }));
    expect((await readParts(parts)).text("f999")).toBe("999");
  });
});

describe("the digest of a form with files", () => {
  const parts: Part[] = [
    { name: "form", text: "token" },
    { ...LOGO, bytes: "picture" },
  ];
  const [text, file] = parts as [Part & { text: string }, Part & { filename: string }];

  test("is the same each time it is sent, whatever its boundary", async () => {
    const first = await readParts(parts, "one");
    expect((await readParts(parts, "another")).digest).toBe(first.digest);
    expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each<{ what: string; other: Part[] }>([
    { what: "a text", other: [{ ...text, text: "other" }, file] },
    { what: "a byte of a file", other: [text, { ...LOGO, bytes: "pictures" }] },
    { what: "the name of a file", other: [text, { ...file, filename: "b.png" } as Part] },
    { what: "the order", other: [file, text] },
    { what: "a file for a text", other: [{ name: "form", filename: "", bytes: "token" }, file] },
  ])("differs with $what", async ({ other }) => {
    expect((await readParts(other)).digest).not.toBe((await readParts(parts)).digest);
  });

  test("differs with where it is sent", async () => {
    const there = await read(multipart(parts), { url: "http://status.test/elsewhere" });
    expect(there.digest).not.toBe((await readParts(parts)).digest);
  });
});

describe("a body that is no form with files", () => {
  const { body, type } = multipart([{ ...LOGO, bytes: "picture" }], "B");
  test.each([
    { what: "is cut off", body: body.slice(0, 60), type },
    { what: "is empty", body: new Uint8Array(), type },
    { what: "names no boundary", body, type: "multipart/form-data" },
    { what: "has another boundary than it names", body, type: `${type}C` },
    { what: "is text", body: new TextEncoder().encode("logo=1"), type },
  ])("is refused as malformed when it $what", async ({ body, type }) => {
    const problem = await rejectionOf(read({ body, type }));
    expect(problem).toBeInstanceOf(Problem);
    expect(problem.code).toBe("invalid_request");
  });

  test("is refused when it is larger than 256 KiB, and read when it is not", async () => {
    const overhead = multipart([{ ...LOGO, bytes: "" }]).body.byteLength;
    const largest = multipart([{ ...LOGO, bytes: new Uint8Array(LIMIT - overhead) }]);
    expect((await read(largest)).file("logo")?.bytes.byteLength).toBe(LIMIT - overhead);
    const larger = multipart([{ ...LOGO, bytes: new Uint8Array(LIMIT - overhead + 1) }]);
    expect((await rejectionOf(read(larger))).code).toBe("payload_too_large");
  });
});

describe("a route of the dashboard", () => {
  test("that takes no files refuses a form with files, and one that does refuses JSON", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const { page } = await app.page();
    const before = app.audit();
    const upload = asUpload([{ name: "name", text: "Other" }]);
    const plain = await app.call(`/admin/pages/${page.id}/general`, { session, ...upload });
    expectProblem(plain, "unsupported_media_type");
    const json = { session, json: {}, headers: { origin: "http://status.test" }, method: "POST" };
    expectProblem(await app.call(`/admin/pages/${page.id}/logo`, json), "unsupported_media_type");
    expect(app.audit()).toEqual(before);
  });

  test("refuses a form with files that another site sent, and its own is taken", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const { page } = await app.page();
    const path = `/admin/pages/${page.id}/logo`;
    const parts = [{ ...LOGO, bytes: "no picture" }];
    const strangers: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site" },
      { origin: "https://evil.test" },
      { origin: "null" },
    ];
    for (const headers of strangers) {
      const answer = await app.call(path, { session, ...asUpload(parts, headers) });
      expectProblem(answer, "cross_site_request");
    }
    // Ours is read, and refused for what it holds.
    expect((await app.call(path, { session, ...asUpload(parts) })).status).toBe(422);
  });

  test("refuses a form with files by its declared size before any of it is read", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const { page } = await app.page();
    const upload = asUpload([{ ...LOGO, bytes: new Uint8Array(LIMIT) }]);
    const answer = await app.call(`/admin/pages/${page.id}/logo`, { session, ...upload });
    expectProblem(answer, "payload_too_large");
  });
});
