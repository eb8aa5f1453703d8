import { Problem } from "../../errors";
import type { AddMaintenanceUpdateBody } from "../../features/maintenance";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS } from "../field-errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";
import type { UpdateValues } from "./update-form";

/** Converts form values to a new update. The service validates them. */
export function toUpdate(values: UpdateValues): AddMaintenanceUpdateBody {
  const { status, displayAt } = values;
  return {
    body: values.body.trim(),
    notify: values.isNotifying,
    ...(status === "" ? {} : { status: status as NonNullable<AddMaintenanceUpdateBody["status"]> }),
    ...(displayAt === "" ? {} : { display_at: parseDateTimeInput(displayAt) ?? displayAt }),
  };
}

/** Reason for which an update was rejected. */
export interface UpdateRejection {
  status: 409 | 422;
  complaints: Complaints;
  /** Message if the maintenance changed status meanwhile; undefined if fields are wrong. */
  rejection: string | undefined;
}

/** Returns the rejection of an update. Any other error is rethrown. */
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
