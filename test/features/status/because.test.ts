import { expect, test } from "bun:test";
import { openAlertSite } from "../../support/alert-reports";
import { createPageAccess } from "../../support/page-access";
import { SECOND_MS } from "../../../src/base/time";

/** Opens a site with a monitor of a provider that is down. */
async function openWithProvider(config: object, locale = "en-GB") {
  const site = await openAlertSite();
  await createPageAccess(site.app, site.pageId).update({ locale });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      Response.json({
        status: { indicator: "critical", description: "Major outage" },
        components: [{ id: "1", name: "DNS <b>", status: "major_outage" }],
      }),
  });
  const url = `http://127.0.0.1:${server.port}/(page)?token=secret`;
  const json = {
    type: "upstream",
    name: "Internal name",
    component_ids: [site.components["Checkout"]],
    open_incident: "automatic",
    config: { url, ...config },
  };
  const made = await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
  await site.app.call(`/api/v1/monitors/${made.body.id}/check`, { method: "POST", key: site.key });
  await site.clock.advance(SECOND_MS);
  expect(site.state(made.body.id)).toBe("down");
  const key = await site.app.keyWith("read:status");
  const status = (await site.app.call("/api/v1/status/acme", { key })).body;
  const page = (await site.app.call("/status/acme")).text;
  return {
    site,
    origin: `http://127.0.0.1:${server.port}`,
    status,
    page,
    checkout: status.components.find(({ name }: { name: string }) => name === "Checkout"),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await site[Symbol.asyncDispose]();
    },
  };
}

test("with a public name, page, status document and incident name the provider with a link, and not its query", async () => {
  await using shown = await openWithProvider({
    components: ["DNS <b>"],
    public_name: "Cloud & Co",
  });
  const url = `${shown.origin}/(page)`;
  expect(shown.checkout.because).toEqual({ name: "Cloud & Co: DNS <b>", url });
  const others = shown.status.components.filter(
    ({ name }: { name: string }) => name !== "Checkout",
  );
  expect(others.map(({ because }: { because: unknown }) => because)).toEqual([null]);
  expect(shown.page).toContain(
    `<a href="${url}" rel="noopener"><bdi>Cloud &amp; Co: DNS &lt;b></bdi></a>`,
  );
  expect(shown.page).not.toContain("secret");
  const [incident] = shown.status.incidents;
  expect(incident.updates[0].body).toBe(
    `Automatic checks are failing.\n\nBecause of [Cloud & Co: DNS \\<b\\>](${shown.origin}/%28page%29).`,
  );
  expect(shown.page + JSON.stringify(shown.status)).not.toContain("Internal name");
});

test("page and incident name the provider in the language of the page", async () => {
  await using shown = await openWithProvider(
    { components: ["DNS <b>"], public_name: "Cloud" },
    "de-DE",
  );
  expect(shown.page).toMatch(/<small class="desc">Ursache: <a [^>]*><bdi>Cloud: DNS &lt;b><\/bdi>/);
  expect(shown.status.incidents[0].updates[0].body).toBe(
    `Automatische Prüfungen schlagen fehl.\n\nUrsache: [Cloud: DNS \\<b\\>](${shown.origin}/%28page%29).`,
  );
});

test("of a whole page only the provider is named", async () => {
  await using shown = await openWithProvider({ public_name: "Cloud" });
  expect(shown.checkout.because).toMatchObject({ name: "Cloud" });
});

test("without a public name, visitors see nothing of the provider", async () => {
  await using shown = await openWithProvider({ components: ["DNS <b>"] });
  expect(shown.checkout).toMatchObject({ status: "partial_outage", because: null });
  for (const text of [shown.page, JSON.stringify(shown.status)]) {
    for (const hidden of ["127.0.0.1", "Because of", "DNS &lt;b>", "DNS <b>", "Internal name"]) {
      expect(text).not.toContain(hidden);
    }
  }
});
