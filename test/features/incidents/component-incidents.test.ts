import { describe, expect, test } from "bun:test";
import { createIncidentSite, INCIDENTS } from "../../support/incident-site";

describe("the incidents that named a component", () => {
  test("a list of a component's incidents contains each once, even if it named the component repeatedly", async () => {
    await using site = await createIncidentSite();
    const components = { [site.api]: "partial_outage" };
    const opened: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { id } = await site.open({ components: n === 2 ? {} : components });
      for (const status of ["identified", "monitoring"]) {
        await site.update(id, { status, components: { [site.web]: "degraded_performance" } });
        if (n !== 2) await site.update(id, { status, components });
      }
      opened.unshift(id);
    }
    const expected = opened.filter((_, index) => index !== 2);
    for (const more of ["", "&page=acme", "&open=true", "&page=acme&open=true"]) {
      const ids: string[] = [];
      for (
        let path: string | undefined = `${INCIDENTS}?component=${site.api}&limit=3${more}`;
        path;
      ) {
        const { body, headers } = await site.app.call(path, { key: site.key });
        ids.push(...body.data.map((each: { id: string }) => each.id));
        const next: string | undefined = /<(.+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
        path = next?.replace("https://status.test", "");
      }
      expect(ids).toEqual(expected);
    }
  });

  test("a list of a component's incidents includes those that only an update linked, and drafts only with both scopes", async () => {
    await using site = await createIncidentSite();
    const late = await site.open();
    await site.update(late.id, { components: { [site.web]: "major_outage" } });
    const draft = await site.open({ draft: true, components: { [site.web]: "major_outage" } });
    const list = async (key: string) =>
      (await site.app.call(`${INCIDENTS}?component=${site.web}`, { key })).body.data.map(
        (each: { id: string }) => each.id,
      );
    expect(await list(site.key)).toEqual([draft.id, late.id]);
    expect(await list(await site.app.keyWith("read:status"))).toEqual([late.id]);
  });
});
