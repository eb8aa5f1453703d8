import { inDemoData, type Screen } from "./screen";

const LIST = "/admin/settings/activity";

/** Screens of the audit log. */
export const ACTIVITY_SCREENS: readonly Screen[] = [
  { name: "activity", open: inDemoData(() => LIST) },
  {
    name: "activity-narrowed",
    open: inDemoData(
      ({ users }) => `${LIST}?actor=${users.jonas}&action=maintenance&from=2026-01-01`,
      "admin",
    ),
  },
  { name: "activity-nothing-found", open: inDemoData(() => `${LIST}?q=mainframe`) },
];
