import { inEmpty, inDemoData, type Screen } from "./screen";

/** Analytics. */
export const ANALYTICS_SCREENS: readonly Screen[] = [
  { name: "analytics-empty", open: ({ empty }) => inEmpty(empty, "/admin/analytics") },
  { name: "analytics", open: inDemoData(() => "/admin/analytics", "viewer") },
  {
    name: "analytics-page",
    open: inDemoData(() => "/admin/analytics?page=northwind-internal&span=7d"),
  },
  { name: "analytics-all-pages", open: inDemoData(() => "/admin/analytics?page=") },
  { name: "analytics-calendar", open: inDemoData(() => "/admin/analytics/calendar") },
  {
    name: "analytics-calendar-month",
    open: inDemoData(() => "/admin/analytics/calendar?page=northwind-internal&month=2026-02"),
  },
  { name: "analytics-response-time", open: inDemoData(() => "/admin/analytics/response-time") },
  {
    name: "analytics-response-time-day",
    open: inDemoData(() => "/admin/analytics/response-time?page=&span=24h"),
  },
  { name: "analytics-incidents", open: inDemoData(() => "/admin/analytics/incidents") },
  {
    name: "analytics-report",
    open: inDemoData(() => "/admin/analytics/report?month=2026-02", "viewer"),
  },
  {
    name: "analytics-report-empty",
    open: ({ empty }) => inEmpty(empty, "/admin/analytics/report"),
  },
  { name: "analytics-requests", open: inDemoData(() => "/admin/analytics/requests") },
];
