import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { type ArrangedSite, createArrangedSite } from "../../support/grouped-site";
import { rejectionOf } from "../../support/rejection";
import { createComponent, createGroup } from "../../support/examined";

const AT = { position: 9, managedBy: null };

function component({ app, page }: ArrangedSite, input: { name: string; ref?: string }) {
  const at = { ...AT, groupId: null };
  return app.ctx.db.write((tx) => createComponent(app.ctx, tx, page, input, at, CLI_ACTOR));
}

function group({ app, page }: ArrangedSite, input: { name: string; ref?: string }) {
  return app.ctx.db.write((tx) => createGroup(app.ctx, tx, page, input, AT, CLI_ACTOR));
}

for (const [noun, create, taken] of [
  ["component", component, "API"],
  ["group", group, "Core"],
] as const) {
  const ref = taken.toLowerCase();

  describe(`the ref of a ${noun}`, () => {
    test("a ref is derived from the name, with a number if it is in use", async () => {
      await using site = await createArrangedSite();
      expect((await create(site, { name: taken })).ref).toBe(`${ref}-2`);
      expect((await create(site, { name: taken })).ref).toBe(`${ref}-3`);
    });

    test("a derived ref is never empty or longer than 63 characters", async () => {
      await using site = await createArrangedSite();
      expect((await create(site, { name: "🚀" })).ref).toBe(noun);
      expect((await create(site, { name: "日本" })).ref).toBe(`${noun}-2`);
      const long = "a".repeat(255);
      expect((await create(site, { name: long })).ref).toHaveLength(63);
      expect((await create(site, { name: long })).ref).toBe(`${"a".repeat(61)}-2`);
    });

    test("a given ref that is in use is a conflict, and nothing is created", async () => {
      await using site = await createArrangedSite();
      const before = await site.state();
      const rejection = await rejectionOf(create(site, { name: "Other", ref }));
      expect(rejection.code).toBe("conflict");
      expect(rejection.message).toBe(`The ref ${ref} is taken by “${taken}” on this page.`);
      expect(await site.state()).toEqual(before);
    });
  });
}

test("a component cannot be created in an unknown group or a group of another page", async () => {
  await using site = await createArrangedSite();
  const { app } = site;
  const other = await app.page({ slug: "other", name: "Other" });
  const before = await site.state();
  for (const groupId of ["grp_none", site.ids["Core"] ?? ""]) {
    const at = { ...AT, groupId };
    const made = app.ctx.db.write((tx) =>
      createComponent(app.ctx, tx, other.page, { name: "New" }, at, CLI_ACTOR),
    );
    const { fields } = await rejectionOf(made);
    expect(fields).toEqual([{ pointer: "#/group_id", detail: "must be a group of this page" }]);
  }
  expect(await site.state()).toEqual(before);
});
