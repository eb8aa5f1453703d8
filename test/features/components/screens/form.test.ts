import { describe, expect, test } from "bun:test";
import { listComponentsOfPage } from "../../../../src/features/components/store";
import { expectProblem } from "../../../support/app";
import {
  type ArrangedSite,
  COMPONENTS,
  createArrangedSite,
  outcomeOf,
} from "../../../support/grouped-site";
import { type Fields, HTML, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const NEW = `${COMPONENTS}/new`;

/** Valid fields of the form for a new component. */
const FIELDS: Fields = {
  name: "Mail",
  description: "Incoming and outgoing.\r\nNot spam.",
  group_id: "",
  start_date: "2026-01-31",
  showcase: "yes",
};

const rowOf = ({ app, page }: ArrangedSite, name: string) =>
  listComponentsOfPage(app.ctx.db, { pageId: page.id }).find((row) => row.name === name);

async function newForm(site: ArrangedSite, session: string, fields: Fields = {}): Promise<Fields> {
  const form = await openForm(site.app, `${NEW}?page=acme`, session);
  return { form, page: site.page.id, ...FIELDS, ...fields };
}

describe("the form for a new component", () => {
  test.each<[name: string, ref: string, outcome: string]>([
    [
      "Оплата",
      "",
      "must be entered, such as checkout-api, because none can be made from this name",
    ],
    ["支付", "", "must be entered, such as checkout-api, because none can be made from this name"],
    ["Оплата", "payments", "payments"],
    ["支付 EU", "", "eu"],
    ["Mail", "our-mail", "our-mail"],
    [
      "Mail",
      "Our mail",
      "must have only lower-case letters, digits and hyphens, such as checkout-api",
    ],
  ])("a component named %s with the reference “%s” gives “%s”", async (name, ref, outcome) => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session, { name, ref });
    const answer = await site.app.call(NEW, { session, form });
    const row = rowOf(site, name);
    if (answer.status === 303) expect(row?.ref).toBe(outcome);
    else {
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({ ref: `Reference ${outcome}.` });
      expect(row).toBeUndefined();
    }
  });

  test.each([
    ["Оплата", "", 422],
    ["Оплата", "payments", 303],
    ["Europe", "", 303],
  ])("a group named %s with the reference “%s” is answered %d", async (name, ref, status) => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const path = `${COMPONENTS}/groups/new`;
    const form = await openForm(site.app, `${path}?page=acme`, session);
    const fields = { form, page: site.page.id, name, ref, collapse: "expanded" };
    const answer = await site.app.call(path, { session, form: fields });
    expect(answer.status).toBe(status);
    if (status === 422) expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["ref"]);
  });

  test("a new component is added as the last one of the chosen group, with all typed values", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session, {
      name: "  Mail ",
      group_id: site.ids["Core"] ?? "",
      only_show_if_degraded: "yes",
      show_latency: "yes",
    });
    const answer = await site.app.call(NEW, { session, form });
    const row = rowOf(site, "Mail");
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme#${row?.id}`,
      text: "“Mail” was added. Next: Create monitor",
    });
    expect(row).toMatchObject({
      description: "Incoming and outgoing.\nNot spam.",
      startDate: "2026-01-31",
      showcase: true,
      onlyShowIfDegraded: true,
      showLatency: true,
      status: "operational",
      managedBy: null,
    });
    expect(await site.outline()).toBe("Docs | Core: API, Web, Mail | Edge: CDN");
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "component.create",
      actorKind: "user",
    });
  });

  test("a new component needs only a name, even one that another component has", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session, { name: "API", description: "", start_date: "" });
    delete form["showcase"];
    expect((await site.app.call(NEW, { session, form })).status).toBe(303);
    expect(await site.outline()).toBe("Docs, API | Core: API, Web | Edge: CDN");
    const row = listComponentsOfPage(site.app.ctx.db, { pageId: site.page.id }).at(-1);
    expect(row).toMatchObject({
      description: null,
      startDate: null,
      showcase: false,
      showLatency: false,
    });
  });

  test.each<[string, number | null | undefined]>([
    ["", null],
    ["99.95", 99.95],
    [" 99,9 % ", 99.9],
    ["99,9\u{a0}%", 99.9],
    ["100", 100],
    ["0.999", undefined],
    ["101", undefined],
    ["often", undefined],
    ["%", undefined],
  ])("a goal typed as “%s” is stored as %p, or refused", async (typed, goal) => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session, { uptime_goal: typed });
    const answer = await site.app.call(NEW, { session, form });
    expect(rowOf(site, "Mail")?.uptimeGoal).toBe(goal as null);
    expect(fieldErrorsOn(answer.text)).toEqual(
      goal === undefined
        ? { uptime_goal: "Uptime goal must be a number from 1 to 100, such as 99.9." }
        : {},
    );
  });

  test("a component gets tags, which its screen and the list show, but not the page", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session, { tags: "for staff\r\n <core> " });
    await site.app.call(NEW, { session, form });
    const row = rowOf(site, "Mail");
    expect(row?.tags).toEqual(["for staff", "<core>"]);
    const open = async (path: string) => (await site.app.call(path, { session })).text;
    for (const path of [`${COMPONENTS}/${row?.id}`, `${COMPONENTS}?page=acme`]) {
      expect(readHtml(await open(path)).texts(".tags .chip"), path).toEqual([
        "for staff",
        "<core>",
      ]);
    }
    expect(await open("/status/acme")).not.toContain("for staff");
    const { version = 0 } = row ?? {};
    const changed = { ...FIELDS, tags: "core\nCORE", version: `${version}` };
    const answer = await site.app.call(`${COMPONENTS}/${row?.id}`, { session, form: changed });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      tags: "Tags item 2 is a repetition; case is ignored.",
    });
    expect(rowOf(site, "Mail")?.tags).toEqual(["for staff", "<core>"]);
  });

  test("submitting a new component three times at once adds one, and all answers lead to it", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session);
    const send = () => site.app.call(NEW, { session, form });
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(new Set(answers.map(({ headers }) => headers.get("location"))).size).toBe(1);
    expect(await site.outline()).toBe("Docs, Mail | Core: API, Web | Edge: CDN");
    const made = site.app.audit().filter(({ summary }) => summary.includes("“Mail”"));
    expect(made).toHaveLength(1);
  });

  test("an invalid new component is redisplayed with an error for each field, and nothing is added", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const before = await site.state();
    const form = await newForm(site, session, {
      name: "A\u202eB",
      description: "x".repeat(1_001),
      start_date: "2026-02-31",
    });
    const answer = await site.app.call(NEW, { session, form });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      name: "Name holds control characters or bidirectional overrides.",
      description: "Description is 1001 characters long; 1000 is the most.",
      start_date: "Uptime counts from must be a day of the calendar, YYYY-MM-DD.",
    });
    expect(typedIn(answer.text, "name")).toEqual(["A\u202eB"]);
    expect(typedIn(answer.text, "showcase")).toEqual(["yes"]);
    expect(await site.state()).toEqual(before);
  });

  test("a new component in an unknown group is rejected with an error at the field", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const form = await newForm(site, session, { group_id: "grp_none" });
    const before = await site.state();
    const answer = await site.app.call(NEW, { session, form });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ group_id: "Group must be a group of this page." });
    expect(await site.state()).toEqual(before);
  });

  test("only admins and owners can add a component, and only to an existing page", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    const [admin, editor] = [await app.signedIn("admin"), await app.signedIn("editor")];
    const form = await newForm(site, admin);
    const before = await site.state();
    expectProblem(await app.call(NEW, { session: editor }), "insufficient_role");
    expectProblem(await app.call(NEW, { session: editor, form }), "insufficient_role");
    const gone = { session: admin, form: { ...form, page: "page_none" }, headers: HTML };
    expect((await app.call(NEW, gone)).status).toBe(404);
    expect(await site.state()).toEqual(before);
  });
});

describe("the settings of a component", () => {
  /** Returns the path of the form and its fields as rendered. */
  async function shown(site: ArrangedSite, session: string, name = "API") {
    const path = `${COMPONENTS}/${site.ids[name]}`;
    const { text } = await site.app.call(path, { session });
    const [version = ""] = typedIn(text, "version");
    const group_id = readHtml(text).attributes("select option[selected]", "value")[0] ?? "";
    const rest = { description: "", start_date: "", group_id, showcase: "yes" };
    return { path, form: { version, name, ...rest } };
  }

  test("the settings of a component are shown, and changing them changes nothing else", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const { path, form } = await shown(site, session);
    const before = rowOf(site, "API");
    const changed = { ...form, name: "Public API", description: "For partners", showcase: [] };
    const answer = await site.app.call(path, { session, form: changed });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path,
      text: "The component was changed.",
    });
    expect(rowOf(site, "Public API")).toEqual({
      ...before!,
      name: "Public API",
      description: "For partners",
      showcase: false,
      version: 2,
    });
  });

  test("saving unchanged settings of a component writes nothing", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const { path, form } = await shown(site, session);
    const before = await site.state();
    const answer = await site.app.call(path, { session, form });
    expect((await outcomeOf(site, answer, session)).text).toBe("Nothing was changed.");
    expect(await site.state()).toEqual(before);
  });

  test("changing the group of a component makes it the last one there", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const first = await shown(site, session);
    expect(first.form["group_id"]).toBe(site.ids["Core"] ?? "");
    const edge = { ...first.form, group_id: site.ids["Edge"] ?? "" };
    await site.app.call(first.path, { session, form: edge });
    expect(await site.outline()).toBe("Docs | Core: Web | Edge: CDN, API");
    const second = await shown(site, session);
    await site.app.call(second.path, { session, form: { ...second.form, group_id: "" } });
    expect(await site.outline()).toBe("Docs, API | Core: Web | Edge: CDN");
  });

  test("outdated settings of a component are a conflict that keeps the typed text and can then be saved", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const { path, form } = await shown(site, session);
    await site.app.call(path, { session, form: { ...form, name: "First" } });
    const before = await site.state();
    const stale = await site.app.call(path, { session, form: { ...form, name: "Second" } });
    expect(stale.status).toBe(409);
    expect(readHtml(stale.text).texts('[role="alert"]')[0]).toContain("Someone changed this");
    expect(typedIn(stale.text, "name")).toEqual(["Second"]);
    expect(await site.state()).toEqual(before);
    const [version = ""] = typedIn(stale.text, "version");
    const again = { ...form, version, name: "Second" };
    expect((await site.app.call(path, { session, form: again })).status).toBe(303);
    expect(rowOf(site, "Second")).toBeDefined();
  });

  test("invalid settings of a component are rejected, as are changes by an editor", async () => {
    await using site = await createArrangedSite();
    const { app } = site;
    const [admin, editor] = [await app.signedIn("admin"), await app.signedIn("editor")];
    const { path, form } = await shown(site, admin);
    const before = await site.state();
    const wrong = { ...form, name: " ", group_id: "grp_none" };
    const answer = await app.call(path, { session: admin, form: wrong });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ name: "Name is empty." });
    const elsewhere = { ...form, group_id: "grp_none" };
    const other = await app.call(path, { session: admin, form: elsewhere });
    expect(fieldErrorsOn(other.text)).toEqual({ group_id: "Group must be a group of this page." });
    const fine = { ...form, name: "Fine" };
    expectProblem(await app.call(path, { session: editor, form: fine }), "insufficient_role");
    expect(await site.state()).toEqual(before);
  });
});

describe("deleting a component", () => {
  test("deleting a component asks for confirmation, then removes it from the page", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("admin");
    const path = `${COMPONENTS}/${site.ids["API"]}`;
    const confirmation = await site.app.call(`${path}/delete`, { session });
    expect(readHtml(confirmation.text).texts("h1")).toEqual(["Delete “API”?"]);
    const answer = await site.app.call(`${path}/delete`, { session, form: {} });
    expect(await outcomeOf(site, answer, session)).toEqual({
      path: `${COMPONENTS}?page=acme`,
      text: "“API” was deleted.",
    });
    expect(await site.outline()).toBe("Docs | Core: Web | Edge: CDN");
    expect((await site.app.call(path, { session, headers: HTML })).status).toBe(404);
    expect(site.app.audit().at(-1)).toMatchObject({ action: "component.delete" });
  });

  test("an editor cannot delete a component", async () => {
    await using site = await createArrangedSite();
    const session = await site.app.signedIn("editor");
    const path = `${COMPONENTS}/${site.ids["API"]}/delete`;
    const before = await site.state();
    for (const options of [{}, { form: {} }]) {
      expectProblem(await site.app.call(path, { session, ...options }), "insufficient_role");
    }
    expect(await site.state()).toEqual(before);
  });
});
