import { inEmpty, inDemoData, type Screen } from "./screen";

/** Analytics. */
export const ANALYTICS_SCREENS: readonly Screen[] = [
  { name: "analytics-empty", open: ({ empty }) => inEmpty(empty, "/admin/analytics") },
  { name: "analytics", open: inDemoData(() => "/admin/analytics", "viewer") },
  {
    name: "analytics-page",
    open: inDemoData(() => "/admin/analytics?page=northwind-internal&span=7d"),
  },
  { name: "analytics-incidents", open: inDemoData(() => "/admin/analytics/incidents") },
  { name: "analytics-requests", open: inDemoData(() => "/admin/analytics/requests") },
];
