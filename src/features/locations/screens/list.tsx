/* Screens of locations: routes, the list, and the form for a new one. The screen of one location is in `detail.tsx`. */
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { validate } from "../../../base/validation";
import { EmptyState, Shape } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { locationPath, LOCATIONS_PATH } from "../../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import { type DenseDataColumn, DenseDataTable, ListCard } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { RelativeTime } from "../../../ui/times";
import { type AgentContact, readContact } from "../../monitors/agent-contact";
import { createLocation } from "../locations";
import { countMonitorsByLocation, listLocations } from "../store";
import { LocationInput } from "../wire";
import { ContactState, describeContact } from "./contact";
import { addLocationRoutes, LOCATION_FORM } from "./detail";
import { revealToken } from "./token";

/** Settings → Locations: for admins and owners. */
export function locationAdminRoutes(deps: AdminDependencies) {
  const { ctx, monitoring } = deps;
  const area = createArea(deps, LOCATIONS_PATH, "admin");

  area.screen("", () => {
    const counts = Map.groupBy(countMonitorsByLocation(ctx.db, {}), ({ locationId }) => locationId);
    const locations = listLocations(ctx.db, {}).map((row) => {
      const states = counts.get(row.id) ?? [];
      const countOf = (own: typeof states) => own.reduce((sum, { monitors }) => sum + monitors, 0);
      return {
        ...readContact(row, monitoring),
        monitors: countOf(states),
        down: countOf(states.filter(({ state }) => state === "down")),
      };
    });
    const now = ctx.clock.now();
    return { title: "Locations", children: <LocationList locations={locations} now={now} /> };
  });

  area.secretForm("/new", {
    form: LOCATION_FORM,
    load: () => undefined,
    show: () => ({
      title: "Create location",
      crumbs: crumbsTo(LOCATIONS_PATH),
      button: "Create location",
    }),
    create(tx, body, actor) {
      const made = createLocation(ctx, tx, validate(LocationInput, body), actor);
      return { made, subjectId: made.row.id };
    },
    reveal: (reveal) => revealToken(ctx, reveal, "Your new location"),
  });

  addLocationRoutes(area, deps);
  return area.routes;
}

interface ListedLocation extends AgentContact {
  /** Monitors that are checked from there, and those of them that are down there. */
  monitors: number;
  down: number;
}

/** Settings → Locations. */
function LocationList({ locations, now }: { locations: readonly ListedLocation[]; now: number }) {
  const isFirstUse = locations.length === 0;
  return (
    <>
      <PageHead
        title="Locations"
        crumbs={crumbsAbove(LOCATIONS_PATH)}
        actions={isFirstUse ? undefined : <CreateLink />}
        isList
      >
        Places besides this server, which is the location <code>local</code>, from which monitors
        are checked.
      </PageHead>
      <div id="location-list" data-live="">
        {isFirstUse ? (
          <EmptyState title="No locations yet" action={<CreateLink />}>
            An agent on another machine checks monitors from there, so that you know if a service is
            down for everyone or only from this server. A monitor names the locations that check it.
          </EmptyState>
        ) : (
          <ListCard>
            <DenseDataTable
              caption="Locations"
              liveId="location-rows"
              entries={locations}
              name={{
                label: "Location",
                cell: (location) => ({
                  shape: <Shape tone={describeContact(location, now).tone} />,
                  href: locationPath(location.row.id),
                  name: location.row.name,
                  note: <code>{location.row.ref}</code>,
                }),
              }}
              columns={columns(now)}
            />
          </ListCard>
        )}
      </div>
    </>
  );
}

function columns(now: number): DenseDataColumn<ListedLocation>[] {
  return [
    { label: "Agent", cell: (location) => <ContactState of={location} now={now} /> },
    {
      label: "Version",
      isSecondary: true,
      cell: ({ row: { agentVersion } }) => agentVersion ?? <span class="quiet-text">–</span>,
    },
    {
      label: "Monitors",
      isNumeric: true,
      cell: ({ monitors, down }) => (
        <>
          {plural(monitors, "monitor")}
          {down === 0 ? null : <span class="note">{down.toLocaleString("en")} down</span>}
        </>
      ),
    },
    {
      label: "Created",
      isSecondary: true,
      cell: ({ row: { createdAt } }) => <RelativeTime at={toIso(createdAt)} now={now} />,
    },
  ];
}

function CreateLink() {
  return (
    <ButtonLink href={`${LOCATIONS_PATH}/new`} kind="primary">
      <Icon name="plus" />
      Create location
    </ButtonLink>
  );
}
