import type { Page } from "playwright-core";
import { SUPPORTED_TYPES } from "../../../src/base/status";
import { clientCertificate } from "../raw-server";
import { inEmpty, inDemoData, inMonitor, openDialog, type Screen, send, sendLate } from "./screen";

async function chooseTwo(page: Page): Promise<void> {
  for (const name of ["Storefront", "Wiki"]) await page.getByLabel(`Select ${name}`).check();
}

const NEW = "/admin/monitors/new";

/** Monitors. */
export const MONITOR_SCREENS: readonly Screen[] = [
  { name: "monitors-empty", open: ({ empty }) => inEmpty(empty, "/admin/monitors") },
  {
    name: "monitors-labels",
    open({ failing }) {
      const problem = (label: string, detail: string) => ({
        host: "local",
        container: "shop-web-1",
        detail: `allclear.monitor.checkout.${label} ${detail}.`,
      });
      const problems = [
        problem("url", "must be an address such as https://example.com/health"),
        problem("interval", "must be a whole number from 5 to 86,400"),
      ];
      const silent = [
        { host: "nas", detail: "There is no socket at the path of the Docker host." },
      ];
      const readAt = failing.app.clock.now();
      failing.labels.report = { silent, problems, more: 5, readAt };
      return { site: failing, path: "/admin/monitors", session: failing.session };
    },
  },
  { name: "monitors", open: inDemoData(() => "/admin/monitors") },
  { name: "monitors-down", open: inDemoData(() => "/admin/monitors?state=down", "viewer") },
  { name: "monitors-nothing-found", open: inDemoData(() => "/admin/monitors?q=mainframe") },
  {
    name: "monitors-chosen",
    open: inDemoData(() => "/admin/monitors"),
    reach: chooseTwo,
  },
  {
    name: "monitors-delete-chosen",
    open: inDemoData(() => "/admin/monitors"),
    async reach(page) {
      await chooseTwo(page);
      await send(page, "Delete");
    },
  },
  {
    name: "monitors-tag-chosen",
    status: 422,
    open: inDemoData(() => "/admin/monitors"),
    async reach(page) {
      await chooseTwo(page);
      await send(page, "Tag");
      await send(page, "Change tags");
    },
  },
  { name: "monitor", open: inMonitor("Storefront", "") },
  {
    name: "monitor-zoomed",
    open: inMonitor("VPN gateway", "?range=7d"),
    async reach(page) {
      await page.locator("#monitor-outages td.line a").last().click();
      await page.locator(".detail-zoom").waitFor();
    },
  },
  {
    name: "monitor-checked",
    open: inMonitor("Storefront", ""),
    reach: (page) => send(page, "Check now"),
  },
  { name: "monitor-90-days", open: inMonitor("Storefront", "?range=90d", "viewer") },
  { name: "monitor-down", open: inMonitor("VPN gateway", "?range=7d") },
  { name: "monitor-acknowledge", open: inMonitor("VPN gateway", "/acknowledge") },
  {
    name: "monitor-acknowledge-dialog",
    isOverlay: true,
    open: inMonitor("VPN gateway", ""),
    reach: (page) => openDialog(page, "Acknowledge"),
  },
  { name: "monitor-unreachable", open: inMonitor("Remote desktops", "") },
  { name: "monitor-dependencies-edit", open: inMonitor("Remote desktops", "/edit") },
  { name: "monitor-degraded", open: inMonitor("Wiki", "") },
  { name: "monitor-certificate", open: inMonitor("Certificate of the shop", "?range=30d") },
  { name: "monitor-push", open: inMonitor("Nightly backup", "?range=30d") },
  { name: "monitor-alert", open: inMonitor("Warehouse alerts", "") },
  { name: "monitor-end-alerts", open: inMonitor("Warehouse alerts", "/end-alerts/all") },
  { name: "monitors-unmatched", open: inDemoData(() => "/admin/monitors/alerts") },
  { name: "monitor-paused", open: inMonitor("Mail of the shop", "") },
  { name: "monitor-unsupported", open: inMonitor("Orders database", "") },
  { name: "monitor-unsupported-edit", open: inMonitor("Orders database", "/edit") },
  { name: "monitor-new", open: inMonitor("Partner endpoint", "") },
  { name: "monitor-delete", open: inMonitor("Wiki", "/delete") },
  {
    name: "monitor-delete-dialog",
    isOverlay: true,
    open: inMonitor("Wiki", ""),
    async reach(page) {
      await page.locator(".more-menu > summary").click();
      await openDialog(page, "Delete");
    },
  },
  {
    name: "monitor-end-token",
    isOverlay: true,
    open: inMonitor("Nightly backup", ""),
    async reach(page) {
      await page.getByRole("link", { name: "End token" }).last().click();
      await page.getByRole("dialog").waitFor();
    },
  },
  { name: "monitor-rotate", open: inMonitor("Nightly backup", "/rotate") },
  ...SUPPORTED_TYPES.map((type) => ({
    name: `new-monitor-${type}`,
    open: inDemoData(() => `${NEW}?type=${type}`),
  })),
  {
    name: "new-monitor-types",
    open: inDemoData(() => NEW),
    async reach(page) {
      await page.locator(".picker > summary").click();
      await page.getByPlaceholder("What should be watched?").fill("database");
      await page.getByRole("button", { name: "PostgreSQL" }).waitFor();
    },
  },
  {
    name: "new-monitor-options",
    open: inDemoData(() => NEW),
    async reach(page) {
      await page.getByText("Add an endpoint").click();
      for (const fold of await page.locator(".fold > summary").all()) await fold.click();
    },
  },
  {
    name: "new-monitor-errors",
    status: 422,
    open: inDemoData(() => NEW),
    async reach(page) {
      await page.getByLabel("URL", { exact: true }).fill("shop.northwind.example");
      await page.getByLabel("Interval", { exact: true }).selectOption("other");
      await page.getByLabel("Interval in seconds").fill("1");
      await page.getByText("More options").click();
      await page.getByLabel("Condition 1: Checked part").selectOption("json");
      await page.getByText("Headers and body").click();
      await page.getByLabel("Header 1: Name").fill("Authorization");
      await page.getByLabel("Header 1: Value").fill("Bearer abc");
      await send(page, "Create monitor");
    },
  },
  {
    name: "new-monitor-wrong-certificate",
    status: 422,
    open: inDemoData(() => NEW),
    async reach(page) {
      await page.getByText("More options").click();
      for (const title of ["OAuth 2.0", "Client certificate", "Proxy"]) {
        await page.getByText(title, { exact: true }).click();
      }
      const [{ certificate }, { key }] = [
        await clientCertificate("good"),
        await clientCertificate("self"),
      ];
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await page.getByLabel("URL", { exact: true }).fill("https://shop.northwind.example/");
      await page.getByLabel("Token URL").fill("http://169.254.169.254/token");
      await page.getByLabel("Client ID").fill("allclear");
      await page.getByLabel("Certificate", { exact: true }).fill(certificate);
      await page.getByLabel("Private key").fill(key);
      await page.getByLabel("Proxy URL").fill("http://proxy.northwind.example:3128");
      await page.getByLabel("Proxy password").fill("secret");
      await send(page, "Create monitor");
    },
  },
  {
    name: "new-monitor-tried",
    open: inDemoData(() => NEW),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await page.getByLabel("URL", { exact: true }).fill("https://shop.northwind.example/");
      await send(page, "Check now");
    },
  },
  {
    name: "new-monitor-due-times",
    open: inDemoData(() => `${NEW}?type=push`),
    async reach(page) {
      await page.getByLabel("By a schedule").check({ force: true });
      await page.getByLabel("Schedule", { exact: true }).fill("30 2 * * *");
      await page.getByLabel("Time zone of the schedule").fill("Europe/Berlin");
      await send(page, "Show due times");
    },
  },
  {
    name: "new-monitor-made",
    open: ({ empty }) => inEmpty(empty, `${NEW}?type=push`),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Import of the prices");
      await send(page, "Create monitor");
    },
  },
  {
    name: "new-monitor-saved",
    open: ({ empty }) => inEmpty(empty, NEW),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await page.getByLabel("URL", { exact: true }).fill("https://shop.northwind.example/");
      await send(page, "Create monitor");
    },
  },
  { name: "monitor-edit", open: inMonitor("Storefront", "/edit") },
  { name: "monitor-edit-secrets", open: inMonitor("Partner endpoint", "/edit") },
  {
    name: "monitor-edit-stale",
    status: 409,
    open: inMonitor("Storefront", "/edit"),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await sendLate(page, "Save changes");
    },
  },
];
