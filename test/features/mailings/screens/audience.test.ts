import { describe, expect, test } from "bun:test";
import { holdAllMailings } from "../../../../src/features/mail/hold";
import { DAY_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { createMailingSite, type MailingSite } from "../../../support/mailing-site";

const NEW_INCIDENT = "/admin/incidents/new";
const NEW_MAINTENANCE = "/admin/maintenance/new";

/** Opens a form, or sends it. */
async function openForm({ app }: MailingSite, path: string, form?: Record<string, string>) {
  const session = await app.signedIn("editor");
  const { text } = await app.call(path, { session, ...(form ? { form } : {}) });
  return readHtml(text);
}

/** Returns the hints of a form that are about subscribers, as they are shown without a script. */
async function hints(...at: Parameters<typeof openForm>): Promise<string[]> {
  const shown = await openForm(...at);
  return shown.texts(".hint").filter((hint) => hint.includes("subscriber"));
}

/** Returns those hints as a script shows them. */
async function sentences(...at: Parameters<typeof openForm>): Promise<string[]> {
  const shown = await openForm(...at);
  const counted = shown.attributes("[data-counted]", "data-counted");
  return counted.length > 0 ? counted : hints(...at);
}

async function createSite(): Promise<MailingSite> {
  const site = await createMailingSite();
  for (const name of ["anna", "bert"]) await site.subscribe(name);
  await site.subscribe("api", { targets: [site.ids["API"] ?? ""] });
  await site.subscribe("core", { targets: [site.group], events: ["maintenance"] });
  return site;
}

describe("a form", () => {
  test("for an incident says how many subscribers it e-mails, for the selected components", async () => {
    await using site = await createSite();
    expect(await sentences(site, NEW_INCIDENT)).toEqual([
      "E-mails 2 of 4 subscribers. It names no component, so 1 who chose components gets none.",
    ]);
    expect(await sentences(site, `${NEW_INCIDENT}?component=${site.ids["API"]}`)).toEqual([
      "E-mails 3 of 4 subscribers.",
    ]);
    const typed = { page: "acme", [`component:${site.ids["API"]}`]: "major_outage" };
    expect(await sentences(site, NEW_INCIDENT, typed)).toEqual(["E-mails 3 of 4 subscribers."]);
  });

  test("without a script says what is true for any components, if they make a difference", async () => {
    await using site = await createSite();
    const most = ["E-mails up to 3 of 4 subscribers, depending on its components."];
    expect(await hints(site, NEW_INCIDENT)).toEqual(most);
    const id = await site.open();
    expect(await hints(site, `/admin/incidents/${id}`)).toEqual(most);
    await using other = await createMailingSite();
    await other.subscribe("anna");
    expect(await hints(other, NEW_INCIDENT)).toEqual(["E-mails 1 of 1 subscriber."]);
  });

  test("that is sent to be counted again is not submitted", async () => {
    await using site = await createSite();
    const id = await site.open();
    const before = site.app.events().length;
    const api = { [`component:${site.ids["API"]}`]: "major_outage", intent: "count" };
    const named = { name: "Errors", body: "We look into it.", page: site.page.id, ...api };
    const counted = ["E-mails 3 of 4 subscribers."];
    expect(await sentences(site, NEW_INCIDENT, named)).toEqual(counted);
    expect(await sentences(site, `/admin/incidents/${id}/updates`, named)).toEqual(counted);
    const plan = { ...named, components: site.ids["API"] ?? "" };
    expect(await sentences(site, NEW_MAINTENANCE, plan)).toEqual(["E-mails 4 of 4 subscribers."]);
    expect(site.app.events()).toHaveLength(before);
  });

  test("for maintenance counts the groups of its components", async () => {
    await using site = await createSite();
    const [none = ""] = await sentences(site, NEW_MAINTENANCE);
    expect(none).toStartWith("E-mails 2 of 4 subscribers. It names no component, so 2 who");
    const id = await site.plan();
    for (const path of ["", "/start", "/cancel"]) {
      expect(await sentences(site, `/admin/maintenance/${id}${path}`)).toEqual([
        "E-mails 4 of 4 subscribers.",
      ]);
    }
  });

  test("for an update counts everybody whom the incident has reached, and for a post-mortem before its publication", async () => {
    await using site = await createSite();
    const id = await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    await site.update(id, { components: { [site.ids["API"] ?? ""]: "operational" } });
    expect(await sentences(site, `/admin/incidents/${id}`)).toEqual([
      "E-mails 3 of 4 subscribers.",
    ]);
    const postmortem = `/admin/incidents/${id}/postmortem`;
    expect(await sentences(site, postmortem)).toEqual(["E-mails 3 of 4 subscribers."]);
    await site.call(`incidents/${id}/postmortem`, { body: "Why.", publish: true }, "PUT");
    expect(await sentences(site, postmortem)).toEqual([]);
  });

  test.each([
    [179, "E-mails 1 of 1 subscriber."],
    [180, "E-mails 1 of 1 subscriber. 20 more mailings can go out today."],
    [199, "E-mails 1 of 1 subscriber. 1 more mailing can go out today."],
    [
      200,
      "E-mails 1 of 1 subscriber. No more mailings can go out today, so this one waits for an admin.",
    ],
  ])("says how many mailings people have left after %i", async (count, sentence) => {
    await using site = await createMailingSite();
    await site.subscribe("anna");
    await site.count("monitor", 50);
    await site.count("key", 200);
    await site.count("person", count);
    await site.count("person", 200, DAY_MS);
    const id = await site.open({ notify: false });
    const planned = await site.plan({ notify: false });
    for (const path of [
      NEW_INCIDENT,
      NEW_MAINTENANCE,
      `/admin/incidents/${id}`,
      `/admin/incidents/${id}/postmortem`,
      `/admin/maintenance/${planned}`,
      `/admin/maintenance/${planned}/cancel`,
    ]) {
      expect([path, await sentences(site, path)]).toEqual([path, [sentence]]);
    }
  });

  test("says how many mailings are left also without a script, if components make a difference", async () => {
    await using site = await createSite();
    await site.count("person", 182);
    expect(await hints(site, NEW_INCIDENT)).toEqual([
      "E-mails up to 3 of 4 subscribers, depending on its components. 18 more mailings can go out today.",
    ]);
  });

  test("says that all mailings are held", async () => {
    await using site = await createMailingSite();
    await site.subscribe("anna");
    await site.control(
      (ctx, tx) => void holdAllMailings(ctx, tx, { reason: "failures", since: ctx.clock.now() }),
    );
    expect(await sentences(site, NEW_INCIDENT)).toEqual([
      "E-mails 1 of 1 subscriber. All mailings are held until an admin releases them.",
    ]);
  });

  test("says nothing of subscribers for a private page, without any, and while mail is not ready", async () => {
    await using site = await createMailingSite();
    expect(await sentences(site, NEW_INCIDENT)).toEqual([]);
    await site.subscribe("anna");
    expect(await sentences(site, NEW_INCIDENT)).toEqual(["E-mails 1 of 1 subscriber."]);
    await site.change({ visibility: "private" });
    expect(await sentences(site, NEW_INCIDENT)).toEqual([]);
    const unready = { ALLCLEAR_SMTP_HOST: undefined, ALLCLEAR_MAIL_FROM: undefined };
    await using other = await createMailingSite(unready);
    await other.subscribe("anna");
    expect(await sentences(other, NEW_INCIDENT)).toEqual([]);
  });
});

describe("the form of a post-mortem", () => {
  test.each([
    ["publishes and mails it", { notify: "yes" }, 2],
    ["publishes it without mails if the box is not checked", {}, 1],
  ] as const)("%s", async (_, notify, mailings) => {
    await using site = await createMailingSite();
    await site.subscribe("anna");
    const id = await site.open({ status: "resolved", notify: false });
    await site.open();
    const path = `/admin/incidents/${id}/postmortem`;
    const session = await site.app.signedIn("editor");
    const shown = readHtml((await site.app.call(path, { session })).text);
    expect(shown.attributes('input[name="notify"]', "checked")).toHaveLength(1);
    const [version = ""] = shown.attributes('input[name="version"]', "value");
    const form = { version, body: "A disk was full.", do: "publish", ...notify };
    expect((await site.app.call(path, { session, form })).status).toBe(303);
    expect(site.mailings()).toHaveLength(mailings);
    const published = readHtml((await site.app.call(path, { session })).text);
    expect(published.attributes('input[name="notify"]', "name")).toEqual([]);
  });
});
