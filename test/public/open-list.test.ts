import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { expectProblem } from "../support/app";
import { visit } from "../support/domains";
import { readHtml } from "../support/html";
import { createPublicSite, type PublicSite } from "../support/public-site";

const PATH = "/status/acme/incidents";

/** Reports open incidents, each an hour older than the one before, and one of three months ago. */
async function reportMany(site: PublicSite, count: number): Promise<void> {
  const now = site.app.clock.now();
  for (let number = 1; number <= count; number++) {
    await site.open({ name: `Open ${number}`, started_at: toIso(now - number * HOUR_MS) });
  }
  await site.open({ name: "Old", started_at: toIso(now - 90 * DAY_MS) });
  await site.open({ name: "Done", status: "resolved" });
  await site.open({ name: "Draft", draft: true });
}

const namesOn = (text: string) => readHtml(text).texts(".past .entry > a");
const linksOn = (text: string) => readHtml(text).attributes(".months a", "href");

describe("the list of open incidents", () => {
  test("the list shows all open incidents newest first, 25 on a part, also those of earlier months", async () => {
    await using site = await createPublicSite();
    await reportMany(site, 59);
    const home = readHtml((await site.app.call("/status/acme")).text);
    expect(home.attributes("#open .more a", "href")).toEqual([PATH]);
    expect(home.texts("#open .more a")).toEqual(["47 more open incidents"]);
    const names: string[] = [];
    for (let path: string | undefined = PATH; path;) {
      const { status, text } = await site.app.call(path);
      expect(status).toBe(200);
      expect(namesOn(text).length).toBeLessThanOrEqual(25);
      names.push(...namesOn(text));
      path = linksOn(text).find((href) => href.includes("before="));
    }
    expect(names).toEqual([
      ...Array.from({ length: 59 }, (_, index) => `Open ${index + 1}`),
      "Old",
    ]);
    const { text } = await site.app.call(PATH);
    expect(readHtml(text).texts(".title .muted")).toEqual(["60 incidents"]);
    expect(text).toContain("data-version");
  });

  test("the list says that no incidents are open, and follows a change", async () => {
    await using site = await createPublicSite();
    expect((await site.app.call(PATH)).text).toContain("No incidents are open.");
    const { id } = await site.open({ name: "Search is slow" });
    expect(namesOn((await site.app.call(PATH)).text)).toEqual(["Search is slow"]);
    await site.update(id, { status: "resolved" });
    expect(namesOn((await site.app.call(PATH)).text)).toEqual([]);
  });

  test("the list of a private page is not_found without a session", async () => {
    await using site = await createPublicSite({ visibility: "private" });
    await site.open({ name: "Search is slow" });
    expectProblem(await site.app.call(PATH), "not_found");
    const session = await site.app.signedIn("viewer");
    const answer = await site.app.call(PATH, { session });
    expect(namesOn(answer.text)).toEqual(["Search is slow"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("a custom domain serves the list of its own page, and an invalid cursor is rejected", async () => {
    await using site = await createPublicSite({ custom_domains: ["status.acme.example"] });
    await site.app.page({ slug: "main" });
    expect((await visit(site.app, "status.acme.example", PATH)).status).toBe(200);
    expect((await visit(site.app, "status.acme.example", "/status/main/incidents")).status).toBe(
      404,
    );
    expectProblem(await site.app.call(`${PATH}?before=x`), "invalid_request");
    expectProblem(await site.app.call("/status/unknown/incidents"), "not_found");
  });
});
