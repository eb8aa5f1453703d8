import { describe, expect, test } from "bun:test";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard } from "../../../support/monitor-dashboard";
import { REPORT } from "../../../support/report-dashboard";

describe("the links to the form for a new incident", () => {
  test("the screens of a page, a component and a monitor link to a form about them", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const { app, site, session } = dashboard;
    const { page, components } = site;
    const { API: api = "", Website: website = "" } = components;
    const other = await app.page({ slug: "other" }, ["Mail"]);
    const { Mail: mail = "" } = other.components;
    const monitor = await dashboard.make({ component_ids: [website, mail, api] });
    const alone = await dashboard.make({});
    const linksOf = async (path: string, as = session) => {
      const { status, text } = await app.call(`/admin${path && `/${path}`}`, { session: as });
      expect(status).toBe(200);
      return readHtml(text)
        .attributes('main a[data-key="c"]', "href")
        .map((href) => decodeURIComponent(href));
    };
    const { slug } = page;
    expect(await linksOf(`components/${api}`)).toEqual([
      `${REPORT}?page=${page.id}&component=${api}`,
    ]);
    expect(await linksOf(`monitors/${monitor}`)).toEqual([
      `${REPORT}?page=${page.id}&component=${api},${website}`,
    ]);
    expect(await linksOf(`monitors/${alone}`)).toEqual([REPORT]);
    expect(await linksOf(`pages/${page.id}`)).toEqual([`${REPORT}?page=${slug}`]);
    expect(await linksOf(`incidents?page=${slug}&q=x`)).toEqual([`${REPORT}?page=${slug}`]);
    expect(await linksOf("")).toEqual([REPORT]);
    const viewer = await app.signedIn("viewer");
    for (const path of [`components/${api}`, `monitors/${monitor}`, `pages/${page.id}`, ""]) {
      expect(await linksOf(path, viewer)).toEqual([]);
    }
  });
});
