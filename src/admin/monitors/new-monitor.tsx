import { MONITOR_TYPES } from "../../domain/monitor-state";
import { Actions, Button, ButtonLink, Form, ErrorSummary, PageHead, Tabs } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MONITORS_PATH } from "../paths";
import type { ComponentPart } from "./component-choice";
import { MonitorFields } from "./monitor-fields";
import { NEW_MONITOR_PATH, newMonitorPath } from "./monitor-paths";
import { type Trial, TrialNotice } from "./trial";
import { TYPE_FORMS } from "./types";
import { labelsOf, type MonitorValues } from "./values";
import { typeLabel } from "./words";

/** Intent of the button that runs a check without saving. */
export const CHECK_NOW = "check";

interface NewMonitorProps {
  values: MonitorValues;
  parts: readonly ComponentPart[];
  complaints: Complaints;
  trial: Trial | undefined;
  /** Hidden fields: form token and draft id. */
  hidden: Readonly<Record<string, string>>;
}

/** "Create monitor": a form for each type. */
export function NewMonitor({ values, parts, complaints, trial, hidden }: NewMonitorProps) {
  const { type } = values;
  const { sentence, isPush } = TYPE_FORMS[type];
  const wrong = wording(complaints, labelsOf(type));
  return (
    <>
      <PageHead title="Create monitor" crumbs={[{ href: MONITORS_PATH, label: "Monitors" }]} />
      <Tabs
        label="Type of the monitor"
        items={MONITOR_TYPES.map((each) => ({
          href: newMonitorPath(each),
          label: typeLabel(each),
          isCurrent: each === type,
        }))}
      />
      <p class="muted">{sentence}</p>
      {trial ? <TrialNotice trial={trial} /> : null}
      <Form action={NEW_MONITOR_PATH} hidden={{ type, ...hidden }} enter={{}}>
        <ErrorSummary errors={wrong.all} />
        <MonitorFields values={values} parts={parts} wrong={wrong} />
        <Actions>
          <Button kind="primary">Create monitor</Button>
          {isPush ? null : (
            <Button name="intent" value={CHECK_NOW}>
              Check now
            </Button>
          )}
          <ButtonLink href={MONITORS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
