import {
  chooseTemplate,
  inDemoData,
  inIncident,
  inNewestUpdate,
  openDialog,
  inStorm,
  inTemplate,
  preview,
  type Screen,
  send,
  sendLate,
} from "./screen";

import { DEMO_TEMPLATES } from "../demo-data-templates";

const OPEN = "Order emails arrive late";
const DRAFT = "Some product images are missing";
const OVER = "Payments by card fail for some customers";

/** Screens of the overview and of incidents. */
export const INCIDENT_SCREENS: readonly Screen[] = [
  { name: "overview", open: inDemoData(() => "/admin") },
  { name: "overview-as-editor", open: inDemoData(() => "/admin", "editor") },
  { name: "overview-as-viewer", open: inDemoData(() => "/admin", "viewer") },
  { name: "incidents", open: inDemoData(() => "/admin/incidents") },
  {
    name: "incidents-narrowed",
    open: inDemoData(() => "/admin/incidents?page=northwind&show=resolved", "viewer"),
  },
  {
    name: "incidents-nothing-found",
    open: inDemoData(() => "/admin/incidents?q=mainframe&show=open"),
  },
  { name: "report", open: inDemoData(() => "/admin/incidents/new", "editor") },
  {
    name: "report-template",
    open: inDemoData(() => "/admin/incidents/new"),
    reach: (page) => page.getByRole("button", { name: "Slow responses" }).click(),
  },
  {
    name: "report-own-template",
    open: inDemoData(() => "/admin/incidents/new"),
    reach: (page) => page.getByRole("button", { name: DEMO_TEMPLATES.checkout }).click(),
  },
  {
    name: "report-errors",
    status: 422,
    open: inDemoData(() => "/admin/incidents/new"),
    async reach(page) {
      await page.locator("summary", { hasText: "More" }).click();
      await page.getByLabel("External reference").fill("OPS-1");
      await send(page, "Publish incident");
    },
  },
  {
    name: "report-preview",
    open: inDemoData(() => "/admin/incidents/new"),
    async reach(page) {
      await page.getByLabel("Name").fill("Checkout is slow");
      await page.getByLabel("Checkout").selectOption("Degraded performance");
      await page.getByRole("button", { name: "Slow responses" }).click();
      await preview(page);
    },
  },
  { name: "incident", open: inIncident(OPEN, "", "editor") },
  { name: "incident-to-read", open: inIncident(OPEN, "", "viewer") },
  {
    name: "incident-resolving",
    open: inIncident(OPEN, ""),
    async reach(page) {
      await chooseTemplate(page, "Resolved");
      await page.getByText("Add component", { exact: true }).click();
    },
  },
  {
    name: "incident-errors",
    status: 422,
    open: inIncident(OPEN, ""),
    reach: (page) => send(page, "Publish update"),
  },
  {
    name: "incident-preview",
    open: inIncident(OPEN, ""),
    async reach(page) {
      await chooseTemplate(page, "Fix in place");
      await preview(page);
    },
  },
  { name: "incident-draft", open: inIncident(DRAFT, "") },
  { name: "incident-over", open: inIncident(OVER, "") },
  { name: "incident-over-reopening", open: inIncident(OVER, "?status=investigating") },
  {
    name: "incident-of-monitors",
    open: inStorm(""),
    async reach(page) {
      await page.locator("#detected-by summary").click();
      await page.getByLabel("Select Search").check();
    },
  },
  { name: "incident-of-monitors-to-read", open: inStorm("", { role: "viewer" }) },
  { name: "incident-of-monitors-over", open: inStorm("", { which: "over" }) },
  { name: "incident-of-monitors-delete", open: inStorm("/delete") },
  {
    name: "incident-split-off-errors",
    status: 422,
    open: inStorm(""),
    reach: (page) => send(page, "Split off"),
  },
  {
    name: "overview-with-shared-incident",
    open: ({ storm }) => ({ site: storm, path: "/admin", session: storm.session }),
  },
  { name: "update-edit", open: inNewestUpdate(OPEN) },
  { name: "incident-edit", open: inIncident(OVER, "/edit") },
  {
    name: "incident-edit-late",
    status: 409,
    open: inIncident(OPEN, "/edit"),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Emails arrive late");
      await sendLate(page, "Save changes");
    },
  },
  { name: "post-mortem", open: inIncident(OPEN, "/postmortem") },
  { name: "post-mortem-published", open: inIncident(OVER, "/postmortem") },
  {
    name: "post-mortem-preview",
    open: inIncident(OVER, "/postmortem"),
    reach: preview,
  },
  { name: "incident-delete", open: inIncident(OVER, "/delete") },
  {
    name: "incident-delete-dialog",
    isOverlay: true,
    open: inIncident(OPEN, ""),
    reach: (page) => openDialog(page, "Delete"),
  },
  { name: "templates", open: inDemoData(() => "/admin/incidents/templates") },
  { name: "templates-as-editor", open: inDemoData(() => "/admin/incidents/templates", "editor") },
  {
    name: "templates-nothing-found",
    open: inDemoData(() => "/admin/incidents/templates?q=mainframe"),
  },
  { name: "template-new", open: inDemoData(() => "/admin/incidents/templates/new") },
  {
    name: "template-errors",
    status: 422,
    open: inDemoData(() => "/admin/incidents/templates/new"),
    reach: (page) => send(page, "Create template"),
  },
  { name: "template", open: inTemplate(DEMO_TEMPLATES.checkout, "") },
  {
    name: "template-late",
    status: 409,
    open: inTemplate(DEMO_TEMPLATES.checkout, ""),
    async reach(page) {
      await page.getByLabel("Incident name").fill("No orders");
      await sendLate(page, "Save changes");
    },
  },
  { name: "template-delete", open: inTemplate(DEMO_TEMPLATES.provider, "/delete") },
];
