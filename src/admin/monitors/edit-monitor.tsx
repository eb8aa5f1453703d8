import type { Monitor } from "../../features/monitors";
import { Actions, Button, ButtonLink, Form, ErrorSummary, PageHead, FormNotice } from "../../ui";
import { ManagedByFile } from "../components/managed";
import { type Complaints, wording } from "../field-errors";
import { MONITORS_PATH } from "../paths";
import { versionField } from "../stale";
import type { ComponentPart } from "./component-choice";
import { MonitorFields } from "./monitor-fields";
import { pathsOfMonitor } from "./monitor-paths";
import { CHECK_NOW } from "./new-monitor";
import { type Trial, TrialNotice } from "./trial";
import { TYPE_FORMS } from "./types";
import { labelsOf, type MonitorValues } from "./values";

interface EditMonitorProps {
  monitor: Monitor;
  isFromFile: boolean;
  values: MonitorValues;
  parts: readonly ComponentPart[];
  complaints: Complaints;
  /** Message of a stale form; undefined for a current one. */
  stale: string | undefined;
  trial: Trial | undefined;
  /** Identifies one filling in of the form, under which typed secrets are held. */
  draft: string;
}

/** Edit form of a monitor. The type cannot be changed. */
export function EditMonitor(props: EditMonitorProps) {
  const { monitor, values, parts, complaints, stale, trial, draft } = props;
  const { type, id } = monitor;
  const wrong = wording(complaints, labelsOf(type));
  const paths = pathsOfMonitor(id);
  return (
    <>
      <PageHead
        title="Edit monitor"
        crumbs={[
          { href: MONITORS_PATH, label: "Monitors" },
          { href: paths.home, label: monitor.name },
        ]}
      />
      {props.isFromFile ? <ManagedByFile what="monitor" /> : null}
      {trial ? <TrialNotice trial={trial} /> : null}
      <Form action={paths.edit} hidden={{ draft, ...versionField(monitor) }} enter={{}}>
        {stale === undefined ? null : <FormNotice>{stale}</FormNotice>}
        <ErrorSummary errors={wrong.all} />
        <MonitorFields values={values} parts={parts} wrong={wrong} />
        <Actions>
          <Button kind="primary">Save changes</Button>
          {TYPE_FORMS[type].isPush ? null : (
            <Button name="intent" value={CHECK_NOW}>
              Check now
            </Button>
          )}
          <ButtonLink href={paths.home}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
