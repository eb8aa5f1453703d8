import { inEmpty, inFurnished, type Screen } from "./screen";

/** Analytics. */
export const ANALYTICS_SCREENS: readonly Screen[] = [
  { name: "analytics-empty", open: ({ empty }) => inEmpty(empty, "/admin/analytics") },
  { name: "analytics", open: inFurnished(() => "/admin/analytics", "viewer") },
  {
    name: "analytics-page",
    open: inFurnished(() => "/admin/analytics?page=northwind-internal&span=7d"),
  },
  { name: "analytics-incidents", open: inFurnished(() => "/admin/analytics/incidents") },
  { name: "analytics-requests", open: inFurnished(() => "/admin/analytics/requests") },
];
