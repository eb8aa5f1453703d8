import type { StorageState } from "../../db/storage-watch";
import { type Role, roleAllows } from "../../base/actor";
import type { AuditRow } from "../../events/audit-search";
import type { Alarm } from "../../features/alarms/alarms";
import { ButtonLink } from "../../ui/buttons";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/navigation";
import { ReportLink } from "../../features/incidents/screens/list";
import { PLAN_PATH } from "../maintenance/maintenance-paths";
import { FirstPage } from "../../ui/frame/page-choice";
import type { Attention } from "./attention";
import { AttentionList, Calm } from "./attention-list";
import { ChangesBlock } from "./changes-block";
import type { CurrentState } from "./current-state";
import { EventsBlock } from "./events-block";
import type { FirstSteps as Steps } from "./first-steps";
import { FirstStepsBlock, ShowFirstSteps } from "./first-steps-block";
import type { Health } from "./health";
import { HealthBlock } from "./health-block";
import type { LastDay } from "./last-day";
import { LastDayBlock } from "./last-day-block";
import { MailNotices, type MailTroubles } from "./mail-notices";
import { AlarmNotices, BusyNotice, StorageNotice } from "./notices";
import { PagesBlock } from "./pages-block";

export interface OverviewData {
  state: CurrentState;
  attention: Attention;
  health: Health;
  day: LastDay;
  mail: MailTroubles;
  /** First steps after the set-up; undefined once they are done, and for roles below admin. */
  firstSteps: Steps | undefined;
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
  role: Role;
  now: number;
}

/** `/admin`: everything that needs attention, then the health of the installation. */
export function Overview({ data, storage, isTooBusy, alarms, role, now }: OverviewProps) {
  const { state, attention, health, day, mail, firstSteps, changes } = data;
  const { pages } = state;
  const steps = firstSteps?.isHidden === false ? firstSteps.steps : undefined;
  const again = firstSteps?.isHidden ? <ShowFirstSteps /> : null;
  if (pages.length === 0) {
    return (
      <>
        <PageHead title="Overview" />
        <StorageNotice storage={storage} />
        <BusyNotice isTooBusy={isTooBusy} />
        <AlarmNotices alarms={alarms} now={now} />
        {steps ? <FirstStepsBlock steps={steps} /> : <FirstPage role={role} />}
        {again}
      </>
    );
  }
  const isCalm = attention.count === 0;
  const hasFault =
    storage.fault !== undefined || storage.isDamaged || isTooBusy || alarms.length > 0;
  return (
    <>
      <PageHead title="Overview" actions={<Actions role={role} hasSteps={steps !== undefined} />} />
      <StorageNotice storage={storage} />
      <BusyNotice isTooBusy={isTooBusy} />
      <AlarmNotices alarms={alarms} now={now} />
      <MailNotices troubles={mail} now={now} />
      {steps ? <FirstStepsBlock steps={steps} /> : null}
      <div class={isCalm ? "now" : "beside now"} id="now" data-live="">
        {isCalm ? null : <AttentionList attention={attention} />}
        <HealthBlock
          health={health}
          role={role}
          isCalm={isCalm && !hasFault}
          isNarrow={!isCalm}
          now={now}
        />
        {isCalm && !hasFault ? <Calm /> : null}
      </div>
      <LastDayBlock day={day} />
      <div class={changes && changes.entries.length > 0 ? "two" : undefined}>
        <EventsBlock state={state} now={now} />
        {changes && changes.entries.length > 0 ? (
          <ChangesBlock changes={changes.entries} links={changes.links} now={now} />
        ) : null}
      </div>
      <PagesBlock pages={pages} />
      {again}
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
