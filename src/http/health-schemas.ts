/* Schemas of the answers of health checks. */
import { Type } from "@sinclair/typebox";
import { Nullable, OneOf } from "../base/schema";
import { STORAGE_FAULTS } from "../db/errors";

export const Health = Type.Object({ status: OneOf(["ok"]) }, { title: "Health" });

export const Ready = Type.Object(
  {
    status: OneOf(["ok"]),
    writable: Type.Boolean({ description: "True if changes can be stored." }),
    reason: Nullable(
      Type.String({
        description: "Reason for which changes cannot be stored, or that the database is damaged.",
        examples: [STORAGE_FAULTS.disk_full],
      }),
    ),
  },
  { title: "Readiness" },
);
