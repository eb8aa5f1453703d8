import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import type { Actor } from "../base/actor";
import type { ComponentStatus } from "../base/status";
import type { AddUpdateBody, CreateIncidentBody, IncidentSource } from "../features/incidents/wire";
import { addUpdate, putPostmortem } from "../features/incidents/changes";
import { createIncident } from "../features/incidents/incidents";
import type { DemoPage } from "./pages";

/** An action in the history of demo data. */
export interface Entry {
  /** Time before the present, in milliseconds. */
  ago: number;
  act(tx: Tx): void;
}

type IncidentUpdate = Omit<AddUpdateBody, "components"> & {
  by: Actor;
  /** Time after the incident's start, in milliseconds. */
  after: number;
  /** Component statuses by component name. */
  components?: Readonly<Record<string, ComponentStatus>>;
};

/** An incident from its beginning to its end. */
export interface DemoIncident {
  page: DemoPage;
  name: string;
  /** Time since its start, in ms. */
  ago: number;
  source?: IncidentSource;
  /** Other fields of the incident. */
  more?: Partial<CreateIncidentBody>;
  /** The updates; the first one is its report. */
  updates: readonly [IncidentUpdate, ...IncidentUpdate[]];
  postmortem?: { by: Actor; after: number; body: string; publish: boolean };
}

/** Returns the actions of an incident with their times. */
export function incidentEntries({ ctx }: { ctx: Ctx }, incident: DemoIncident): readonly Entry[] {
  const { page, name, ago, more, source = "dashboard", postmortem } = incident;
  const [first, ...later] = incident.updates;
  let id = "";
  const report: Entry = {
    ago: ago - first.after,
    act(tx) {
      const input = {
        page: page.row.id,
        name,
        body: first.body,
        components: namesToIds(page, first),
        started_at: new Date(ctx.clock.now() - first.after).toISOString(),
        ...more,
      };
      id = createIncident(ctx, tx, input, source, first.by).row.id;
    },
  };
  const updates = later.map((update): Entry => {
    const { by, after, components, ...input } = update;
    const named = components ? { components: namesToIds(page, update) } : {};
    return {
      ago: ago - after,
      act: (tx) => void addUpdate(ctx, tx, id, { ...input, ...named }, by),
    };
  });
  if (postmortem) {
    const { by, after, ...input } = postmortem;
    updates.push({ ago: ago - after, act: (tx) => void putPostmortem(ctx, tx, id, input, by) });
  }
  return [report, ...updates];
}

function namesToIds(page: DemoPage, { components = {} }: IncidentUpdate) {
  return Object.fromEntries(
    Object.entries(components).map(([name, status]) => [page.component(name), status]),
  );
}
