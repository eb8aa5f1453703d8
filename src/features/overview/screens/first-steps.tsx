import { type Role, roleAllows } from "../../../base/actor";
import type { Reader } from "../../../db/statements";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { choosePage } from "../../../ui/frame/page-choice";
import {
  KEYS_PATH,
  NEW_MONITOR_PATH,
  NEW_WEBHOOK_PATH,
  newComponentPath,
  PAGES_PATH,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { countKeys } from "../../keys/records";
import type { PageRow } from "../../pages/store";
import { areFirstStepsHidden } from "../../settings/settings";
import type { CurrentState } from "./current-state";
import type { Health } from "./health";

/** Paths of the buttons that hide the steps and show them again. */
export const HIDE_STEPS_PATH = "/admin/first-steps/hide";
export const SHOW_STEPS_PATH = "/admin/first-steps/show";

/** One of the first steps after the set-up. */
interface FirstStep {
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

/** First steps after the set-up. The next step has the primary button. */
export function FirstStepsBlock({ steps }: { steps: readonly FirstStep[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section class="card steps" id="first-steps" aria-labelledby="first-steps-title">
      <div class="card-head">
        <h2 id="first-steps-title">
          First steps{" "}
          <span class="count">
            {done} of {steps.length} done
          </span>
        </h2>
        <PostButton action={HIDE_STEPS_PATH}>
          Hide<span class="visually-hidden"> the first steps</span>
        </PostButton>
      </div>
      <ol class="rows">
        {steps.map((step, index) => (
          <Step key={step.title} step={step} number={index + 1} isNext={step === next} />
        ))}
      </ol>
    </section>
  );
}

/** Button at the end of the overview that shows the steps again. */
export function ShowFirstSteps() {
  return (
    <div class="steps-again">
      <PostButton action={SHOW_STEPS_PATH}>Show the first steps</PostButton>
    </div>
  );
}

function Step(props: { step: FirstStep; number: number; isNext: boolean }) {
  const { step, number, isNext } = props;
  const { title, note, isDone, action } = step;
  return (
    <li class={isDone ? "row is-done" : isNext ? "row is-next" : "row"}>
      <span class="tick">
        {isDone ? (
          <>
            <Icon name="check" />
            <span class="visually-hidden">Done: </span>
          </>
        ) : (
          number
        )}
      </span>
      <div>
        <p class="row-title">{title}</p>
        <p class="row-note">{note}</p>
      </div>
      {isDone || !action ? null : (
        <div class="row-side">
          <ButtonLink href={action.href} kind={isNext ? "primary" : "quiet"}>
            {action.label}
          </ButtonLink>
        </div>
      )}
    </li>
  );
}
