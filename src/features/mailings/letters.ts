import {
  type ComponentStatus,
  type Impact,
  IMPACT_TONES,
  type IncidentStatus,
  type MaintenanceStatus,
  STATUS_TONES,
  type Tone,
} from "../../base/status";
import { capitalised, spaced } from "../../base/text";
import type { Block, ComponentEntry, Letter } from "../mail/letter/letter";
import { footerOf } from "../mail/letter/sign-up";
import type { Moments } from "../mail/letter/moments";

/** Page of a mailing. */
export interface LetterPage {
  name: string;
  locale: string;
  footer: string | null;
}

/** Update of an incident or a maintenance. */
export interface LetterUpdate {
  status: string;
  body: string;
  /** Unix ms. */
  at: number;
}

/** Name of the place with the lines for one recipient. */
export const MANAGE_PLACE = "manage";

interface Common {
  /** The newest text; undefined for mailings without one, such as a reminder. */
  update: LetterUpdate | undefined;
  /** Texts of superseded mails, oldest first. */
  earlier: readonly LetterUpdate[];
  url: string;
}

export interface IncidentFacts extends Common {
  name: string;
  status: IncidentStatus;
  impact: Impact;
  components: readonly { name: string; status: ComponentStatus }[];
  /** Published post-mortem, if the mailing is about it. */
  postmortem: { body: string; at: number } | undefined;
}

/** Words of an incident's state, for the first line and for subjects. */
export function incidentWords({ status, postmortem }: IncidentFacts): string {
  return postmortem ? "Post-mortem" : capitalised(status);
}

/** Returns the mail about an incident. */
export function incidentLetter(page: LetterPage, facts: IncidentFacts, moments: Moments): Letter {
  const isOver = facts.status === "resolved";
  const tone: Tone = isOver ? "ok" : IMPACT_TONES[facts.impact];
  const impact = facts.impact === "none" ? "No impact" : `${capitalised(facts.impact)} impact`;
  const { postmortem, update } = facts;
  const written = postmortem ?? update;
  const entries = facts.components.map(({ name, status }) => ({
    name,
    status: words(status),
    tone: STATUS_TONES[status],
  }));
  return letterOf(page, {
    tone,
    first: `${incidentWords(facts)} · ${impact}`,
    name: facts.name,
    when: written && moments.moment(written.at),
    body: written?.body,
    entries,
    entriesHeading: isOver ? "Components" : "Affected components",
    facts,
    button: "View the incident",
    moments,
  });
}

export interface MaintenanceFacts extends Common {
  name: string;
  status: MaintenanceStatus;
  /** Unix ms. */
  from: number;
  until: number;
  isReminder: boolean;
  components: readonly { name: string }[];
}

const MAINTENANCE_TONES: Readonly<Record<MaintenanceStatus, Tone>> = {
  scheduled: "maint",
  in_progress: "maint",
  verifying: "maint",
  completed: "ok",
  cancelled: "none",
};

/** Words of a maintenance's state, for the first line and for subjects. */
export function maintenanceWords({ status, isReminder }: MaintenanceFacts): string {
  return isReminder ? "Maintenance begins soon" : `Maintenance ${spaced(status)}`;
}

/** Returns the mail about a maintenance. */
export function maintenanceLetter(
  page: LetterPage,
  facts: MaintenanceFacts,
  moments: Moments,
): Letter {
  return letterOf(page, {
    tone: MAINTENANCE_TONES[facts.status],
    first: maintenanceWords(facts),
    name: facts.name,
    when: moments.range(facts.from, facts.until),
    body: facts.update?.body,
    entries: facts.components.map(({ name }) => ({ name, status: "", tone: "maint" })),
    entriesHeading: "Components",
    facts,
    button: "View the maintenance",
    moments,
  });
}

export interface StatusFacts {
  name: string;
  status: ComponentStatus;
  before: ComponentStatus;
  /** Unix ms. */
  at: number;
  url: string;
}

/** Returns the mail about a changed status of a component. */
export function statusLetter(page: LetterPage, facts: StatusFacts, moments: Moments): Letter {
  return letterOf(page, {
    tone: STATUS_TONES[facts.status],
    first: words(facts.status),
    name: facts.name,
    when: moments.moment(facts.at),
    body: undefined,
    lines: [{ type: "paragraph", text: [`Before: ${words(facts.before)}`] }],
    entries: [],
    entriesHeading: "",
    facts: { update: undefined, earlier: [], url: facts.url },
    button: "View the status page",
    moments,
  });
}

/** Returns the line by which a recipient manages the subscription. */
export function manageBlocks(page: Pick<LetterPage, "name">, manageUrl: string): Block[] {
  return [
    {
      type: "paragraph",
      isMuted: true,
      text: ["You get this mail because you subscribed to ", { name: page.name }, "."],
    },
    { type: "link", label: "Manage or unsubscribe", url: manageUrl },
  ];
}

interface Parts {
  tone: Tone;
  first: string;
  name: string;
  when: string | undefined;
  body: string | undefined;
  lines?: readonly Block[];
  entries: readonly ComponentEntry[];
  entriesHeading: string;
  facts: Common;
  button: string;
  moments: Moments;
}

function letterOf(page: LetterPage, parts: Parts): Letter {
  const { tone, first, name, when, body, entries, facts, moments } = parts;
  const blocks: Block[] = [
    { type: "status", tone, text: [first] },
    { type: "title", text: [{ name }] },
    ...(when === undefined
      ? []
      : [{ type: "paragraph", isMuted: true, text: [{ name: when }] } as const]),
    ...(body === undefined ? [] : [{ type: "markdown", source: body, url: facts.url } as const]),
    ...(parts.lines ?? []),
  ];
  if (entries.length > 0) {
    blocks.push({ type: "heading", text: [parts.entriesHeading] }, { type: "components", entries });
  }
  for (const [index, { status, body: source, at }] of facts.earlier.entries()) {
    if (index === 0) blocks.push({ type: "heading", text: ["Earlier updates"] });
    blocks.push(
      {
        type: "paragraph",
        isMuted: true,
        text: [`${words(status)} · `, { name: moments.moment(at) }],
      },
      { type: "markdown", source, url: facts.url },
    );
  }
  blocks.push({ type: "button", label: parts.button, url: facts.url });
  return {
    locale: page.locale,
    sender: page.name,
    preheader: first,
    tone,
    blocks,
    footer: [{ type: "place", name: MANAGE_PLACE }, ...footerOf(page.footer)],
  };
}

function words(status: string): string {
  return capitalised(spaced(status));
}
