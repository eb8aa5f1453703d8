import { test } from "bun:test";
import { createTestApp } from "./support/app";
test("x", async () => {
  await using app = await createTestApp();
  const { components } = await app.page();
  const key = await app.keyWith("read:analytics");
  await app.clock.advance(3600_000*30);
  for (const p of ["uptime","latency","incidents","requests"]) {
    const a = await app.call(`/api/v1/analytics/${p}?interval=day`, {key});
    console.log(a.status, a.text.slice(0,900));
    console.log((await app.call(`/api/v1/analytics/${p}?interval=month`, {key, headers:{accept:"text/csv"}})).text);
  }
  for (const q of ["?interval=hour","?from=2020-01-01T00:00:00Z&interval=hour","?from=2030-01-01T00:00:00Z","?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z","?page=acme&component="+components.API,"?page=zz","?x=1","?interval=week","?from=10000-01-01T00:00:00Z","?monitor=mon_x"]) {
    const a = await app.call(`/api/v1/analytics/uptime${q}`, {key}); console.log(q, a.status, a.text.slice(0,300));
  }
});
