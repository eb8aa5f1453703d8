import { describe, expect, test } from "bun:test";
import { listOldSlugs } from "../../../../src/features/pages/pages";
import { actionsOf } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  chosenIn,
  createPageDashboard,
  type PageDashboard,
  PAGES,
  flashAfter,
} from "../../../support/page-dashboard";

const addressOf = ({ id }: PageDashboard) => `${PAGES}/${id}/address`;
const oldSlugsOf = (site: PageDashboard) =>
  listOldSlugs(site.app.ctx.db, site.page()).map(({ slug }) => slug);

describe("changing a page's slug", () => {
  test("changing a page's slug moves the page and redirects the old address", async () => {
    await using site = await createPageDashboard();
    const answer = await site.change("address", { slug: " New-Acme " });
    expect(await flashAfter(site, answer, addressOf(site))).toStartWith("The slug was changed.");
    expect((await site.app.call("/status/new-acme")).status).toBe(200);
    const old = await site.app.call("/status/acme");
    expect([old.status, old.headers.get("location")]).toEqual([308, "/status/new-acme"]);
    const screen = readHtml((await site.show(addressOf(site))).text);
    expect(screen.texts("tbody code")).toEqual(["/status/acme"]);
  });

  test("a page can take back its own earlier slug without a release", async () => {
    await using site = await createPageDashboard();
    await site.change("address", { slug: "second" });
    expect((await site.change("address", { slug: "acme" })).status).toBe(303);
    expect(oldSlugsOf(site)).toEqual(["second"]);
  });

  test("an invalid or taken slug is redisplayed with its error, and nothing is written", async () => {
    await using site = await createPageDashboard();
    await site.create();
    const before = site.state();
    for (const [slug, why] of [
      ["northwind", "Slug is taken by the page “Northwind”."],
      ["admin", "Slug is reserved."],
      ["a b", "Slug must be at most 63 lower-case letters"],
      ["", "Slug must be at most 63 lower-case letters"],
    ] as const) {
      const answer = await site.change("address", { slug });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)["slug"]).toStartWith(why);
      expect(typedIn(answer.text, "slug")).toEqual([slug]);
    }
    expect(site.state()).toEqual(before);
  });

  test("an outdated change of a slug is a conflict", async () => {
    await using site = await createPageDashboard();
    const [version = ""] = typedIn((await site.show(addressOf(site))).text, "version");
    await site.change("address", { slug: "theirs" });
    const answer = await site.send(addressOf(site), { version, slug: "mine" });
    expect(answer.status).toBe(409);
    expect(typedIn(answer.text, "slug")).toEqual(["mine"]);
    expect(site.page().slug).toBe("theirs");
  });
});

describe("releasing an earlier slug", () => {
  const releaseOf = ({ id }: PageDashboard, slug: string) => `${PAGES}/${id}/slugs/${slug}/release`;

  test("releasing a slug asks for confirmation, then the slug is not found and free for any page", async () => {
    await using site = await createPageDashboard();
    await site.change("address", { slug: "new-acme" });
    const screen = readHtml((await site.show(addressOf(site))).text);
    const path = releaseOf(site, "acme");
    expect(screen.attributes("tbody a", "href")).toEqual([path]);
    const question = readHtml((await site.show(path)).text);
    expect(question.texts("[data-dialog-body] h1")).toEqual(["Release “acme”?"]);
    expect(question.attributes("[data-dialog-body] form", "action")).toEqual([path]);
    // Read before, so that what is kept in memory must be dropped.
    expect((await site.app.call("/status/acme")).status).toBe(308);
    const answer = await site.send(path);
    expect(await flashAfter(site, answer, addressOf(site))).toBe("The slug “acme” was released.");
    expect((await site.app.call("/status/acme")).status).toBe(404);
    expect((await site.app.call("/status/new-acme")).status).toBe(200);
    expect(actionsOf(site.app).at(-1)).toBe("page.release_slug");
    expect((await site.create({ slug: "acme" })).status).toBe(303);
  });

  test("releasing a slug twice changes nothing the second time", async () => {
    await using site = await createPageDashboard();
    await site.change("address", { slug: "new-acme" });
    await site.send(releaseOf(site, "acme"));
    const before = site.state();
    const again = await site.send(releaseOf(site, "acme"));
    expect(await flashAfter(site, again, addressOf(site))).toBe("Nothing was changed.");
    expect(site.state()).toEqual(before);
  });

  test("neither the current slug nor a slug of another page can be released", async () => {
    await using site = await createPageDashboard();
    await site.create();
    const before = site.state();
    for (const slug of ["acme", "northwind", "nobodys", "..%2Facme"]) {
      const confirmation = await site.show(releaseOf(site, slug));
      expect([confirmation.status, confirmation.headers.get("location")]).toEqual([
        303,
        addressOf(site),
      ]);
      await site.send(releaseOf(site, slug));
    }
    expect(site.state()).toEqual(before);
    expect((await site.app.call("/status/northwind")).status).toBe(200);
    expect((await site.app.call("/status/acme")).status).toBe(200);
  });
});

describe("a page's custom domains", () => {
  test("custom domains are typed one per line, stored normalised, and serve the page", async () => {
    await using site = await createPageDashboard();
    const typed = " Status.Acme.test. \r\n\r\nbücher.example, status.example.org ";
    const answer = await site.change("domains", { custom_domains: typed });
    expect(await flashAfter(site, answer, addressOf(site))).toBe(
      "The custom domains were changed.",
    );
    expect(site.page().customDomains).toEqual([
      "status.acme.test",
      "xn--bcher-kva.example",
      "status.example.org",
    ]);
    const page = await site.app.call("/", { host: "status.acme.test" });
    expect([page.status, page.text.includes("Acme")]).toEqual([200, true]);
    const shown = chosenIn((await site.show(addressOf(site))).text, "custom_domains");
    expect(shown).toBe("status.acme.test xn--bcher-kva.example status.example.org");
  });

  test("unchanged custom domains are no change, and empty ones remove all", async () => {
    await using site = await createPageDashboard();
    await site.change("domains", { custom_domains: "status.acme.test" });
    const before = site.state();
    const same = await site.change("domains", { custom_domains: "STATUS.acme.test\r\n" });
    expect(await flashAfter(site, same, addressOf(site))).toBe("Nothing was changed.");
    expect(site.state()).toEqual(before);
    expect((await site.change("domains", { custom_domains: " " })).status).toBe(303);
    expect(site.page().customDomains).toEqual([]);
  });

  test.each([
    { typed: "https://status.acme.test", why: "“https://status.acme.test” must be a host name" },
    { typed: "a.test\n127.0.0.1", why: "“127.0.0.1” must be a host name" },
    { typed: "a.test a.test", why: "“a.test” is already in the list." },
    { typed: "status.test", why: "“status.test” is the host of the public address" },
    {
      typed: "taken.example",
      why: "The custom domain taken.example is used by the page northwind.",
      status: 409,
    },
    {
      typed: Array.from({ length: 11 }, (_, n) => `h${n}.test`).join("\n"),
      why: "Host names must be at most 10.",
    },
  ])(
    "invalid custom domains are redisplayed with an error, and nothing is written: $why",
    async ({ typed, why, status = 422 }) => {
      await using site = await createPageDashboard();
      const other = site.screenOf(await site.create());
      const [version = ""] = typedIn((await site.show(`${other}/address`)).text, "version");
      await site.send(`${other}/domains`, { version, custom_domains: "taken.example" });
      const before = site.state();
      const answer = await site.change("domains", { custom_domains: typed });
      expect(answer.status).toBe(status);
      expect(fieldErrorsOn(answer.text)["custom_domains"]).toStartWith(why);
      expect(chosenIn(answer.text, "custom_domains")).toBe(typed.replaceAll("\n", " "));
      expect(site.state()).toEqual(before);
    },
  );

  test("the host of the current request to the dashboard is rejected as custom domain", async () => {
    await using site = await createPageDashboard();
    const [version = ""] = typedIn((await site.show(addressOf(site))).text, "version");
    const before = site.state();
    const form = { version, custom_domains: "Inside.Acme.test" };
    const path = `${PAGES}/${site.id}/domains`;
    const answer = await site.send(path, form, { host: "inside.acme.test:8080" });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["custom_domains"]).toStartWith(
      "“inside.acme.test” is the host of this dashboard",
    );
    expect(site.state()).toEqual(before);
    expect((await site.send(path, form)).status).toBe(303);
  });

  test("a GET of the address of the domain form redirects to the address tab", async () => {
    await using site = await createPageDashboard();
    const answer = await site.show(`${PAGES}/${site.id}/domains`);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, addressOf(site)]);
  });
});
