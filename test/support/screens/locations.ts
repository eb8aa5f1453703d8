import type { DemoLocations } from "../demo-data-locations";
import { inDemoData, inEmpty, type Screen, send } from "./screen";

const LOCATIONS = "/admin/settings/locations";

const inLocation = (which: keyof DemoLocations, below = "") =>
  inDemoData(({ locations }) => `${LOCATIONS}/${locations[which]}${below}`);

const inMonitor = (query: string) =>
  inDemoData(({ locations }) => `/admin/monitors/${locations.monitor}${query}`);

/** Locations, and the monitor that several check. */
export const LOCATION_SCREENS: readonly Screen[] = [
  { name: "locations-none", open: ({ empty }) => inEmpty(empty, LOCATIONS) },
  { name: "locations", open: inDemoData(() => LOCATIONS) },
  { name: "location", open: inLocation("berlin") },
  { name: "location-silent", open: inLocation("oregon") },
  { name: "location-without-agent", open: inLocation("singapore") },
  { name: "location-rotate", open: inLocation("oregon", "/rotate") },
  { name: "location-delete", open: inLocation("singapore", "/delete") },
  { name: "location-delete-used", open: inLocation("berlin", "/delete") },
  { name: "location-new", open: inDemoData(() => `${LOCATIONS}/new`) },
  {
    name: "location-made",
    open: ({ empty }) => inEmpty(empty, `${LOCATIONS}/new`),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Tokyo");
      await send(page, "Create location");
    },
  },
  {
    name: "location-error",
    status: 422,
    open: inDemoData(() => `${LOCATIONS}/new`),
    reach: (page) => send(page, "Create location"),
  },
  { name: "monitor-locations", open: inMonitor("") },
  { name: "monitor-location", open: inMonitor("?location=berlin") },
  { name: "monitor-locations-edit", open: inMonitor("/edit") },
];
