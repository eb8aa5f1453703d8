import { describe, expect, test } from "bun:test";
import { Problem } from "../../src/base/errors";
import { declaredBodyOf } from "../../src/http/body";
import { type Form, formBody } from "../../src/http/form-body";
import { createTestApp, expectProblem } from "../support/app";
import { asUpload, multipart, type Part } from "../support/multipart";
import { rejectionOf } from "../support/rejection";

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
  return declaredBodyOf(formBody({ files: takesFiles }))?.read(
    request,
    {} as never,
  ) as Promise<Form>;
}

const readParts = (parts: readonly Part[], boundary?: string) => read(multipart(parts, boundary));

describe("a form with files", () => {
  test("a multipart form returns texts as typed and files byte by byte", async () => {
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

  test("a multipart form without a selected file has none, and an empty file is kept", async () => {
    const none = { name: "logo", filename: "", bytes: "" };
    expect((await readParts([none])).file("logo")).toBeUndefined();
    const empty = { name: "logo", filename: "empty.png", bytes: "" };
    expect((await readParts([empty])).file("logo")?.bytes.byteLength).toBe(0);
  });

  test("a route for files accepts a form without files", async () => {
    const form = await read({ body: "a=1&a=2", type: "application/x-www-form-urlencoded" });
    expect([form.all("a"), form.file("a")]).toEqual([["1", "2"], undefined]);
  });

  test("a multipart form keeps the first of several files in one field", async () => {
    const files = ["one", "two"].map((name) => ({ name: "logo", filename: name, bytes: name }));
    expect((await readParts(files)).file("logo")?.name).toBe("one");
  });

  test("a multipart form accepts field names such as __proto__", async () => {
    const form = await readParts([
      { name: "__proto__", text: "x" },
      { name: "constructor", filename: "f", bytes: "y" },
    ]);
    expect(form.text("__proto__")).toBe("x");
    expect(form.file("constructor")?.name).toBe("f");
    expect(form.file("__proto__")).toBeUndefined();
    expect(form.text("toString")).toBe("");
  });

  test("a multipart form can have a thousand fields", async () => {
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

  test("the digest of a multipart form does not depend on its boundary", async () => {
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
  ])("the digest of a multipart form differs with $what", async ({ other }) => {
    expect((await readParts(other)).digest).not.toBe((await readParts(parts)).digest);
  });

  test("the digest of a multipart form differs with its path", async () => {
    const there = await read(multipart(parts), { url: "http://status.test/elsewhere" });
    expect(there.digest).not.toBe((await readParts(parts)).digest);
  });
});

describe("invalid multipart bodies", () => {
  const { body, type } = multipart([{ ...LOGO, bytes: "picture" }], "B");
  test.each([
    { what: "is cut off", body: body.slice(0, 60), type },
    { what: "is empty", body: new Uint8Array(), type },
    { what: "names no boundary", body, type: "multipart/form-data" },
    { what: "has another boundary than it names", body, type: `${type}C` },
    { what: "is text", body: new TextEncoder().encode("logo=1"), type },
  ])("a multipart body is invalid_request when it $what", async ({ body, type }) => {
    const problem = await rejectionOf(read({ body, type }));
    expect(problem).toBeInstanceOf(Problem);
    expect(problem.code).toBe("invalid_request");
  });

  test("a multipart body larger than 256 KiB is payload_too_large", async () => {
    const overhead = multipart([{ ...LOGO, bytes: "" }]).body.byteLength;
    const largest = multipart([{ ...LOGO, bytes: new Uint8Array(LIMIT - overhead) }]);
    expect((await read(largest)).file("logo")?.bytes.byteLength).toBe(LIMIT - overhead);
    const larger = multipart([{ ...LOGO, bytes: new Uint8Array(LIMIT - overhead + 1) }]);
    expect((await rejectionOf(read(larger))).code).toBe("payload_too_large");
  });
});

describe("a route of the dashboard", () => {
  test("a route without files rejects a multipart form, and one with files rejects JSON", async () => {
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

  test("a multipart form from another site is rejected, and one from the dashboard is read", async () => {
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

  test("a multipart form with a too large declared size is rejected", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const { page } = await app.page();
    const upload = asUpload([{ ...LOGO, bytes: new Uint8Array(LIMIT) }]);
    const answer = await app.call(`/admin/pages/${page.id}/logo`, { session, ...upload });
    expectProblem(answer, "payload_too_large");
  });
});
