import fc from "fast-check";
import {
  type ComponentStatus,
  COMPONENT_STATUSES,
  worstStatus,
} from "../../src/kernel/component-status";
import { INCIDENT_STATUSES, type IncidentStatus } from "../../src/kernel/incident-status";

/** Statuses by component. */
export type Marks = Partial<Record<string, ComponentStatus>>;

/** Something that somebody does, some hours after the step before. */
export interface Step {
  what: "open" | "update" | "manual" | "maintenance";
  /** Which of the incidents, counted round and round. */
  which: number;
  status: IncidentStatus;
  marks: Marks;
  afterHours: number;
}

export function stepsOn(components: readonly string[]): fc.Arbitrary<Step[]> {
  const marks = fc.dictionary(
    fc.constantFrom(...components),
    fc.constantFrom(...COMPONENT_STATUSES),
  );
  const step = fc.record({
    what: fc.constantFrom("open", "update", "update", "manual", "maintenance"),
    which: fc.nat(3),
    status: fc.constantFrom(...INCIDENT_STATUSES),
    marks,
    afterHours: fc.integer({ min: 1, max: 5 }),
  }) as fc.Arbitrary<Step>;
  return fc.array(step, { minLength: 1, maxLength: 20 });
}

/** What components must show after some steps, reckoned in the plainest way. */
export class StatusModel {
  readonly #baseline: Marks = {};
  readonly #incidents: { marks: Marks; held: Marks; isResolved: boolean }[] = [];
  #isUnderMaintenance = false;

  constructor(readonly components: readonly string[]) {}

  get isUnderMaintenance(): boolean {
    return this.#isUnderMaintenance;
  }

  get incidentCount(): number {
    return this.#incidents.length;
  }

  statuses(): ComponentStatus[] {
    return this.components.map((component) => {
      const causes = [this.#baseline[component]];
      for (const { marks } of this.#incidents) causes.push(marks[component]);
      if (this.#isUnderMaintenance) causes.push("under_maintenance");
      return worstStatus(causes.filter((status) => status !== undefined));
    });
  }

  take({ what, which, status, marks }: Step): void {
    if (what === "manual") Object.assign(this.#baseline, marks);
    if (what === "maintenance") this.#isUnderMaintenance = !this.#isUnderMaintenance;
    if (what === "open") {
      const isResolved = status === "resolved";
      this.#incidents.push({ marks: isResolved ? {} : { ...marks }, held: marks, isResolved });
    }
    if (what === "update") this.#update(which, status, marks);
  }

  #update(which: number, status: IncidentStatus, named: Marks): void {
    const incident = this.#incidents[which % this.#incidents.length];
    if (!incident) return;
    const isResolving = status === "resolved";
    if (isResolving) {
      if (!incident.isResolved) incident.held = incident.marks;
      incident.marks = {};
      Object.assign(this.#baseline, named);
    } else if (incident.isResolved) {
      incident.marks = Object.keys(named).length > 0 ? { ...named } : { ...incident.held };
    } else {
      Object.assign(incident.marks, named);
    }
    incident.isResolved = isResolving;
  }
}
