import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { deleteLogo, putLogo, findPicture, readPicture } from "../../../src/features/pages/logo";
import { getPage } from "../../../src/features/pages/pages";
import { logoPath } from "../../../src/features/pages/addresses";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { GIF, picture, PICTURES, png } from "../../support/pictures";
import { rejectionOf } from "../../support/rejection";

const NAMES = Object.keys(PICTURES) as (keyof typeof PICTURES)[];

const put = (app: TestApp, id: string, bytes: Uint8Array, mediaType?: string) =>
  app.ctx.db.write((tx) => putLogo(app.ctx, tx, id, { bytes, mediaType }, CLI_ACTOR));

const remove = (app: TestApp, id: string) =>
  app.ctx.db.write((tx) => deleteLogo(app.ctx, tx, id, CLI_ACTOR));

describe("a logo", () => {
  test.each(NAMES)("a logo can be a %s and is stored unchanged", async (name) => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const bytes = picture(name);
    const after = await put(app, page.id, bytes);
    expect(after.logo).toMatch(/^[0-9a-f]{16}-7x3\.(png|jpg|webp)$/);
    expect(after.version).toBe(page.version + 1);
    expect(logoPath(after)).toBe(`/status/acme/logo/${after.logo}`);
    const kept = findPicture(app.ctx.db, "logo", page.id, after.logo ?? "");
    expect(Buffer.from(kept?.bytes ?? []).equals(bytes)).toBe(true);
    expect(kept).toMatchObject({ width: 7, height: 3 });
    expect(kept?.mediaType).toBe(`image/${name.split(" ").at(-1)}` as "image/png");
    expect(app.audit().at(-1)).toMatchObject({
      action: "page.put_logo",
      targetId: page.id,
      summary: "Changed the logo of the page “Acme”",
    });
  });

  test("the type of a logo is read from its bytes, not from its declared type", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const after = await put(app, page.id, picture("png"), "text/html");
    expect(findPicture(app.ctx.db, "logo", page.id, after.logo ?? "")?.mediaType).toBe("image/png");
  });

  test("a new logo replaces the earlier one", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const first = await put(app, page.id, picture("png"));
    const second = await put(app, page.id, png(320, 80));
    expect(second.logo).toMatch(/-320x80\.png$/);
    expect(findPicture(app.ctx.db, "logo", page.id, first.logo ?? "")).toBeUndefined();
    expect(findPicture(app.ctx.db, "logo", page.id, second.logo ?? "")).toMatchObject({
      width: 320,
    });
  });

  test("storing the same logo again changes nothing", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const after = await put(app, page.id, picture("png"));
    const written = app.audit().length;
    expect(await put(app, page.id, picture("png"))).toEqual(after);
    expect(app.audit()).toHaveLength(written);
  });

  test("a logo can be removed, and removing it again changes nothing", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const { logo } = await put(app, page.id, picture("png"));
    const after = await remove(app, page.id);
    expect(after).toMatchObject({ logo: null, version: page.version + 2 });
    expect(logoPath(after)).toBeNull();
    expect(findPicture(app.ctx.db, "logo", page.id, logo ?? "")).toBeUndefined();
    expect(app.audit().at(-1)?.action).toBe("page.delete_logo");
    const written = app.audit().length;
    expect(await remove(app, page.id)).toEqual(after);
    expect(app.audit()).toHaveLength(written);
  });

  test("a logo can have 128 KiB and be 2,000 pixels wide and high", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const bytes = png(2_000, 2_000);
    const heaviest = png(2_000, 2_000, 131_072 - bytes.byteLength - 12);
    expect(heaviest.byteLength).toBe(131_072);
    expect((await put(app, page.id, heaviest)).logo).toMatch(/-2000x2000\.png$/);
  });

  test.each([
    ["nothing", Buffer.alloc(0), "is not an image in PNG, JPEG or WebP"],
    ["a GIF", GIF, "is not an image in PNG, JPEG or WebP"],
    ["an SVG", Buffer.from("<svg xmlns='…'/>"), "is not an image in PNG, JPEG or WebP"],
    ["a PNG of no width", png(0, 3), "is not an image in PNG, JPEG or WebP"],
    ["2,001 pixels", png(3, 2_001), "is 3 × 2001 pixels; the maximum is 2,000 × 2,000"],
    ["a byte too many", png(9, 9, 131_073 - png(9, 9).byteLength - 12), "is larger than 128 KiB"],
  ])("a logo that is %s is rejected, and nothing is written", async (_what, bytes, detail) => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const { logo } = await put(app, page.id, picture("png"));
    const before = { row: getPage(app.ctx.db, page.id), audit: app.audit().length };
    const rejection = await rejectionOf(put(app, page.id, bytes));
    expect(rejection.code).toBe("validation_failed");
    expect(rejection.fields).toEqual([{ pointer: "#/logo", detail }]);
    expect({ row: getPage(app.ctx.db, page.id), audit: app.audit().length }).toEqual(before);
    expect(findPicture(app.ctx.db, "logo", page.id, logo ?? "")).toBeDefined();
  });

  test("a logo of an unknown page is not_found", async () => {
    await using app = await createTestApp();
    expect((await rejectionOf(put(app, "page_none", picture("png")))).code).toBe("not_found");
    expect((await rejectionOf(remove(app, "page_none"))).code).toBe("not_found");
  });
});

describe("reading a picture's type and size", () => {
  test.each(NAMES)(
    "a %s is recognised by its first bytes, and any shorter part is read without failure",
    (name) => {
      const bytes = picture(name);
      const whole = readPicture(bytes);
      expect(whole).toMatchObject({ width: 7, height: 3 });
      for (let length = 0; length < bytes.byteLength; length++) {
        const part = readPicture(bytes.subarray(0, length));
        expect(part === undefined || Bun.deepEquals(part, whole)).toBe(true);
      }
      expect(readPicture(bytes.subarray(0, 11))).toBeUndefined();
    },
  );

  test("any bytes after a picture's signature are read without failure", () => {
    const signature = fc.constantFrom(...NAMES.map((name) => picture(name).subarray(0, 12)));
    fc.assert(
      fc.property(signature, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
        const read = readPicture(Buffer.concat([start, rest]));
        expect(read === undefined || (read.width > 0 && read.height > 0)).toBe(true);
      }),
    );
  });

  test("a picture within a larger buffer is recognised", () => {
    const padded = Buffer.concat([Buffer.alloc(5), picture("lossy webp")]);
    expect(readPicture(padded.subarray(5))).toMatchObject({ width: 7, height: 3 });
  });
});
