import type { Reader } from "../../db/statements";
import { type Role, roleAllows } from "../../base/actor";
import { countKeys } from "../../features/keys/listing";
import type { PageRow } from "../../features/pages/store";
import { areFirstStepsHidden } from "../../features/settings/switches";
import { newComponentPath } from "../components/component-paths";
import { NEW_MONITOR_PATH } from "../monitors/monitor-paths";
import { choosePage } from "../../ui/frame/page-choice";
import { KEYS_PATH, PAGES_PATH } from "../../ui/frame/paths";
import { NEW_WEBHOOK_PATH } from "../webhooks/webhook-paths";
import type { CurrentState } from "./current-state";
import type { Health } from "./health";

/** Paths of the buttons that hide the steps and show them again. */
export const HIDE_STEPS_PATH = "/admin/first-steps/hide";
export const SHOW_STEPS_PATH = "/admin/first-steps/show";

/** One of the first steps after the set-up. */
export interface FirstStep {
  title: string;
  note: string;
  isDone: boolean;
  /** Button that leads to the form of the step; undefined if an earlier step is needed first. */
  action: { href: string; label: string } | undefined;
}

/** First steps, while at least one is not done. */
export interface FirstSteps {
  steps: readonly FirstStep[];
  /** True if an admin hid them. */
  isHidden: boolean;
}

/**
 * Returns the first steps. A step is done if an object of its kind exists, except on the sample
 * page. Undefined if all are done, and for roles that may not perform them.
 */
export function readFirstSteps(
  reader: Reader,
  {
    pages,
    components: [component],
    health,
    role,
    now,
  }: Pick<CurrentState, "pages" | "components"> & { health: Health; role: Role; now: number },
): FirstSteps | undefined {
  if (!roleAllows(role, "admin")) return undefined;
  const page: PageRow | undefined = choosePage(
    pages.map(({ page: each }) => each).filter(({ isSample }) => !isSample),
    undefined,
  );
  const steps: FirstStep[] = [
    {
      title: "Create your page",
      note: page
        ? `${page.name}, at /status/${page.slug}`
        : "A status page shows your customers what works.",
      isDone: page !== undefined,
      action: { href: `${PAGES_PATH}/new`, label: "Create page" },
    },
    {
      title: "Add a component",
      note: `${component ? `${component.name}. ` : ""}A component is a part of your service that users notice, such as a website.`,
      isDone: component !== undefined,
      action: page && { href: newComponentPath(page.slug), label: "Add component" },
    },
    {
      title: "Watch it with a monitor",
      note: "Allclear checks an address every minute and marks the component when a check fails.",
      isDone: health.monitors.size > 0,
      action: { href: NEW_MONITOR_PATH, label: "Create monitor" },
    },
    {
      title: "Get notified",
      note: "A webhook to Slack, Discord, Teams, Telegram, ntfy or your own program.",
      isDone: health.attempts.endpoints > 0,
      action: { href: NEW_WEBHOOK_PATH, label: "Create webhook" },
    },
    {
      title: "Create an API key",
      note: "Report incidents from a script or a pipeline. Optional.",
      isDone: countKeys(reader, now).all > 0,
      action: { href: `${KEYS_PATH}/new`, label: "Create API Key" },
    },
  ];
  if (steps.every(({ isDone }) => isDone)) return undefined;
  return { steps, isHidden: areFirstStepsHidden(reader) };
}
