import { describe, expect, test } from "bun:test";
import { actionsOf } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { asUpload } from "../../../support/multipart";
import {
  createPageDashboard,
  type PageDashboard,
  PAGES,
  flashAfter,
} from "../../../support/page-dashboard";

/** Returns the first bytes of a PNG of this size, which identify it. */
function png(width: number, height: number, more = 0): Uint8Array {
  const bytes = Buffer.alloc(33 + more);
  bytes.write("\x89PNG\r\n\x1a\n", 0, "latin1");
  bytes.writeUInt32BE(13, 8);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

const lookOf = ({ id }: PageDashboard) => `${PAGES}/${id}/look`;

function upload(site: PageDashboard, bytes: Uint8Array | string, filename = "logo.png") {
  const parts = [{ name: "logo", filename, type: "image/png", bytes }];
  return site.show(`${PAGES}/${site.id}/logo`, asUpload(parts));
}

/** Returns the addresses of the page's logo on the dashboard. */
async function logoOn(site: PageDashboard): Promise<string[]> {
  return readHtml((await site.show(lookOf(site))).text).attributes("main img", "src");
}

describe("a page's logo", () => {
  test("a logo is uploaded by a form that states its types, and is shown on the dashboard and the page", async () => {
    await using site = await createPageDashboard();
    const form = readHtml((await site.show(lookOf(site))).text);
    expect(form.attributes('form[action$="/logo"]', "enctype")).toEqual(["multipart/form-data"]);
    expect(form.attributes('form[action$="/logo"] input[type="file"]', "accept")).toEqual([
      "image/png,image/jpeg,image/webp",
    ]);
    const answer = await upload(site, png(320, 80));
    expect(await flashAfter(site, answer, lookOf(site))).toBe("The logo was changed.");
    const [src = ""] = await logoOn(site);
    expect(src).toStartWith("/status/acme/");
    const served = await site.app.call(src);
    expect([served.status, served.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await site.app.call("/status/acme")).text).toContain(src);
    const screen = readHtml((await site.show(lookOf(site))).text);
    expect(screen.attributes("main img", "alt")).toEqual(["Acme"]);
    expect(screen.attributes("main img", "width")).toEqual(["320"]);
    expect(actionsOf(site.app).at(-1)).toBe("page.put_logo");
  });

  test("a logo can be replaced and removed, and removing it again changes nothing", async () => {
    await using site = await createPageDashboard();
    await upload(site, png(320, 80));
    const [first] = await logoOn(site);
    await upload(site, png(64, 64));
    const [second] = await logoOn(site);
    expect(second).not.toBe(first);
    await site.show(lookOf(site));
    const remove = `${PAGES}/${site.id}/logo/remove`;
    const screen = readHtml((await site.show(lookOf(site))).text);
    expect(screen.attributes("main form", "action")).toContain(remove);
    const answer = await site.send(remove);
    expect(await flashAfter(site, answer, lookOf(site))).toStartWith("The logo was removed.");
    expect(await logoOn(site)).toEqual([]);
    const before = site.state();
    const again = await site.send(remove);
    expect(await flashAfter(site, again, lookOf(site))).toBe("Nothing was changed.");
    expect(site.state()).toEqual(before);
    expect(
      readHtml((await site.show(lookOf(site))).text).attributes("main form", "action"),
    ).not.toContain(remove);
  });

  test("the same logo can be uploaded again after it was removed", async () => {
    await using site = await createPageDashboard();
    await upload(site, png(320, 80));
    const logo = await logoOn(site);
    await site.send(`${PAGES}/${site.id}/logo/remove`);
    await upload(site, png(320, 80));
    expect(await logoOn(site)).toEqual(logo);
  });

  test.each([
    {
      what: "no picture",
      bytes: "<svg onload=alert(1)>",
      why: "Logo is not an image in PNG, JPEG or WebP.",
    },
    {
      what: "too many pixels",
      bytes: png(2_001, 10),
      why: "Logo is 2001 × 10 pixels; the maximum is",
    },
    { what: "too many bytes", bytes: png(10, 10, 131_072), why: "Logo is larger than 128 KiB." },
    { what: "an empty file", bytes: "", why: "Logo is not an image in PNG, JPEG or WebP." },
  ])(
    "a logo that is $what is rejected with an error, and nothing is written",
    async ({ bytes, why }) => {
      await using site = await createPageDashboard();
      await upload(site, png(320, 80));
      const kept = await logoOn(site);
      const before = site.state();
      const answer = await upload(site, bytes);
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)["logo"]).toStartWith(why);
      expect(await logoOn(site)).toEqual(kept);
      expect(site.state()).toEqual(before);
    },
  );

  test("an upload without a file is rejected with an error, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const path = `${PAGES}/${site.id}/logo`;
    const answers = [await upload(site, "", ""), await site.send(path, {})];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({
        logo: "Select a file, then upload it.",
      });
    }
    expect(site.state()).toEqual(before);
    const back = await site.show(path);
    expect([back.status, back.headers.get("location")]).toEqual([303, lookOf(site)]);
  });
});
