import { readDeliveryTroubles } from "../../features/webhooks/screens/read";
import { type Tone, TONES } from "../../base/status";
import type { Reader } from "../../db/statements";
import type { Alarm } from "../../features/alarms/alarms";
import { findMailHold } from "../../features/mail/hold";
import { countHeldByPage } from "../../features/mailings/store";
import { countMonitorsByState } from "../../features/monitors/store";
import { EMPTY_HEADLINE, readHeadlines } from "../../features/status/snapshots";
import { headlineText, toneOf } from "../../features/status/rules";
import { readPages } from "./page-choice";
import { FLEET_PATH, INCIDENTS_PATH, MAILINGS_PATH, MONITORS_PATH, WEBHOOKS_PATH } from "./paths";

/** Number of open problems of one kind, such as monitors that are down. */
export interface ProblemCount {
  count: number;
  /** Words after the number for screen readers, such as "down". */
  what: string;
  /** Colour and shape of the number; absent for a number without them. */
  tone?: Tone;
}

/** State of the installation that the sidebar of every screen shows. */
export interface SideState {
  /** Page with the worst headline; undefined without a page. */
  worst: { name: string; path: string; headline: string; tone: Tone } | undefined;
  /** Number of other pages. */
  otherPages: number;
  /** Open problems, by the path of their place. */
  attention: Readonly<Partial<Record<string, ProblemCount>>>;
}

/** Reads the state with a few small statements, however many pages there are. `now` is in unix ms. */
export function readSideState(reader: Reader, now: number): SideState {
  const headlines = readHeadlines(reader);
  const pages = readPages(reader).map(({ id, name, slug }) => {
    const headline = headlines.get(id) ?? EMPTY_HEADLINE;
    const { openIncidentCount } = headline;
    return {
      name,
      path: `/status/${slug}`,
      headline: headlineText(headline),
      tone: toneOf(headline),
      openIncidentCount,
    };
  });
  const worst = pages.toSorted((a, b) => TONES.indexOf(b.tone) - TONES.indexOf(a.tone))[0];
  const incidents = pages.reduce((count, { openIncidentCount }) => count + openIncidentCount, 0);
  const down =
    countMonitorsByState(reader, {}).find(({ state }) => state === "down")?.monitors ?? 0;
  const webhooks = countFailingWebhooks(reader, now);
  const mailings = countHeldMailings(reader);
  return {
    worst,
    otherPages: Math.max(0, pages.length - 1),
    attention: {
      ...(incidents > 0 ? { [INCIDENTS_PATH]: { count: incidents, what: "open" } } : {}),
      ...(down > 0 ? { [MONITORS_PATH]: { count: down, what: "down", tone: "major" } } : {}),
      ...(webhooks
        ? {
            [WEBHOOKS_PATH]: {
              ...webhooks,
              what: `${webhooks.count === 1 ? "webhook" : "webhooks"} ${webhooks.what}`,
            },
          }
        : {}),
      ...(mailings ? { [MAILINGS_PATH]: mailings } : {}),
    },
  };
}

/** Adds alarms, worst first, to the state, which is older by up to a second. */
export function withAlarms(state: SideState, alarms: readonly Alarm[]): SideState {
  const [worst] = alarms;
  if (!worst) return state;
  const what = alarms.length === 1 ? "alarm" : "alarms";
  const count = { count: alarms.length, what, tone: worst.tone };
  return { ...state, attention: { ...state.attention, [FLEET_PATH]: count } };
}

/** Counts the mailings that wait for an admin. Undefined without any. */
function countHeldMailings(reader: Reader): ProblemCount | undefined {
  const held = countHeldByPage(reader, {}).reduce((sum, { count }) => sum + count, 0);
  const isHold = findMailHold(reader) !== undefined;
  if (held === 0 && !isHold) return undefined;
  const what = held > 1 ? "mailings held" : "mailing held";
  return { count: Math.max(1, held), what, tone: isHold ? "major" : "degraded" };
}

/** Counts the webhooks that receive no events, in the tone of the worst. Undefined without any. */
export function countFailingWebhooks(
  reader: Reader,
  now: number,
): Required<ProblemCount> | undefined {
  const troubles = readDeliveryTroubles(reader, now);
  const disabled = troubles.filter(({ disabledReason }) => disabledReason !== undefined).length;
  const count = troubles.length;
  if (count === 0) return undefined;
  if (disabled === 0) return { count, what: "failing", tone: "partial" };
  return { count, what: disabled === count ? "disabled" : "failing or disabled", tone: "major" };
}
