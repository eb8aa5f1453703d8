import { describe, expect, test } from "bun:test";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { createPageDashboard, flashAfter, PAGES } from "../../../support/page-dashboard";

describe("the clients of other products of a page", () => {
  test("choosing clients lets them read the page, and shows their addresses", async () => {
    await using site = await createPageDashboard();
    const share = `${PAGES}/${site.id}/share`;
    const document = "/api/status-page/acme";
    expect((await site.app.call(document)).status).toBe(404);
    expect((await site.show(share)).text).not.toContain(document);
    const answer = await site.change("compat", { compat: "uptime-kuma" });
    expect(await flashAfter(site, answer, share)).toBe("The clients were changed.");
    expect(site.page().compat).toEqual(["uptime-kuma"]);
    expect((await site.show(share)).text).toContain(`https://status.test${document}`);
    expect((await site.app.call(document)).status).toBe(200);
    await site.change("compat", { compat: ["gatus", "uptime-kuma"] });
    expect(site.page().compat).toEqual(["uptime-kuma", "gatus"]);
    expect((await site.show(share)).text).toContain("https://status.test/compat/gatus/acme/api");
    await site.change("compat", {});
    expect(site.page().compat).toEqual([]);
    expect((await site.app.call(document)).status).toBe(404);
  });

  test("an unknown product is redisplayed with its error, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const answer = await site.change("compat", { compat: "cachet" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["compat"]);
    expect(site.state()).toEqual(before);
  });

  test("viewers see the addresses and no form", async () => {
    await using site = await createPageDashboard();
    const session = await site.app.signedIn("viewer");
    const share = `${PAGES}/${site.id}/share`;
    expect((await site.show(share, { session })).text).not.toContain("Clients of other products");
    await site.change("compat", { compat: "uptime-kuma" });
    const screen = readHtml((await site.show(share, { session })).text);
    expect(screen.texts("#clients h2")).toEqual(["Clients of other products"]);
    expect(screen.texts("#clients form")).toEqual([]);
  });
});
