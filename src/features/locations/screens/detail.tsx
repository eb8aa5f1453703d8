import { MONITOR_TONES } from "../../../base/status";
import { toIso } from "../../../base/time";
import { validate } from "../../../base/validation";
import { Facts, MONITOR_WORDS, Notice, Shape, State } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { DetailCard, DetailRow, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { FormFields, textField } from "../../../ui/forms/fields";
import { defineForm, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { locationPath, LOCATIONS_PATH, monitorPath } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { ManagedByFile, RecreatedByFile } from "../../../ui/screens/form-screen";
import { RelativeTime } from "../../../ui/times";
import { VERSION } from "../../../version";
import { type AgentContact, isOutdated, readContact } from "../../monitors/agent-contact";
import { Since } from "../../monitors/screens/words";
import {
  deleteLocation,
  getLocation,
  type LocationToken,
  tokensOfLocation,
  updateLocation,
} from "../locations";
import { listMonitorsAt, type LocationRow } from "../store";
import { LOCATION_NAME_MAX, LocationInput } from "../wire";
import { describeContact } from "./contact";
import { addTokenRoutes, StartSteps, Tokens } from "./token";

/** Maximum number of monitors that the screen of a location lists. */
const MONITORS_SHOWN = 50;

/** Form of the name of a location, for a new one too. */
export const LOCATION_FORM = defineForm<LocationInput>()({
  name: textField({
    label: "Name",
    hint: "Where the agent runs, such as “Berlin”. Visitors never see it.",
    maxlength: LOCATION_NAME_MAX,
    isRequired: true,
  }),
});

/** Adds the screen of a location, and the forms that rename and delete it and those of its tokens. */
export function addLocationRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, monitoring } = deps;

  function readLocation(id: string) {
    const row = getLocation(ctx.db, id);
    const monitors = listMonitorsAt(ctx.db, { locationId: id, limit: MONITORS_SHOWN + 1 });
    const tokens = tokensOfLocation(ctx.db, id, ctx.clock.now());
    return { contact: readContact(row, monitoring), monitors, tokens };
  }

  area.editForm("/:id", {
    form: LOCATION_FORM,
    load(reader, { params }) {
      const row = getLocation(reader, params.id);
      return { resource: { name: row.name }, version: row.version, context: undefined };
    },
    show(edit, { params }) {
      const view = readLocation(params.id);
      const page = { view, edit, baseUrl: ctx.baseUrl, now: ctx.clock.now() };
      return { title: view.contact.row.name, children: <LocationDetail {...page} /> };
    },
    update(tx, changes, actor, { params }) {
      const before = getLocation(tx, params.id);
      const body = validate(LocationInput, { name: before.name, ...changes });
      return updateLocation(ctx, tx, params.id, body, actor).version !== before.version;
    },
    done: ({ params }, _, isChanged) => ({
      path: locationPath(params.id),
      text: isChanged ? "The location was renamed." : undefined,
    }),
  });

  addTokenRoutes(area, ctx);
  area.deletion({
    noun: "location",
    find: getLocation,
    nameOf: ({ name }) => name,
    consequences: (row) => {
      const monitors = listMonitorsAt(ctx.db, { locationId: row.id, limit: MONITORS_SHOWN });
      return <Consequences managedBy={row.managedBy} monitors={monitors} />;
    },
    remove: (tx, { id }, actor) => deleteLocation(ctx, tx, id, actor),
  });
}

interface LocationView {
  contact: AgentContact;
  monitors: ReturnType<typeof listMonitorsAt>;
  tokens: readonly LocationToken[];
}

/** Consequences of deleting a location, or the monitors that prevent it. */
function Consequences({
  managedBy,
  monitors,
}: Pick<LocationRow, "managedBy"> & Pick<LocationView, "monitors">) {
  return (
    <>
      {monitors.length > 0 ? (
        <Notice tone="degraded" title="Monitors are checked from this location">
          Take the location out of them first:{" "}
          {monitors.map((monitor, index) => (
            <>
              {index === 0 ? "" : ", "}
              <a href={monitorPath(monitor.id, "edit")}>{monitor.name}</a>
            </>
          ))}
          .
        </Notice>
      ) : (
        <p>
          The agent is refused from now on. The results from there are deleted when they are as old
          as others. This cannot be undone.
        </p>
      )}
      {managedBy === null ? null : <RecreatedByFile what="location" />}
    </>
  );
}

interface LocationDetailProps {
  view: LocationView;
  edit: StateOf<typeof LOCATION_FORM>;
  baseUrl: string;
  now: number;
}

/** One location: its agent, the monitors that it checks, its tokens and its name. */
function LocationDetail({ view, edit, baseUrl, now }: LocationDetailProps) {
  const { contact, monitors, tokens } = view;
  const { row, contactAt } = contact;
  return (
    <>
      <Head view={view} now={now} />
      {isOutdated(contact) ? (
        <Notice tone="degraded" title={`The agent has version ${row.agentVersion}`}>
          This server has version {VERSION}, and works with agents that are at most one minor
          version apart. The agent asks again each minute: replace its executable by the server's
          version.
        </Notice>
      ) : null}
      {row.managedBy === null ? null : <ManagedByFile what="location" />}
      {contactAt === undefined ? (
        <DetailCard title="Connect an agent" liveId="location-start" isStill>
          <StartSteps baseUrl={baseUrl} token={undefined} />
        </DetailCard>
      ) : null}
      <Monitors monitors={monitors} now={now} />
      <Tokens id={row.id} tokens={tokens} now={now} />
      <DetailCard title="Name" liveId="location-settings" isStill>
        <Form action={locationPath(row.id)} hidden={edit.hidden}>
          <FormFields form={LOCATION_FORM} state={edit} />
          <Actions>
            <Button>Save changes</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard title="Details" liveId="location-details" isFlush>
        <Facts
          items={[
            { label: "Reference", value: <code>{row.ref}</code> },
            { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
            { label: "Id", value: <code>{row.id}</code>, isWide: true },
          ]}
        />
      </DetailCard>
    </>
  );
}

/** Name of a location, its actions, and the contact of its agent. */
function Head({ view: { contact, monitors, tokens }, now }: { view: LocationView; now: number }) {
  const { row } = contact;
  const { tone, words, note } = describeContact(contact, now);
  return (
    <PageHead
      title={row.name}
      crumbs={crumbsTo(LOCATIONS_PATH)}
      actions={
        <>
          <ButtonLink href={locationPath(row.id, "rotate")} dialog>
            <Icon name="refresh-cw" />
            {tokens.length === 0 ? "Issue token" : "Rotate token"}
          </ButtonLink>
          <MoreMenu label="More actions">
            <ButtonLink href={locationPath(row.id, "delete")} kind="danger" dialog>
              Delete
            </ButtonLink>
          </MoreMenu>
        </>
      }
    >
      <div id="location-contact" data-live="">
        <HeadFacts>
          <State tone={tone}>{words}</State>
          {note === null ? null : <HeadFact icon="clock">{note}</HeadFact>}
          <HeadFact icon="activity">
            {monitors.length > MONITORS_SHOWN ? `over ${MONITORS_SHOWN}` : monitors.length}{" "}
            {monitors.length === 1 ? "monitor" : "monitors"}
          </HeadFact>
        </HeadFacts>
      </div>
    </PageHead>
  );
}

/** Monitors that are checked from a location, with their state there. */
function Monitors({ monitors, now }: Pick<LocationView, "monitors"> & { now: number }) {
  return (
    <DetailCard title="Monitors" liveId="location-monitors" isFlush>
      {monitors.length === 0 ? (
        <p class="muted detail-body">
          No monitor is checked from here. Edit a monitor and select the location there.
        </p>
      ) : (
        <ul>
          {monitors.slice(0, MONITORS_SHOWN).map(({ id, name, state, since }) => (
            <DetailRow
              key={id}
              shape={<Shape tone={MONITOR_TONES[state]} isPaused={state === "paused"} />}
              href={monitorPath(id)}
              title={name}
              note={
                <>
                  {MONITOR_WORDS[state]} from here <Since at={since} now={now} />
                </>
              }
            />
          ))}
        </ul>
      )}
      {monitors.length > MONITORS_SHOWN ? (
        <p class="muted detail-body">Further monitors are not listed.</p>
      ) : null}
    </DetailCard>
  );
}
