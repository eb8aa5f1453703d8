/* Fields of monitors for alerts of other programs, and the mappings that the form fills in. */
import { Fragment } from "preact";
import { parseJson } from "../../../base/text";
import type { Labels } from "../../../db/tables/alerts";
import { NEW_MONITOR_PATH, withQuery } from "../../../ui/frame/paths";
import { TextArea } from "../../../ui/form";
import { linesField, textAreaField } from "../../../ui/forms/fields";
import { type Field, nullable } from "../../../ui/forms/form";
import type { MonitorChoice } from "../../../ui/forms/object-fields";
import type { Mapping } from "../probes/alert";
import { inputOf } from "./rows";

/** Field for matchers, one a line. */
export function matchersField(options: Parameters<typeof linesField>[0]): Field<string, string[]> {
  return {
    ...linesField(options),
    showError({ pointer, detail }) {
      const line = Number(pointer.split("/").at(-1));
      return { detail: Number.isNaN(line) ? detail : `Line ${line + 1} ${detail}.` };
    },
  };
}

/** Screen data of the form. */
export interface WatchdogContext {
  /** Other monitors, of which push monitors can be a watchdog. */
  others: readonly Pick<MonitorChoice, "type" | "ref">[];
}

/** Senders without a format of their own. Those that let users write the body send that of `docs/alerts.md`. */
export const ALERT_PRESETS: Readonly<Record<string, { label: string; mapping: Mapping }>> = {
  "uptime-kuma": {
    label: "Uptime Kuma",
    mapping: {
      alerts: null,
      fingerprint: "$.monitor.id",
      status: { path: "$.heartbeat.status", firing: ["0"], resolved: ["1"] },
      started_at: "$.heartbeat.time",
      title: "$.msg",
      labels: { monitor: "$.monitor.name", type: "$.monitor.type" },
    },
  },
  gatus: {
    label: "Gatus",
    mapping: {
      alerts: null,
      fingerprint: "$.key",
      status: { path: "$.status", firing: ["TRIGGERED"], resolved: ["RESOLVED"] },
      title: "$.title",
      labels: { group: "$.group", endpoint: "$.endpoint" },
    },
  },
  datadog: {
    label: "Datadog",
    mapping: {
      alerts: null,
      fingerprint: "$.cycle",
      status: {
        path: "$.transition",
        firing: ["Triggered", "Re-Triggered", "Warn", "Re-Warn", "Renotify"],
        resolved: ["Recovered"],
      },
      title: "$.title",
      labels: { alert: "$.id", priority: "$.priority", scope: "$.scope" },
    },
  },
};

/** Field for the mapping of a body, which links to the mappings of known senders. */
export const mappingField: Field<string, Mapping | null> = nullable({
  ...textAreaField({ label: "Mapping" }),
  // Text that is not JSON is rejected by the service.
  toBody: (typed) => (parseJson(typed) ?? typed) as Mapping,
  fromStored: (mapping) => JSON.stringify(mapping, null, 2),
  showError: ({ pointer, detail }) => {
    const part = pointer.split("/mapping/")[1]?.replaceAll("/", " → ");
    return { detail: part === undefined ? detail : `${part} ${detail}.` };
  },
  Input: ({ name, value, errors }) => (
    <>
      <TextArea
        label="Mapping"
        name={name}
        value={value}
        rows={6}
        hint="JSON, for another sender only: places of fingerprint, status and labels in its bodies."
        error={errors[name]}
        isPasted
      />
      <p class="hint">
        Fill in the mapping of{" "}
        {Object.entries(ALERT_PRESETS).map(([preset, { label }], index) => (
          <Fragment key={preset}>
            {index === 0 ? null : ", "}
            <a href={withQuery(NEW_MONITOR_PATH, { type: "alert", preset })}>{label}</a>
          </Fragment>
        ))}
        . What was typed in this form is lost.
      </p>
    </>
  ),
});

/** Time after which an alert of these senders is dropped, in seconds: a week, since they may tell it only once. */
const SELDOM_SECONDS = 604_800;

/** Returns the values of a new monitor's form that a link to it names: a mapping, or an alert that matched nothing. */
export function alertValues({
  preset = "",
  name,
  format,
  match,
}: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const known = Object.hasOwn(ALERT_PRESETS, preset) ? ALERT_PRESETS[preset] : undefined;
  return {
    ...(known && {
      name: known.label,
      [inputOf("format")]: "json",
      [inputOf("mapping")]: JSON.stringify(known.mapping, null, 2),
      [inputOf("stale_after_seconds")]: String(SELDOM_SECONDS),
    }),
    ...(name !== undefined && { name }),
    ...(format !== undefined && { [inputOf("format")]: format }),
    ...(match !== undefined && { [inputOf("match")]: match }),
  };
}

/** Labels that tell services apart, the first of which a new monitor matches. */
const TELLING = ["alertname", "service", "job", "namespace", "monitor", "endpoint"];
const MATCHERS_OFFERED = 3;

/** Returns matchers for alerts like one, one a line. */
export function matchersFor(labels: Labels): string {
  return TELLING.filter((name) => labels[name])
    .slice(0, MATCHERS_OFFERED)
    .map((name) => `${name}=${JSON.stringify(labels[name])}`)
    .join("\n");
}
