import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { CLI_ACTOR } from "../../../src/base/actor";
import { expectProblem } from "../../support/app";
import { createIncidentSite } from "../../support/incident-site";

describe("external_ref", () => {
  test("a second incident with the same external_ref on a page is a conflict that names the first", async () => {
    await using site = await createIncidentSite();
    const first = await site.open({ external_ref: "deploy-42" });
    const other = await site.open({ external_ref: "deploy-43" });
    const before = await site.state();
    const rejected = [
      await site.post({ external_ref: "deploy-42" }),
      await site.patch(other.id, { external_ref: "deploy-42" }),
    ];
    for (const answer of rejected) {
      expect(expectProblem(answer, "conflict").detail).toContain(first.id);
    }
    expect(await site.state()).toEqual(before);
    expect((await site.patch(first.id, { external_ref: "deploy-42" })).status).toBe(200);
  });

  test("an external_ref of a draft is a conflict that names the draft only to keys that can see drafts", async () => {
    await using site = await createIncidentSite();
    const draft = await site.open({ external_ref: "deploy-42", draft: true });
    const other = await site.open();
    const writer = await site.app.keyWith("write:incidents");
    const before = await site.state();
    const rejections = async (key: string) => {
      const json = { external_ref: "deploy-42" };
      return [
        await site.post(json, { key, json: { page: "acme", name: "A", body: "B", ...json } }),
        await site.patch(other.id, json, { key }),
      ].map((answer) => expectProblem(answer, "conflict").detail);
    };
    for (const detail of await rejections(site.key)) expect(detail).toContain(draft.id);
    for (const detail of await rejections(writer)) {
      expect(detail).toBe("The external_ref deploy-42 is taken by another incident of the page.");
    }
    expect(await site.state()).toEqual(before);
  });

  test("an external_ref can be used on another page, and again after it is removed or its incident deleted", async () => {
    await using site = await createIncidentSite();
    await site.app.page({ slug: "other", name: "Other" }, []);
    const first = await site.open({ external_ref: "a" });
    expect((await site.post({ external_ref: "a", page: "other" })).status).toBe(201);
    await site.patch(first.id, { external_ref: null });
    const second = await site.open({ external_ref: "a" });
    await site.app.ctx.db.write((tx) => deleteIncident(site.app.ctx, tx, second.id, CLI_ACTOR));
    expect((await site.post({ external_ref: "a" })).status).toBe(201);
  });
});
