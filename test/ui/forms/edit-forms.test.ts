import { describe, expect, test } from "bun:test";
import { readHtml } from "../../support/html";
import { userWithPassword } from "../../support/dashboard";
import { returnTo } from "../../support/refused-form";
import { createFormSite, fieldsOf, type FormPaths, type FormSite } from "../../support/form-site";
import { shareSite } from "../../support/shared-site";

/** Forms that edit an object, and one of their fields with two other values and an invalid one. */
const FORMS: {
  what: string;
  paths(ids: FormSite["ids"]): string | FormPaths;
  field: string;
  values: [string, string];
  invalid: string;
}[] = [
  {
    what: "an incident",
    paths: ({ incident }) => `/admin/incidents/${incident}/edit`,
    field: "name",
    values: ["Checkout fails", "Checkout is slow"],
    invalid: "",
  },
  {
    what: "an update of an incident",
    paths: ({ incident, update }) => `/admin/incidents/${incident}/updates/${update}`,
    field: "body",
    values: ["Cards fail.", "Cards are slow."],
    invalid: " ",
  },
  {
    what: "a maintenance",
    paths: ({ maintenance }) => `/admin/maintenance/${maintenance}/edit`,
    field: "name",
    values: ["Move", "Move of the database"],
    invalid: "",
  },
  {
    what: "a webhook",
    paths: ({ webhook }) => `/admin/settings/webhooks/${webhook}/edit`,
    field: "url",
    values: ["https://one.example.com/", "https://two.example.com/"],
    invalid: "ftp://one.example.com/",
  },
  {
    what: "a component",
    paths: ({ component }) => `/admin/components/${component}`,
    field: "name",
    values: ["Website", "Shop"],
    invalid: "x".repeat(256),
  },
  {
    what: "a group",
    paths: ({ group }) => `/admin/components/groups/${group}`,
    field: "name",
    values: ["Europe", "America"],
    invalid: "",
  },
  {
    what: "a monitor",
    paths: ({ monitor }) => `/admin/monitors/${monitor}/edit`,
    field: "config_url",
    values: ["https://shop.example.com/health", "https://shop.example.com/status"],
    invalid: "shop",
  },
  {
    what: "an API key",
    paths: ({ key }) => `/admin/settings/keys/${key}`,
    field: "rate_limit",
    values: ["20", "30"],
    invalid: "many",
  },
  {
    what: "a user's role",
    paths: ({ user }) => ({
      screen: `/admin/settings/users/${user}`,
      action: `/admin/settings/users/${user}/role`,
    }),
    field: "role",
    values: ["admin", "editor"],
    invalid: "king",
  },
  {
    what: "a page",
    paths: ({ page }) => `/admin/pages/${page}/general`,
    field: "name",
    values: ["Northwind", "Contoso"],
    invalid: "\u202e",
  },
  {
    what: "the look of a page",
    paths: ({ page }) => `/admin/pages/${page}/look`,
    field: "accent",
    values: ["#0B6B53", "#123456"],
    invalid: "green",
  },
  {
    what: "the slug of a page",
    paths: ({ page }) => `/admin/pages/${page}/address`,
    field: "slug",
    values: ["northwind", "contoso"],
    invalid: "North wind",
  },
  {
    what: "the custom domains of a page",
    paths: ({ page }) => ({
      screen: `/admin/pages/${page}/address`,
      action: `/admin/pages/${page}/domains`,
    }),
    field: "custom_domains",
    values: ["status.northwind.example", "status.contoso.example"],
    invalid: "https://status.northwind.example",
  },
];

/** For tests of forms that write nothing. */
const shared = shareSite(createFormSite);

for (const { what, paths, field, values, invalid } of FORMS) {
  const pathsIn = ({ ids }: FormSite): FormPaths => {
    const path = paths(ids);
    return typeof path === "string" ? { screen: path, action: path } : path;
  };

  describe(`the form that edits ${what}`, () => {
    test(`an unchanged form of ${what} writes nothing and shows “Nothing was changed.”, even if it is stale`, async () => {
      const site = await shared();
      const form = pathsIn(site);
      const fields = await site.open(form);
      const before = site.written();
      const answer = await site.send(form, fields);
      expect(answer.status).toBe(303);
      expect(site.written()).toEqual(before);
      const next = await site.app.call(
        (answer.headers.get("location") ?? "").replace(/#.*/, ""),
        site,
      );
      expect(readHtml(next.text).texts(".flash")).toEqual(["Nothing was changed."]);
      expect((await site.send(form, { ...fields, version: "1000" })).status).toBe(303);
      expect(site.written()).toEqual(before);
    });

    test(`a stale form of ${what} is a conflict that keeps the typed values and can be sent again`, async () => {
      await using site = await createFormSite();
      const form = pathsIn(site);
      const fields = await site.open(form);
      expect((await site.send(form, { ...fields, [field]: values[0] })).status).toBe(303);
      const before = site.written();
      const typed = { ...fields, [field]: [values[1]] };
      const stale = await site.send(form, typed);
      expect(stale.status).toBe(409);
      expect(stale.text).toContain("Someone changed this while you were editing");
      expect(site.written()).toEqual(before);
      const shown = fieldsOf(stale, form.action);
      expect({ ...shown, version: "" }).toEqual({ ...typed, version: "" });
      expect((await site.send(form, shown)).status).toBe(303);
      expect((await site.open(form))[field]).toEqual([values[1]]);
    });

    test(`a form of ${what} whose session ended comes back as it was typed, and stays outdated`, async () => {
      await using site = await createFormSite();
      const { app } = site;
      await userWithPassword(app, "olive@example.com");
      const form = pathsIn(site);
      const fields = await site.open(form);
      const typed = { ...fields, [field]: [values[1]] };
      expect((await site.send(form, { ...fields, [field]: values[0] })).status).toBe(303);
      const { session, shown } = await returnTo(app, form.action, typed, "olive@example.com");
      expect(shown.status).toBe(200);
      expect(readHtml(shown.text).texts(".notice .strong")).toContain("Nothing was saved yet");
      const again = fieldsOf(shown, form.action);
      expect(again).toEqual(typed);
      expect((await site.open(form))[field]).not.toEqual([values[1]]);
      const { status } = await app.call(form.action, { session, form: again });
      expect(status).toBe("version" in fields ? 409 : 303);
    });

    test(`a stale form of ${what} with an invalid field is a conflict`, async () => {
      await using site = await createFormSite();
      const form = pathsIn(site);
      const fields = await site.open(form);
      expect((await site.send(form, { ...fields, [field]: values[0] })).status).toBe(303);
      expect((await site.send(form, { ...fields, [field]: invalid })).status).toBe(409);
    });

    test(`a form of ${what} that is rejected while another edit is saved keeps its version`, async () => {
      await using site = await createFormSite();
      const form = pathsIn(site);
      const fields = await site.open(form);
      await site.app.clock.advance(1_000);
      const send = (value: string) =>
        site.app.call(form.action, { ...site, form: { ...fields, [field]: value } });
      const [rejected, saved] = await Promise.all([send(invalid), send(values[0])]);
      expect([rejected.status, saved.status]).toEqual([422, 303]);
      const shown = fieldsOf(rejected, form.action);
      expect(shown["version"]).toEqual(fields["version"] ?? []);
      expect((await site.send(form, { ...shown, [field]: values[1] })).status).toBe(409);
    });

    test(`a form of ${what} with an invalid field is redisplayed with an error at that field, and nothing is written`, async () => {
      const site = await shared();
      const form = pathsIn(site);
      const fields = await site.open(form);
      const before = site.written();
      const answer = await site.send(form, { ...fields, [field]: invalid });
      expect(answer.status).toBe(422);
      const errors = readHtml(answer.text).attributes(".field-error", "id");
      expect(errors).toEqual([`field-${field}-error`]);
      expect(site.written()).toEqual(before);
      expect((await site.open(form))[field]).toEqual(fields[field]);
    });
  });
}
