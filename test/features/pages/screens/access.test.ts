import { describe, expect, test } from "bun:test";
import { createPasswords } from "../../../../src/features/auth/passwords";
import { findPagePassword, listLinksOfPage } from "../../../../src/features/pages/access-store";
import type { CallOptions } from "../../../support/app";
import { actionsOf, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { createPageAccess } from "../../../support/page-access";
import { createPageDashboard, flashAfter, PAGES, READERS } from "../../../support/page-dashboard";

const PASSWORD = "correct horse";

async function createAccessSite() {
  const dashboard = await createPageDashboard();
  const { app, id } = dashboard;
  const path = `${PAGES}/${id}/access`;
  const rules = createPageAccess(app, id);
  await rules.update({ visibility: "private" });
  return {
    ...dashboard,
    path,
    rules,
    screen: async (options: CallOptions = {}) =>
      readHtml((await dashboard.show(path, options)).text),
    hash: () => findPagePassword(app.ctx.db, { pageId: id })?.hash,
    links: () => listLinksOfPage(app.ctx.db, { pageId: id }),
    /** Opens the form for a new link and sends it filled in. */
    async createLink(fields: Record<string, string> = {}) {
      const create = `${PAGES}/${id}/links/new`;
      const form = await openForm(app, create, dashboard.admin);
      return dashboard.send(create, { form, name: "Partner", expires: "never", ...fields });
    },
  };
}

describe("the tab Access of a page", () => {
  test("the tab says whom the rules admit, for a public page, a private one without rules and one with a rule", async () => {
    await using site = await createAccessSite();
    const effect = async () => (await site.screen()).texts("#page-visibility .muted")[0];
    expect(await effect()).toContain("only signed-in users see the page");
    await site.rules.networks("198.51.100.0/24");
    expect(await effect()).toContain("by any one of the rules below");
    await site.rules.update({ visibility: "public" });
    expect(await effect()).toContain("the rules below have no effect");
  });

  test("making a page with rules private says that its rules admit visitors", async () => {
    await using site = await createAccessSite();
    await site.rules.networks("198.51.100.0/24");
    await site.rules.update({ visibility: "public" });
    const answer = await site.change("access", { visibility: "private" });
    expect(await flashAfter(site, answer, site.path)).toBe(
      "The page is now private. Only signed-in users and visitors by its rules can see it.",
    );
  });

  test("the overview of a page names the kinds of its rules for every role, without their content", async () => {
    await using site = await createAccessSite();
    await site.rules.password(PASSWORD);
    await site.rules.networks("198.51.100.0/24");
    for (const session of [site.admin, await site.app.signedIn("viewer")]) {
      // oxlint-disable-next-line no-await-in-loop
      const { text } = await site.show(`${PAGES}/${site.id}`, { session });
      expect(readHtml(text).texts(".facts dd")).toContain("By password, network");
      expect(text).not.toContain("198.51.100");
    }
  });

  test("only admins and owners open the tab and use its forms", async () => {
    await using site = await createAccessSite();
    const { link } = await site.rules.link("Partner");
    const sessions = await Promise.all(READERS.map((role) => site.app.signedIn(role)));
    const before = site.state();
    const base = `${PAGES}/${site.id}`;
    for (const session of sessions) {
      for (const path of [site.path, `${base}/links/new`, `${base}/links/${link.id}/revoke`]) {
        // oxlint-disable-next-line no-await-in-loop
        expect([path, (await site.show(path, { session })).status]).toEqual([path, 403]);
      }
      const form = {
        version: "1",
        form: "1",
        password: PASSWORD,
        networks: "10.0.0.0/8",
        name: "A",
      };
      for (const action of [
        "access",
        "password",
        "password/remove",
        "networks",
        "links/new",
        `links/${link.id}/revoke`,
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        const { status } = await site.send(`${base}/${action}`, form, { session });
        expect([action, status]).toEqual([action, 403]);
      }
    }
    expect(site.state()).toEqual(before);
  });
});

describe("the form for the password of a page", () => {
  test("the form sets a password, which no screen shows, and changes it", async () => {
    await using site = await createAccessSite();
    const action = `${PAGES}/${site.id}/password`;
    expect((await site.screen()).texts("#page-password button")).toEqual(["Set password"]);
    const set = await site.send(action, { password: PASSWORD });
    expect(await flashAfter(site, set, site.path)).toBe("The password was set.");
    expect(await createPasswords().verify(PASSWORD, site.hash())).toBe(true);
    const screen = await site.show(site.path);
    expect(readHtml(screen.text).texts("#page-password button")).toEqual([
      "Remove password",
      "Change password",
    ]);
    expect(screen.text).not.toContain(PASSWORD);
    expect(screen.text).not.toContain("argon2");
    const changed = await site.send(action, { password: `${PASSWORD} battery` });
    expect(await flashAfter(site, changed, site.path)).toStartWith("The password was changed.");
    expect(await createPasswords().verify(PASSWORD, site.hash())).toBe(false);
    expect(actionsOf(site.app).slice(-2)).toEqual(["page.set_password", "page.set_password"]);
  });

  test.each(["", "1234567", "x".repeat(201)])(
    "an invalid password is an error at its field, is not shown again, and changes nothing (%#)",
    async (password) => {
      await using site = await createAccessSite();
      const before = site.state();
      const answer = await site.send(`${PAGES}/${site.id}/password`, { password });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({
        password: "New password must have 8 to 200 characters.",
      });
      if (password !== "") expect(answer.text).not.toContain(password);
      expect([site.state(), site.hash()]).toEqual([before, undefined]);
    },
  );

  test("the password can be removed, and a second submission changes nothing", async () => {
    await using site = await createAccessSite();
    await site.rules.password(PASSWORD);
    const remove = `${PAGES}/${site.id}/password/remove`;
    const answer = await site.send(remove);
    expect(await flashAfter(site, answer, site.path)).toBe("The password was removed.");
    expect(site.hash()).toBeUndefined();
    const before = site.state();
    const again = await site.send(remove);
    expect(await flashAfter(site, again, site.path)).toBe("Nothing was changed.");
    expect(site.state()).toEqual(before);
  });

  test.each(["password", "networks", "visibility"])(
    "the address of the form %s leads back to the tab",
    async (form) => {
      await using site = await createAccessSite();
      const answer = await site.show(`${PAGES}/${site.id}/${form}`);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, site.path]);
    },
  );
});

describe("the form for the networks of a page", () => {
  test("the form stores networks, one a line or separated by commas, and shows them again", async () => {
    await using site = await createAccessSite();
    const answer = await site.change("networks", {
      networks: "198.51.100.0/24\r\n 2001:db8::/32, 10.0.0.1",
    });
    expect(await flashAfter(site, answer, site.path)).toBe("The networks were changed.");
    expect(site.page().networks).toEqual(["198.51.100.0/24", "2001:db8::/32", "10.0.0.1"]);
    const { text } = await site.show(site.path);
    expect(text).toContain("198.51.100.0/24\n2001:db8::/32\n10.0.0.1</textarea>");
    await site.change("networks", { networks: " " });
    expect(site.page().networks).toEqual([]);
  });

  test("an invalid network is named beside what was typed, and nothing is written", async () => {
    await using site = await createAccessSite();
    const before = site.state();
    const answer = await site.change("networks", { networks: "10.0.0.0/8\n0.0.0.0/0" });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["networks"]).toStartWith("“0.0.0.0/0” is every address");
    expect(answer.text).toContain("10.0.0.0/8\n0.0.0.0/0</textarea>");
    const many = Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`).join("\n");
    const tooMany = await site.change("networks", { networks: many });
    expect(fieldErrorsOn(tooMany.text)).toEqual({ networks: "Networks must be at most 100." });
    expect(site.state()).toEqual(before);
  });

  test("the form shows the address from which the screen is open", async () => {
    await using site = await createAccessSite();
    const seen = (await site.screen({ from: "198.51.100.20" })).texts("#page-networks .muted");
    expect(seen).toEqual(["Your address, as Allclear sees it now: 198.51.100.20"]);
  });

  test.each([
    ["X-Forwarded-For", "203.0.113.99"],
    ["Forwarded", "for=203.0.113.99"],
  ])(
    "the form warns if the request has the header %s of a peer that is not trusted",
    async (header, value) => {
      await using site = await createAccessSite();
      const headers = { [header]: value };
      const page = await site.screen({ from: "198.51.100.20", headers });
      const [notice = ""] = page.texts("#page-networks .notice");
      expect(notice).toContain("a proxy that is not trusted");
      expect(notice).toContain("198.51.100.20");
      expect(notice).not.toContain("203.0.113.99");
      expect(page.texts("#page-networks .muted")).toEqual([]);
    },
  );
});

test("the form warns if networks do not count at the host at which it is open", async () => {
  await using site = await createAccessSite();
  const notices = async (host: string) =>
    (await site.screen({ host })).texts("#page-networks .notice").join();
  expect(await notices("other.example")).toContain("do not count at this host name");
  expect(await notices("status.test")).toBe("");
  expect(await notices("nas:8080")).toBe("");
});

describe("the links of a page", () => {
  test("a new link is shown once with the addresses of its documents, and is listed by its name alone", async () => {
    await using site = await createAccessSite();
    const answer = await site.createLink({ expires: "30" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const [url = "", feed, calendar] = readHtml(answer.text).texts("code[data-secret]");
    expect(url).toMatch(/^https:\/\/status\.test\/status\/acme\/with\/[0-9A-Za-z]{43}$/);
    expect([feed, calendar]).toEqual([`${url}/feed.atom`, `${url}/calendar.ics`]);
    const { text } = await site.show(site.path);
    expect(text).not.toContain(url.slice(-43));
    const cells = readHtml(text).texts("#page-links td");
    expect(cells[0]).toBe("Partner");
    expect(cells[3]).toBe("Never");
    expect(cells[4]).toStartWith("Revoke");
    expect(actionsOf(site.app).at(-1)).toBe("page.create_link");
  });

  test("the use of a link is shown at once, though it is written later", async () => {
    await using site = await createAccessSite();
    const { link, token } = await site.rules.link("Partner");
    expect((await site.app.call(`/status/acme/with/${token}`)).status).toBe(303);
    expect((await site.screen()).texts("#page-links td")[3]).not.toBe("Never");
    expect(site.links().find(({ id }) => id === link.id)?.lastUsedAt).toBeNull();
  });

  test("a link form that is submitted again shows the same link, and later none", async () => {
    await using site = await createAccessSite();
    const create = `${PAGES}/${site.id}/links/new`;
    const form = await openForm(site.app, create, site.admin);
    const send = () => site.send(create, { form, name: "Partner", expires: "never" });
    const shown = async () => readHtml((await send()).text).texts("code[data-secret]");
    const first = await shown();
    expect(first).toHaveLength(3);
    expect(await shown()).toEqual(first);
    await site.app.clock.advance(61_000);
    const third = await send();
    expect(readHtml(third.text).texts("h1")).toEqual(["This link was already shown"]);
    expect(third.text).not.toMatch(/with\/[0-9A-Za-z]{43}/);
    expect(site.links()).toHaveLength(1);
  });

  test("an invalid link form is shown again with its errors, and makes no link", async () => {
    await using site = await createAccessSite();
    const answer = await site.createLink({ name: "", expires: "date", expires_date: "2001-01-01" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text)).sort()).toEqual(["expires_date", "name"]);
    expect(typedIn(answer.text, "expires_date")).toEqual(["2001-01-01"]);
    expect(site.links()).toEqual([]);
  });

  test("an expired link is listed as expired", async () => {
    await using site = await createAccessSite();
    await site.rules.link("Old", new Date(site.app.clock.now() + 60_000).toISOString());
    await site.app.clock.advance(60_000);
    const page = await site.screen();
    expect(page.texts("#page-links tr.is-over td")[2]).toStartWith("Expired");
  });

  test("revoking a link asks first, removes it, and does nothing the second time", async () => {
    await using site = await createAccessSite();
    const { link } = await site.rules.link("Partner");
    const revoke = `${PAGES}/${site.id}/links/${link.id}/revoke`;
    const asked = readHtml((await site.show(revoke)).text);
    expect(asked.texts("h1")).toEqual(["Revoke “Partner”?"]);
    expect(asked.attributes("a[data-dialog-close]", "href")).toEqual([site.path]);
    const answer = await site.send(revoke);
    expect(await flashAfter(site, answer, site.path)).toBe("“Partner” was revoked.");
    expect(site.links()).toEqual([]);
    const before = site.state();
    expect(await flashAfter(site, await site.send(revoke), site.path)).toBe("Nothing was changed.");
    const gone = await site.show(revoke);
    expect([gone.status, gone.headers.get("location")]).toEqual([303, site.path]);
    expect(site.state()).toEqual(before);
  });

  test("a name that looks like markup is shown as text", async () => {
    await using site = await createAccessSite();
    const { link } = await site.rules.link("<script>alert(1)</script>");
    for (const path of [site.path, `${PAGES}/${site.id}/links/${link.id}/revoke`]) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await site.show(path)).text).not.toContain("<script>alert");
    }
  });
});
