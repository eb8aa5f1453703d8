import type { Reader } from "../../db/statements";
import type { Letter } from "../mail/letter/letter";
import type { Moments } from "../mail/letter/moments";
import type { ComponentStatus } from "../../base/status";
import { findComponents } from "../components/store";
import { getIncident } from "../incidents/records";
import { getMaintenanceRecord } from "../maintenance/records";
import { mailSettingsOf } from "../pages/mail";
import type { PageRow } from "../pages/store";
import { pageUrl } from "../pages/references";
import { readStatusChange } from "./expand";
import {
  incidentLetter,
  incidentWords,
  type LetterUpdate,
  maintenanceLetter,
  maintenanceWords,
  statusLetter,
} from "./letters";
import { updateOf } from "./rules";
import { findEvent, type MailingRow } from "./store";

const POSTMORTEM = "incident.postmortem_published";

/** Letter of a mailing, with the words for its status and the present name of its subject. */
export interface MailingContent {
  letter: Letter;
  status: string;
  name: string;
}

interface Source {
  baseUrl: string;
  page: PageRow;
  moments: Moments;
}

/**
 * Returns the content of a mailing from the present texts, with those of `earlier` mailings, which were not
 * sent. Undefined if its subject is gone.
 */
export function readContent(
  reader: Reader,
  mailing: MailingRow,
  earlier: readonly MailingRow[],
  source: Source,
): MailingContent | undefined {
  const { kind, subjectId } = mailing;
  const page = {
    name: source.page.name,
    locale: source.page.locale,
    footer: mailSettingsOf(source.page).footer,
  };
  const address = pageUrl(source.baseUrl, source.page);
  if (kind === "component.status_changed") {
    const change = readStatusChange(reader, mailing);
    if (!change || change.status === change.before) return undefined;
    const letter = statusLetter(page, { ...change, url: address }, source.moments);
    return { letter, status: letter.preheader, name: change.name };
  }
  const own = updateIdOf(reader, mailing);
  const textsIn = (updates: readonly Update[], postmortem?: LetterUpdate) => ({
    update: updates.filter(({ id }) => id === own).map(toLetterUpdate)[0],
    earlier: earlier.flatMap((each) => {
      if (each.kind === POSTMORTEM) return postmortem ?? [];
      const earlierId = updateIdOf(reader, each);
      return updates.filter(({ id }) => id === earlierId && id !== own).map(toLetterUpdate);
    }),
  });
  if (kind.startsWith("maintenance.")) {
    const { row, components, updates } = getMaintenanceRecord(reader, subjectId);
    const texts = textsIn(updates);
    const isReminder = kind === "maintenance.reminder";
    const facts = {
      ...texts,
      name: row.name,
      status: isReminder ? row.status : ((texts.update?.status ?? row.status) as typeof row.status),
      from: row.scheduledFor,
      until: row.scheduledUntil,
      isReminder,
      components,
      url: `${address}/maintenance/${row.id}`,
    };
    const letter = maintenanceLetter(page, facts, source.moments);
    return { letter, status: maintenanceWords(facts), name: row.name };
  }
  const { row, components, updates } = getIncident(reader, subjectId, false);
  const isPostmortem = kind === POSTMORTEM;
  const { postmortemBody: body, postmortemPublishedAt: at } = row;
  const postmortem = body !== null && at !== null ? { body, at } : undefined;
  const all = textsIn(updates, postmortem && { ...postmortem, status: "post-mortem" });
  // Of a post-mortem that was withdrawn, only the texts that it replaced are mailed.
  const isWithdrawn = isPostmortem && !postmortem;
  if (isWithdrawn && all.earlier.length === 0) return undefined;
  const texts = isWithdrawn
    ? { update: all.earlier.at(-1), earlier: all.earlier.slice(0, -1) }
    : all;
  const status = (texts.update?.status ?? row.status) as typeof row.status;
  const facts = {
    ...texts,
    name: row.name,
    status,
    impact: row.impact,
    components: status === "resolved" ? withPresentStatus(reader, components) : components,
    postmortem: isPostmortem ? postmortem : undefined,
    url: `${address}/incidents/${row.id}`,
  };
  const letter = incidentLetter(page, facts, source.moments);
  return { letter, status: incidentWords(facts), name: row.name };
}

/** Gives components their status of now, since the one that an incident set ends with it. */
function withPresentStatus<Named extends { id: string; status: ComponentStatus }>(
  reader: Reader,
  components: readonly Named[],
): Named[] {
  const present = findComponents(
    reader,
    components.map(({ id }) => id),
  );
  return components.map((component) => ({
    ...component,
    status: present.get(component.id)?.status ?? component.status,
  }));
}

interface Update {
  id: string;
  status: string;
  body: string;
  displayAt: number;
}

function toLetterUpdate({ status, body, displayAt }: Update): LetterUpdate {
  return { status, body, at: displayAt };
}

/** Returns the update that a mailing is about. Reminders and post-mortems have no update of their own. */
function updateIdOf(reader: Reader, { kind, eventId }: MailingRow): string | undefined {
  if (kind === "maintenance.reminder" || kind === POSTMORTEM) return undefined;
  const data = findEvent(reader, { id: eventId })?.data;
  return data && updateOf(data)?.id;
}
