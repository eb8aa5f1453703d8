import {
  inDemoData,
  inEmpty,
  inMaintenance,
  inSchedule,
  openDialog,
  preview,
  type Screen,
  send,
} from "./screen";

const PLANNED = "Database upgrade";
const RESTART = "Weekly restart of the search";
const UNDER_WAY = "New machines for the build farm";

/** Maintenance. */
export const MAINTENANCE_SCREENS: readonly Screen[] = [
  { name: "maintenance", open: inDemoData(() => "/admin/maintenance") },
  {
    name: "maintenance-to-read",
    open: inDemoData(() => "/admin/maintenance?page=northwind-internal", "viewer"),
  },
  { name: "plan", open: inDemoData(() => "/admin/maintenance/new", "editor") },
  {
    name: "plan-errors",
    status: 422,
    open: inDemoData(() => "/admin/maintenance/new"),
    async reach(page) {
      await page.getByLabel("Starts at (UTC)").fill("2026-03-12T22:00");
      await page.getByRole("radio", { name: "Other end time" }).check();
      await page.getByLabel("Ends at (UTC)").fill("2026-03-12T21:00");
      await send(page, "Plan maintenance");
    },
  },
  {
    name: "plan-preview",
    open: inDemoData(() => "/admin/maintenance/new"),
    async reach(page) {
      await page.getByLabel("Name").fill("Certificates are renewed");
      await page.getByLabel("Starts at (UTC)").fill("2026-03-12T22:00");
      await page.getByLabel("Message").fill("Nothing should be noticed.");
      await preview(page);
    },
  },
  { name: "planned", open: inMaintenance(PLANNED, "") },
  { name: "planned-to-read", open: inMaintenance(PLANNED, "", "viewer") },
  { name: "planned-edit", open: inMaintenance(PLANNED, "/edit") },
  { name: "under-way", open: inMaintenance(UNDER_WAY, "", "editor") },
  {
    name: "under-way-errors",
    status: 422,
    open: inMaintenance(UNDER_WAY, ""),
    reach: (page) => send(page, "Publish update"),
  },
  { name: "under-way-edit", open: inMaintenance(UNDER_WAY, "/edit") },
  { name: "maintenance-over", open: inMaintenance("Move to another payment provider", "") },
  { name: "maintenance-cancelled", open: inMaintenance("Network of the second data centre", "") },
  { name: "maintenance-cancel", open: inMaintenance(PLANNED, "/cancel") },
  {
    name: "maintenance-cancel-dialog",
    isOverlay: true,
    open: inMaintenance(PLANNED, ""),
    reach: (page) => openDialog(page, "Cancel maintenance"),
  },
  {
    name: "start-errors",
    status: 422,
    open: inMaintenance(PLANNED, "/start"),
    async reach(page) {
      await page.getByLabel("Message").fill("");
      await send(page, "Start maintenance");
    },
  },
  {
    name: "finish-dialog",
    isOverlay: true,
    open: inMaintenance(UNDER_WAY, ""),
    reach: (page) => openDialog(page, "Complete early"),
  },
  { name: "maintenance-occurrence", open: inMaintenance(RESTART, "") },
  { name: "maintenance-calendar", open: inDemoData(() => "/admin/maintenance/calendar") },
  {
    name: "maintenance-calendar-empty",
    open: inDemoData(() => "/admin/maintenance/calendar?month=2031-02", "viewer"),
  },
  { name: "schedules", open: inDemoData(() => "/admin/maintenance/schedules") },
  {
    name: "schedules-to-read",
    open: inDemoData(() => "/admin/maintenance/schedules", "viewer"),
  },
  {
    name: "schedules-none",
    open: ({ empty }) => inEmpty(empty, "/admin/maintenance/schedules"),
  },
  { name: "schedule-new", open: inDemoData(() => "/admin/maintenance/schedules/new", "editor") },
  {
    name: "schedule-errors",
    status: 422,
    open: inDemoData(() => "/admin/maintenance/schedules/new"),
    async reach(page) {
      await page.getByLabel("Repeats").selectOption("cron");
      await page.getByLabel("Cron expression").fill("0 25 * * *");
      await send(page, "Create schedule");
    },
  },
  { name: "schedule-edit", open: inSchedule(RESTART, "") },
  { name: "schedule-delete", open: inSchedule(RESTART, "/delete") },
];
