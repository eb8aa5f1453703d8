import { Problem } from "../../errors";
import type { AddMaintenanceUpdateBody } from "../../features/maintenance";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS } from "../field-errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";
import type { UpdateValues } from "./update-form";

/** The update that a form asks for. All of it is for the service to judge. */
export function toUpdate(values: UpdateValues): AddMaintenanceUpdateBody {
  const { status, displayAt } = values;
  return {
    body: values.body.trim(),
    notify: values.isNotifying,
    ...(status === "" ? {} : { status: status as NonNullable<AddMaintenanceUpdateBody["status"]> }),
    ...(displayAt === "" ? {} : { display_at: parseDateTimeInput(displayAt) ?? displayAt }),
  };
}

/** Why an update comes back to its form. */
export interface UpdateRejection {
  status: 409 | 422;
  complaints: Complaints;
  /** Why all of it was refused, where that is not about a field: it went on meanwhile. */
  rejection: string | undefined;
}

/** A refusal after which what was written is shown again. Anything else is thrown on. */
export function updateRejectionOrThrow(error: unknown, values: UpdateValues): UpdateRejection {
  if (error instanceof Problem && error.code === "conflict") {
    return { status: 409, complaints: NO_COMPLAINTS, rejection: error.message };
  }
  const complaints: Record<string, string> = { ...complaintsOrThrow(error) };
  if (complaints["display_at"] && parseDateTimeInput(values.displayAt) === undefined) {
    complaints["display_at"] = DATE_TIME_ERROR;
  }
  return { status: 422, complaints, rejection: undefined };
}
