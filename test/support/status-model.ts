import fc from "fast-check";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  INCIDENT_STATUSES,
  type IncidentStatus,
  worstStatus,
} from "../../src/base/status";

/** Statuses by component. */
type Causes = Partial<Record<string, ComponentStatus>>;

/** An action, some hours after the one before. */
export interface Step {
  what: "open" | "update" | "manual" | "maintenance";
  /** Index of the incident, modulo their number. */
  which: number;
  status: IncidentStatus;
  causes: Causes;
  afterHours: number;
}

export function stepsOn(components: readonly string[]): fc.Arbitrary<Step[]> {
  const causes = fc.dictionary(
    fc.constantFrom(...components),
    fc.constantFrom(...COMPONENT_STATUSES),
  );
  const step = fc.record({
    what: fc.constantFrom("open", "update", "update", "manual", "maintenance"),
    which: fc.nat(3),
    status: fc.constantFrom(...INCIDENT_STATUSES),
    causes,
    afterHours: fc.integer({ min: 1, max: 5 }),
  }) as fc.Arbitrary<Step>;
  return fc.array(step, { minLength: 1, maxLength: 20 });
}

/**
 * Model that computes the expected statuses of components after some steps, in the simplest way.
 */
export class StatusModel {
  readonly #baseline: Causes = {};
  readonly #incidents: { causes: Causes; held: Causes; isResolved: boolean }[] = [];
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
      const statuses = [this.#baseline[component]];
      for (const { causes } of this.#incidents) statuses.push(causes[component]);
      if (this.#isUnderMaintenance) statuses.push("under_maintenance");
      return worstStatus(statuses.filter((status) => status !== undefined));
    });
  }

  take({ what, which, status, causes }: Step): void {
    if (what === "manual") Object.assign(this.#baseline, causes);
    if (what === "maintenance") this.#isUnderMaintenance = !this.#isUnderMaintenance;
    if (what === "open") {
      const isResolved = status === "resolved";
      this.#incidents.push({ causes: isResolved ? {} : { ...causes }, held: causes, isResolved });
    }
    if (what === "update") this.#update(which, status, causes);
  }

  #update(which: number, status: IncidentStatus, named: Causes): void {
    const incident = this.#incidents[which % this.#incidents.length];
    if (!incident) return;
    const isResolving = status === "resolved";
    if (isResolving) {
      if (!incident.isResolved) incident.held = incident.causes;
      incident.causes = {};
      Object.assign(this.#baseline, named);
    } else if (incident.isResolved) {
      incident.causes = Object.keys(named).length > 0 ? { ...named } : { ...incident.held };
    } else {
      Object.assign(incident.causes, named);
    }
    incident.isResolved = isResolving;
  }
}
