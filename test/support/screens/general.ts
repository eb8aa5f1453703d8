import { CLI_ACTOR } from "../../../src/base/actor";
import { recordBackup } from "../../../src/features/backups/backups";
import { DAY_MS } from "../../../src/base/time";
import { recordScheduledBackup } from "../../../src/features/backups/schedule";
import { parseNetworks } from "../../../src/base/config/parse";
import type { DemoSites } from "../demo-sites";
import { inDemoData, send, type Screen } from "./screen";

const GENERAL = "/admin/settings/general";
const GB = 1e9;

/** Opens General of an installation whose database is on a disk of 40 GB. */
function withDisk(freeBytes: number, site: keyof Pick<DemoSites, "demoData" | "failing">) {
  return ((demoSites) => {
    const { app } = demoSites[site];
    app.ctx.db.disk = async () => ({ freeBytes, totalBytes: 40 * GB });
    if (site === "demoData") return inDemoData(() => GENERAL)(demoSites);
    return { site: demoSites.failing, path: GENERAL, session: demoSites.failing.session };
  }) satisfies Screen["open"];
}

/** Opens General with an address and networks set by option, a backup, and a disk with little space. */
const withOptions: Screen["open"] = (demoSites) => {
  const { ctx } = demoSites.failing.app;
  const networks = parseNetworks("10.0.0.0/8,fd12::/16");
  ctx.allowedNetworks = networks;
  const sources = { ...ctx.config.sources, baseUrl: "flag", outboundAllow: "variable" } as const;
  ctx.config = { ...ctx.config, baseUrl: ctx.baseUrl, outboundAllow: networks, sources };
  void ctx.db.write((tx) => {
    recordBackup(ctx, tx, 1.3 * GB, CLI_ACTOR);
    const place = "s3://northwind-backups/status";
    for (const days of [2, 1]) {
      const at = ctx.clock.now() - days * DAY_MS;
      const error = `The store ${place} answered 503 SlowDown: write allclear-backup.db.age.`;
      const outcome = days === 1 ? { error } : { bytes: 1.2 * GB };
      const backup = { dueAt: at, at, target: "", place, name: "", ...outcome };
      recordScheduledBackup(tx, backup, at);
    }
  });
  return withDisk(4.8 * GB, "failing")(demoSites);
};

/** Settings of the whole installation. */
export const GENERAL_SCREENS: readonly Screen[] = [
  { name: "settings", open: inDemoData(() => "/admin/settings") },
  { name: "settings-admin", open: inDemoData(() => "/admin/settings", "admin") },
  { name: "settings-sign-in", open: inDemoData(() => "/admin/settings/sign-in") },
  { name: "general", open: withDisk(18.4 * GB, "demoData") },
  {
    name: "general-errors",
    status: 422,
    open: withDisk(18.4 * GB, "demoData"),
    async reach(page) {
      await page.getByLabel("Public address").fill("https://status.northwind.example/status");
      await send(page, "Save address");
    },
  },
  {
    name: "general-network-errors",
    status: 422,
    open: withDisk(18.4 * GB, "demoData"),
    async reach(page) {
      await page.getByLabel("Networks and addresses").fill("10.0.0.0/8\n169.254.0.0/16");
      await send(page, "Save networks");
    },
  },
  { name: "general-fixed", open: withOptions },
  {
    name: "general-disk-full",
    status: 503,
    open: withDisk(0.0002 * GB, "failing"),
    reach: (page) => send(page, "Back up now"),
  },
];
