/*
 * The first steps after the set-up: the block on the overview, the buttons that hide it and show it again, and the link
 * to the next step after a form.
 */
import { type Role, roleAllows } from "../../../base/actor";
import { sum } from "../../../base/numbers";
import type { Reader } from "../../../db/statements";
import { type RequestContext, sessionOf } from "../../../http/request-context";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { choosePage, readPages } from "../../../ui/frame/page-choice";
import {
  IMPORTS_PATH,
  KEYS_PATH,
  NEW_MONITOR_PATH,
  NEW_WEBHOOK_PATH,
  newComponentPath,
  PAGES_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { findComponentAt, listComponentsOfPage } from "../../components/store";
import { listKeyIdsAfter } from "../../keys/store";
import { countMonitorsByState } from "../../monitors/store";
import { areFirstStepsHidden } from "../../settings/settings";
import { countAttempts } from "../../webhooks/health";

/** Paths of the buttons that hide the steps and show them again. */
export const HIDE_STEPS_PATH = "/admin/first-steps/hide";
export const SHOW_STEPS_PATH = "/admin/first-steps/show";

/** Query parameter of a form that one of the first steps opened. The action of the form keeps it. */
export const STEP = "step";

/** One of the first steps after the set-up. */
interface FirstStep {
  title: string;
  note: string;
  isDone: boolean;
  /** True for a step that may be left out. */
  isOptional?: boolean;
  /** Button that leads to the form of the step; undefined if an earlier step is needed first. */
  action: { href: string; label: string } | undefined;
}

/** First steps, while at least one that is not optional is not done. */
export interface FirstSteps {
  steps: readonly FirstStep[];
  /** True if an admin hid them. */
  isHidden: boolean;
  /** True if the reader may import from another product, and no monitor exists. */
  offersImport: boolean;
}

/**
 * Returns the first steps. A step is done if an object of its kind exists, except on the sample page. They end once
 * notifications are sent: undefined then, and for roles that may not perform them.
 */
export function readFirstSteps(reader: Reader, role: Role, now: number): FirstSteps | undefined {
  if (!roleAllows(role, "admin")) return undefined;
  const steps = stepsOf(reader, now);
  if (steps.every(({ isDone, isOptional }) => isDone || isOptional)) return undefined;
  return {
    steps,
    isHidden: areFirstStepsHidden(reader),
    offersImport: roleAllows(role, "owner") && steps.slice(2).every(({ isDone }) => !isDone),
  };
}

/** Returns the link to the next of the first steps, for the message after a form; undefined without one. */
export function nextStepLink(
  reader: Reader,
  requestContext: RequestContext,
): { href: string; label: string } | undefined {
  const { role } = sessionOf(requestContext).user;
  if (!roleAllows(role, "admin") || areFirstStepsHidden(reader)) return undefined;
  const next = stepsOf(reader, requestContext.now).find(({ isDone }) => !isDone);
  // Who has several monitors has seen the offer.
  if (next?.isOptional && sum(countMonitorsByState(reader, {}).map((each) => each.monitors)) > 1) {
    return undefined;
  }
  return next?.action && { ...next.action, label: `Next: ${next.action.label}` };
}

function stepsOf(reader: Reader, now: number): FirstStep[] {
  const pages = readPages(reader).filter(({ isSample }) => !isSample);
  const page = choosePage(pages, undefined);
  const isWatched = countMonitorsByState(reader, {}).length > 0;
  // The form of the first monitor starts with the first component in the order of the page.
  const firstOf = (pageId: string) =>
    isWatched
      ? findComponentAt(reader, { pageId, offset: 0 })
      : listComponentsOfPage(reader, { pageId })[0];
  const component = pages
    .values()
    .map(({ id }) => firstOf(id))
    .find((each) => each !== undefined);
  return [
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
      isDone: isWatched,
      action: {
        href: withQuery(NEW_MONITOR_PATH, { component: component?.id }),
        label: "Create monitor",
      },
    },
    {
      title: "Get notified",
      note: "By e-mail, or by a webhook to Slack, Discord, Teams, Telegram, ntfy or your own program.",
      isDone: countAttempts(reader, now).endpoints > 0,
      action: { href: NEW_WEBHOOK_PATH, label: "Create webhook" },
    },
    {
      title: "Create an API key",
      note: "Report incidents from a script or a pipeline. Optional.",
      isDone: listKeyIdsAfter(reader, { after: "", limit: 1 }).length > 0,
      isOptional: true,
      action: {
        href: withQuery(`${KEYS_PATH}/new`, { preset: "ci-incident-bot", [STEP]: "key" }),
        label: "Create API Key",
      },
    },
  ];
}

/** Block of the first steps. The next one has the primary button. */
export function FirstStepsBlock({ steps, offersImport }: Omit<FirstSteps, "isHidden">) {
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
      {offersImport ? (
        <p class="steps-foot">
          Coming from Uptime Kuma, Gatus, Statuspage or another product?{" "}
          <a href={IMPORTS_PATH}>Import your pages, monitors and webhooks</a>
        </p>
      ) : null}
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
