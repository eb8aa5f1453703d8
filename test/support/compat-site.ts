import { ofMonitors } from "../../src/features/monitors/checks-store";
import { listAllMonitors } from "../../src/features/monitors/store";
import { findPageBySlug, type PageRow } from "../../src/features/pages/store";
import { getPage } from "../../src/features/pages/pages";
import type { PageInput } from "../../src/features/pages/wire";
import { CLI_ACTOR } from "../../src/base/actor";
import { MINUTE_MS } from "../../src/base/time";
import { createMonitorApi, type MonitorApi } from "./monitor-api";
import { check } from "./monitor-store";
import { updateComponent, updatePage } from "./examined";

/** The page of `createMonitorApi` in the formats of other products. */
export interface CompatSite extends MonitorApi {
  /** Returns the page. */
  row(): PageRow;
  /** Changes the page. */
  change(input: Partial<PageInput>): Promise<void>;
  showLatency(name: string): Promise<void>;
  /** Writes results of a monitor, one a minute, the last just now; null is a failure. */
  answered(id: string, latencies: readonly (number | null)[]): Promise<void>;
}

export async function createCompatSite(
  input: Partial<PageInput> = { compat: ["uptime-kuma", "gatus"] },
  env: Record<string, string> = {},
): Promise<CompatSite> {
  const api = await createMonitorApi({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000", ...env } });
  const { app, components } = api;
  const found = findPageBySlug(app.ctx.db, { slug: "acme" });
  if (!found) throw new Error("there is no page");
  const { id: pageId } = found;
  const site: CompatSite = {
    ...api,
    row: () => getPage(app.ctx.db, pageId),
    change: (changes) =>
      app.ctx.db.write((tx) => void updatePage(app.ctx, tx, pageId, changes, CLI_ACTOR)),
    showLatency: (name) =>
      app.ctx.db.write((tx) => {
        updateComponent(app.ctx, tx, components[name] ?? "", { show_latency: true }, CLI_ACTOR);
      }),
    answered: (id, latencies) =>
      app.ctx.db.write((tx) => {
        const num = listAllMonitors(tx, {}).find(({ monitor }) => monitor.id === id)?.monitor.num;
        for (const [index, latencyMs] of latencies.entries()) {
          const at = app.clock.now() - (latencies.length - 1 - index) * MINUTE_MS;
          ofMonitors.insertCheck(tx, check(num ?? 0, at, latencyMs));
        }
      }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
  await site.change(input);
  return site;
}
