import {
  type AddUpdateBody,
  addUpdate,
  type CreateIncidentBody,
  createIncident,
  type IncidentSource,
  putPostmortem,
} from "../../src/features/incidents";
import type { Actor } from "../../src/domain/actor";
import type { ComponentStatus } from "../../src/domain/component-status";
import type { TestApp } from "./app";
import type { Entry } from "./demo-data-entry";
import type { DemoPage } from "./demo-data-pages";

type StoryUpdate = Omit<AddUpdateBody, "components"> & {
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
  updates: readonly [StoryUpdate, ...StoryUpdate[]];
  postmortem?: { by: Actor; after: number; body: string; publish: boolean };
}

/** Returns the actions of a story with their times. */
export function incidentEntries({ ctx }: TestApp, incident: DemoIncident): Entry[] {
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

function namesToIds(page: DemoPage, { components = {} }: StoryUpdate) {
  return Object.fromEntries(
    Object.entries(components).map(([name, status]) => [page.component(name), status]),
  );
}
