/*
 * `/admin`: the routes, and the screen with its notices. Its blocks are in the files beside it.
 */
import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import { STORAGE_FAULTS, type StorageFault } from "../../../db/errors";
import type { Reader } from "../../../db/statements";
import type { StorageState } from "../../../db/storage-watch";
import { type AuditRow, listNewestAudits } from "../../../events/audit-search";
import { declareRoutes } from "../../../http/elysia";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { actorOf, type RequestContext, sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import { ButtonLink, safeHref } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { FirstPage } from "../../../ui/frame/page-choice";
import {
  ACCOUNT_PATH,
  FLEET_PATH,
  locationPath,
  HOME_PATH,
  PLAN_PATH,
} from "../../../ui/frame/paths";
import { shareRead } from "../../../ui/frame/shared-read";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import { screenOperation } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import { linksOf } from "../../activity/screens/target-links";
import type { Alarm } from "../../alarms/alarms";
import {
  type AgentContact,
  isOutdated,
  hasGoneSilent,
  readContact,
} from "../../monitors/agent-contact";
import { listLocations } from "../../locations/store";
import { createIncidentCache } from "../../incidents/records";
import { ReportLink } from "../../incidents/screens/list";
import { findRelayRecord, mailReadiness, type RelayRecord } from "../../mail/settings";
import {
  type HeldMailings,
  HeldNotices,
  NOTHING_HELD,
  readHeldMailings,
} from "../../mailings/screens/mailings";
import { setFirstStepsHidden } from "../../settings/settings";
import { listCrowdedPages } from "../../subscribers/sign-up";
import { countSubscribers } from "../../subscribers/store";
import { type Attention, AttentionList, Calm, readAttention } from "./attention";
import {
  ChangesBlock,
  EventsBlock,
  type LastDay,
  LastDayBlock,
  PagesBlock,
  readLastDay,
} from "./blocks";
import { type CurrentState, readCurrentState } from "./current-state";
import {
  type FirstSteps,
  FirstStepsBlock,
  HIDE_STEPS_PATH,
  readFirstSteps,
  SHOW_STEPS_PATH,
  ShowFirstSteps,
} from "./first-steps";
import { createHealthReader, type Health, HealthBlock } from "./health";

/** Changes that the overview shows. */
const CHANGES_SHOWN = 6;

/** Routes of `/admin`. */
export function overviewAdminRoutes(deps: AdminDependencies) {
  const { ctx, render, flashes, writeAs, fleet, monitoring } = deps;
  const readHealth = createHealthReader();
  const readIncidents = createIncidentCache();

  async function read(reader: Reader, role: Role, now: number): Promise<OverviewData> {
    const state = readCurrentState(reader, readIncidents, now);
    const health = await readHealth(reader, state, now);
    return {
      state,
      attention: readAttention(reader, state, { role, now }),
      health,
      firstSteps: readFirstSteps(reader, role, now),
      day: readLastDay(reader, state, now),
      mail: readMailTroubles(ctx, state, { role, now }),
      changes: roleAllows(role, "admin") ? readChanges(reader, role) : undefined,
    };
  }

  const readAs = (role: Role) => shareRead(ctx.db, (now) => read(ctx.db, role, now));
  const readers: Record<Role, (now: number) => Promise<OverviewData>> = {
    owner: readAs("owner"),
    admin: readAs("admin"),
    editor: readAs("editor"),
    viewer: readAs("viewer"),
  };

  async function setHidden(requestContext: RequestContext, isHidden: boolean): Promise<Response> {
    await writeAs(requestContext, (tx) =>
      setFirstStepsHidden(ctx, tx, isHidden, actorOf(requestContext)),
    );
    const text = isHidden
      ? "The first steps are hidden. A button at the end of this screen shows them again."
      : "The first steps are shown again.";
    return flashes.redirect(sessionOf(requestContext).id, HOME_PATH, text);
  }

  return declareRoutes()
    .get(
      HOME_PATH,
      async ({ request, requestContext }) => {
        const { now } = requestContext;
        const { role, isZoneChosen } = sessionOf(requestContext).user;
        const data = await readers[role](now);
        const isForRole = ({ kind }: Alarm) => kind === "network_lost" || roleAllows(role, "admin");
        const alarms = (fleet?.alarms.list() ?? []).filter(isForRole);
        const storage = ctx.db.storage();
        const isTooBusy = monitoring.isTooBusy();
        const agents = listLocations(ctx.db, {})
          .map((row) => readContact(row, monitoring))
          .filter((contact) => hasGoneSilent(contact) || isOutdated(contact));
        return render.screen(
          { request, requestContext },
          {
            title: "Overview",
            children: (
              <Overview
                {...{ data, storage, isTooBusy, alarms, agents, role, isZoneChosen, now }}
              />
            ),
          },
        );
      },
      screenOperation(session("viewer")),
    )
    .post(HIDE_STEPS_PATH, async ({ requestContext }) => setHidden(requestContext, true), {
      ...formBody(),
      ...screenOperation(session("admin")),
    })
    .post(SHOW_STEPS_PATH, async ({ requestContext }) => setHidden(requestContext, false), {
      ...formBody(),
      ...screenOperation(session("admin")),
    });
}

function readChanges(reader: Reader, role: Role): OverviewData["changes"] {
  const entries = listNewestAudits(reader, { limit: CHANGES_SHOWN });
  const ids = entries.map(({ targetId }) => targetId);
  return { entries, links: linksOf(reader, ids, role) };
}

interface OverviewData {
  state: CurrentState;
  attention: Attention;
  health: Health;
  day: LastDay;
  mail: MailTroubles;
  /** First steps after the set-up; undefined once they are done, and for roles below admin. */
  firstSteps: FirstSteps | undefined;
  /** Latest changes with the paths of their objects; undefined for roles that may not see them. */
  changes: { entries: readonly AuditRow[]; links: ReadonlyMap<string, string> } | undefined;
}

interface OverviewProps {
  data: OverviewData;
  storage: StorageState;
  /** True if this server has stood still again and again for a minute. */
  isTooBusy: boolean;
  /** Alarms that hold; for roles below admin, that of the network only. */
  alarms: readonly Alarm[];
  /** Agents of locations that do not call, or that wait for another version. */
  agents: readonly AgentContact[];
  role: Role;
  /** False if the reader never chose a time zone. */
  isZoneChosen: boolean;
  now: number;
}

/** `/admin`: everything that needs attention, then the health of the installation. */
function Overview(props: OverviewProps) {
  const { data, storage, isTooBusy, alarms, agents, role, isZoneChosen, now } = props;
  const { state, attention, health, day, mail, firstSteps, changes } = data;
  const { pages } = state;
  const steps = firstSteps?.isHidden === false ? firstSteps : undefined;
  const again = firstSteps?.isHidden ? <ShowFirstSteps /> : null;
  const hint = isZoneChosen ? undefined : <ZoneHint />;
  if (pages.length === 0) {
    return (
      <>
        <PageHead title="Overview">{hint}</PageHead>
        <StorageNotice storage={storage} />
        <BusyNotice isTooBusy={isTooBusy} />
        <AlarmNotices alarms={alarms} now={now} />
        <AgentNotices agents={agents} role={role} now={now} />
        {steps ? <FirstStepsBlock {...steps} /> : <FirstPage role={role} />}
        {again}
      </>
    );
  }
  const isCalm = attention.count === 0;
  const hasFault =
    storage.fault !== undefined ||
    storage.isDamaged ||
    isTooBusy ||
    alarms.length + agents.length > 0;
  // Nothing has happened yet, so that only the steps and the health say something.
  const hasEvents = state.incidents.length + state.maintenance.length + day.lanes.length > 0;
  const isUnused =
    steps !== undefined &&
    isCalm &&
    !hasEvents &&
    health.lastIncidentAt === undefined &&
    health.monitors.size === 0;
  return (
    <>
      <PageHead title="Overview" actions={<Actions role={role} hasSteps={steps !== undefined} />}>
        {hint}
      </PageHead>
      <StorageNotice storage={storage} />
      <BusyNotice isTooBusy={isTooBusy} />
      <AlarmNotices alarms={alarms} now={now} />
      <AgentNotices agents={agents} role={role} now={now} />
      <MailNotices troubles={mail} now={now} />
      {steps ? <FirstStepsBlock {...steps} /> : null}
      <div class={isCalm ? "now" : "beside now"} id="now" data-live="">
        {isCalm ? null : <AttentionList attention={attention} />}
        <HealthBlock
          health={health}
          role={role}
          isCalm={isCalm && !hasFault}
          isNarrow={!isCalm}
          now={now}
        />
        {isCalm && !hasFault && !isUnused ? <Calm /> : null}
      </div>
      <LastDayBlock day={day} />
      {isUnused ? null : (
        <div class={changes && changes.entries.length > 0 ? "two" : undefined}>
          <EventsBlock state={state} now={now} />
          {changes && changes.entries.length > 0 ? (
            <ChangesBlock changes={changes.entries} links={changes.links} now={now} />
          ) : null}
        </div>
      )}
      {isUnused && pages.length === 1 ? null : <PagesBlock pages={pages} />}
      {again}
    </>
  );
}

/** Hint for a user who has not chosen a time zone, such as one created before users had one. */
function ZoneHint() {
  return (
    <>
      Times are in UTC. Set your time zone in{" "}
      <a href={safeHref(`${ACCOUNT_PATH}#account-zone`)}>Account</a>.
    </>
  );
}

/** Buttons of the head. The next of the first steps has the primary button while there are any. */
function Actions({ role, hasSteps }: { role: Role; hasSteps: boolean }) {
  if (!roleAllows(role, "editor")) return null;
  return (
    <>
      <ButtonLink href={PLAN_PATH}>
        <Icon name="wrench" />
        Plan maintenance
      </ButtonLink>
      <ReportLink kind={hasSteps ? "quiet" : "primary"} />
    </>
  );
}

/** Shown after the remedies of faults that end without a restart. */
const RECOVERY =
  "Status pages are still served. Changes are stored again without a restart when the fault is removed.";

const RESTORE = (
  <>
    Stop the server and restore a backup with <code>allclear restore FILE</code>.
  </>
);

/** Instructions by storage fault, shown after its description. */
const REMEDIES: Record<StorageFault, ComponentChildren> = {
  disk_full: `Free some space on the disk of the data directory. ${RECOVERY}`,
  disk_error: `Check the disk of the data directory; the log has the errors. ${RECOVERY}`,
  read_only: `Make the data directory and the files in it writable for the server. ${RECOVERY}`,
  locked: `End the other process that writes to the database. ${RECOVERY}`,
  damaged: RESTORE,
  moved: "Move the data directory back. If you replaced it on purpose, restart the server.",
  failing: "The log has the errors.",
};

/** Warns that changes cannot be stored, with the reason, or that the database is damaged. */
function StorageNotice({ storage: { fault, isDamaged } }: { storage: StorageState }) {
  if (fault !== undefined) {
    return (
      <Notice tone="major" title="Changes cannot be stored">
        {STORAGE_FAULTS[fault]} {REMEDIES[fault]}
      </Notice>
    );
  }
  if (!isDamaged) return null;
  return (
    <Notice tone="major" title="The database is damaged">
      Parts of the database file cannot be read. {RESTORE}
    </Notice>
  );
}

/** Warns that the server stands still too often to judge targets; nothing otherwise. */
function BusyNotice({ isTooBusy }: { isTooBusy: boolean }) {
  return (
    <div class="alarms" id="busy" data-live="">
      {isTooBusy ? (
        <Notice tone="partial" title="This machine is too busy to judge">
          For more than a minute, Allclear has stood still again and again, so its checks may fail
          although their targets are well. Each is repeated once, and the second result counts. End
          other programs on this machine, give it more processors or a faster disk, or move Allclear
          to another one.
        </Notice>
      ) : null}
    </div>
  );
}

/** Maximum number of notices of one kind; further ones are counted. */
const NOTICES_SHOWN = 3;

/** The first of some notices, and the number of the others in the words of `further`. */
function NoticeList({
  id,
  notices,
  further,
}: {
  id: string;
  notices: readonly ComponentChildren[];
  further(count: number): ComponentChildren;
}) {
  const count = notices.length - NOTICES_SHOWN;
  return (
    <div class="alarms" id={id} data-live="">
      {notices.slice(0, NOTICES_SHOWN)}
      {count > 0 ? <Notice tone="none">{further(count)}</Notice> : null}
    </div>
  );
}

/** Alarms of the network, the mirror, the CDN and the fleet, worst first; nothing without one. */
function AlarmNotices({ alarms, now }: { alarms: readonly Alarm[]; now: number }) {
  const link = <a href={safeHref(FLEET_PATH)}>Fleet</a>;
  const notices = alarms.map(({ kind, name, tone, detail, since }) => (
    <Notice key={kind} tone={tone} title={name}>
      {detail}
      {kind === "network_lost" ? null : (
        <>
          {" "}
          Since <RelativeTime at={toIso(since)} now={now} />. See {link}.
        </>
      )}
    </Notice>
  ));
  return (
    <NoticeList
      id="alarms"
      notices={notices}
      further={(count) => (
        <>
          {plural(count, "more alarm")}: see {link}.
        </>
      )}
    />
  );
}

/** Agents of locations that need attention; nothing without one. */
function AgentNotices({
  agents,
  role,
  now,
}: {
  agents: readonly AgentContact[];
  role: Role;
  now: number;
}) {
  const isAdmin = roleAllows(role, "admin");
  const notices = agents.map((contact) => {
    const { row, presence, contactAt = row.createdAt } = contact;
    const { id, name } = row;
    const at = <RelativeTime at={toIso(contactAt)} now={now} />;
    const link = isAdmin ? <a href={safeHref(locationPath(id))}>See its location.</a> : null;
    return isOutdated(contact) ? (
      <Notice key={id} tone="degraded" title={`The agent of ${name} has another version`}>
        It waits until server and agent are one minor version apart at most. {link}
      </Notice>
    ) : (
      <Notice key={id} tone="partial" title={`The agent of ${name} is silent`}>
        It called last {at}.{" "}
        {presence === "left_out"
          ? "Its location is left out: monitors are judged by their other locations."
          : "11.5 minutes after its last call the location is left out."}{" "}
        {link}
      </Notice>
    );
  });
  return (
    <NoticeList
      id="agents"
      notices={notices}
      further={(count) => <>{plural(count, "more agent")} of locations need attention.</>}
    />
  );
}

/** Troubles of e-mail to subscribers. */
interface MailTroubles {
  /** Number of subscribers who get no messages, since e-mail is not set up any more. */
  unreached: number;
  /** Names of pages that take no sign-ups for a while. */
  crowded: readonly string[];
  /** Mailings that wait for an admin. */
  held: HeldMailings;
  /** State of the relay, if it is known. */
  relay: RelayRecord | undefined;
}

const NONE: MailTroubles = { unreached: 0, crowded: [], held: NOTHING_HELD, relay: undefined };

/** Reads the troubles that roles from admin see. */
function readMailTroubles(
  ctx: Ctx,
  { pages }: Pick<CurrentState, "pages">,
  { role, now }: { role: Role; now: number },
): MailTroubles {
  if (!roleAllows(role, "admin")) return NONE;
  const held = readHeldMailings(ctx.db);
  if (mailReadiness(ctx).ready) {
    const crowded = new Set(listCrowdedPages(ctx.db, now));
    const names = pages.filter(({ page }) => crowded.has(page.id)).map(({ page }) => page.name);
    return { ...NONE, crowded: names, held, relay: findRelayRecord(ctx.db) };
  }
  return { ...NONE, unreached: countSubscribers(ctx.db).active, held };
}

/** Notices about e-mail to subscribers; nothing without a trouble. */
function MailNotices({ troubles, now }: { troubles: MailTroubles; now: number }) {
  const { unreached, crowded, held, relay } = troubles;
  return (
    <>
      <RelayNotice relay={relay} now={now} />
      <HeldNotices held={held} now={now} />
      {unreached > 0 ? (
        <Notice tone="partial" title="E-mail is not set up">
          {plural(unreached, "subscriber")} {unreached === 1 ? "gets" : "get"} no messages. What
          happens in this time is not sent later.
        </Notice>
      ) : null}
      {crowded.length > 0 ? (
        <Notice tone="degraded" title="Too many people are signing up">
          {crowded.join(", ")}: the limit of sign-ups an hour is used up, so visitors cannot
          subscribe by e-mail for a while. If hardly any sign-up is confirmed, the limit is lower.
        </Notice>
      ) : null}
    </>
  );
}

/** Notice while the relay takes no mail, with its last reply. */
function RelayNotice({ relay, now }: { relay: RelayRecord | undefined; now: number }) {
  if (!relay || relay.isAvailable) return null;
  return (
    <Notice tone="partial" title="The mail relay is unavailable">
      Since <RelativeTime at={toIso(relay.since)} now={now} />: {relay.reply} Mails wait and are
      sent once it is available again.
    </Notice>
  );
}
