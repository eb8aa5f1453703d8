import { type FieldError, Problem } from "../../errors";
import type { MonitorType } from "../../domain/monitor-state";
import type { Complaints } from "../field-errors";
import { formName } from "./config-fields";
import { TYPE_FORMS } from "./types";

/** Assigns the errors of a refusal to the form's fields. Any other error is rethrown. */
export function monitorComplaintsOrThrow(error: unknown, type: MonitorType): Complaints {
  if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
  const complaints: Record<string, string> = {};
  for (const field of error.fields) {
    const [name, detail] = tell(field, type);
    // The first complaint about a field is the one to act on.
    complaints[name] ??= detail;
  }
  return complaints;
}

function tell({ pointer, detail }: FieldError, type: MonitorType): [name: string, detail: string] {
  const [field = "", ...steps] = pointer.split("/").slice(1).map(unescaped);
  if (field === "component_ids") {
    return [field, steps.length > 0 ? "Choose components that are still there." : detail];
  }
  return field === "config" ? tellOfConfig(steps, detail, type) : [field, detail];
}

const ROW_PARTS: Readonly<Record<string, string>> = {
  source: "what is looked at",
  property: "the name or path",
  op: "the comparison",
  value: "the value",
};

function tellOfConfig(
  [field, key, part]: readonly string[],
  detail: string,
  type: MonitorType,
): [name: string, detail: string] {
  // About all of it: said of what comes first.
  if (field === undefined) return [formName(TYPE_FORMS[type].fields[0]?.name ?? ""), detail];
  const name = formName(field);
  if (field === "assertions" && key !== undefined) {
    const what = part === undefined ? "" : `${ROW_PARTS[part] ?? part} `;
    return [name, `Condition ${Number(key) + 1}: ${what}${detail}.`];
  }
  if (field === "headers" && key !== undefined) return [name, `“${key}” ${detail}.`];
  if (detail.startsWith("is a secret")) {
    return [
      name,
      field === "headers"
        ? "Their values were given for another server. Type them again, or remove them."
        : "This value was given for another server. Type it again, or remove it.",
    ];
  }
  return [name, detail];
}

/** Unescapes a step of a JSON pointer. */
function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}
