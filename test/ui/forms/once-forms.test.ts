import { describe, expect, test } from "bun:test";
import { fieldErrorsOn } from "../../support/html";
import { type Fields, userWithPassword } from "../../support/dashboard";
import { returnTo } from "../../support/refused-form";
import { createFormSite, fieldsOf, type FormPaths, type FormSite } from "../../support/form-site";

/** Forms that take effect once, what they are filled in with, and an invalid field. */
const FORMS: {
  what: string;
  paths(ids: FormSite["ids"]): FormPaths;
  fields: Fields;
  invalid: Fields;
  /** Action in the audit log. */
  action: string;
}[] = [
  {
    what: "for a new component",
    paths: () => ({ screen: "/admin/components/new?page=acme", action: "/admin/components/new" }),
    fields: { name: "Mail" },
    invalid: { name: "" },
    action: "component.create",
  },
  {
    what: "for several new components",
    paths: () => ({
      screen: "/admin/components/several?page=acme",
      action: "/admin/components/several",
    }),
    fields: { name: "Mail" },
    invalid: { name: "x".repeat(256) },
    action: "component.create",
  },
  {
    what: "for a new group",
    paths: () => ({
      screen: "/admin/components/groups/new?page=acme",
      action: "/admin/components/groups/new",
    }),
    fields: { name: "Europe" },
    invalid: { name: "" },
    action: "group.create",
  },
  {
    what: "for a new monitor",
    paths: () => ({ screen: "/admin/monitors/new?type=tcp", action: "/admin/monitors/new" }),
    fields: { name: "Database", config_host: "db.example.com", config_port: "5432" },
    invalid: { config_port: "many" },
    action: "monitor.create",
  },
  {
    what: "for a new page",
    paths: () => ({ screen: "/admin/pages/new", action: "/admin/pages/new" }),
    fields: { name: "Northwind", slug: "northwind" },
    invalid: { slug: "North wind" },
    action: "page.create",
  },
  {
    what: "that deletes a page",
    paths: ({ page }) => ({
      screen: `/admin/pages/${page}/delete`,
      action: `/admin/pages/${page}/delete`,
    }),
    fields: { slug: "acme" },
    invalid: { slug: "another" },
    action: "page.delete",
  },
  {
    what: "that reports an incident",
    paths: () => ({ screen: "/admin/incidents/new", action: "/admin/incidents/new" }),
    fields: { name: "Checkout fails", body: "Cards fail.", intent: "publish" },
    invalid: { body: "" },
    action: "incident.create",
  },
  {
    what: "that updates an incident",
    paths: ({ incident }) => ({
      screen: `/admin/incidents/${incident}`,
      action: `/admin/incidents/${incident}/updates`,
    }),
    fields: { body: "Cards work again.", status: "monitoring" },
    invalid: { body: " " },
    action: "incident.add_update",
  },
];

for (const { what, paths, fields, invalid, action } of FORMS) {
  const timesDone = (site: FormSite) =>
    site.written().audit.filter((entry) => entry.action === action).length;

  describe(`the form ${what}`, () => {
    test(`the form ${what} submitted several times takes effect once, and all answers lead to the same screen`, async () => {
      await using site = await createFormSite();
      const form = paths(site.ids);
      const filledIn = { ...(await site.open(form)), ...fields };
      const before = timesDone(site);
      const { session } = site;
      const send = () => site.app.call(form.action, { session, form: filledIn });
      const answers = [...(await Promise.all([send(), send()])), await send()];
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
      expect(new Set(answers.map(({ headers }) => headers.get("location"))).size).toBe(1);
      expect(timesDone(site)).toBe(before + 1);
    });

    test(`the form ${what} whose session ended comes back as it was typed, without an effect`, async () => {
      await using site = await createFormSite();
      const { app } = site;
      await userWithPassword(app, "olive@example.com");
      const form = paths(site.ids);
      const typed = { ...(await site.open(form)), ...fields };
      const before = timesDone(site);
      const { session, shown } = await returnTo(app, form.action, typed, "olive@example.com");
      expect(shown.status).toBe(200);
      expect(timesDone(site)).toBe(before);
      const again = fieldsOf(shown, form.action);
      for (const name of Object.keys(fields).filter((one) => one !== "intent")) {
        expect([again[name]].flat()).toEqual([fields[name]].flat() as string[]);
      }
      const { intent = [] } = fields;
      const answer = await app.call(form.action, { session, form: { ...again, intent } });
      expect(answer.status).toBe(303);
      expect(timesDone(site)).toBe(before + 1);
    });

    test(`the form ${what} with an invalid field is redisplayed with an error there, and can be corrected`, async () => {
      await using site = await createFormSite();
      const form = paths(site.ids);
      const filledIn = { ...(await site.open(form)), ...fields };
      const before = site.written();
      const rejected = await site.send(form, { ...filledIn, ...invalid });
      expect(rejected.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(rejected.text))).toEqual(Object.keys(invalid));
      expect(site.written()).toEqual(before);
      const shown = fieldsOf(rejected, form.action);
      expect(shown["form"]).not.toEqual(filledIn["form"]);
      const corrected = await site.send(form, { ...shown, ...fields });
      expect(corrected.status).toBe(303);
    });
  });
}
