/*
 * Verbs as tests call them: with a body that no route or form has examined. Each examines it first, as their callers
 * in the program do.
 */
import type { TSchema } from "@sinclair/typebox";
import { type Valid, validate } from "../../src/base/validation";
import type { Ctx } from "../../src/context";
import type { Tx } from "../../src/db/statements";
import * as templates from "../../src/features/incident-templates/templates";
import { TemplateChange, TemplateInput } from "../../src/features/incident-templates/wire";
import * as automatic from "../../src/features/incidents/automatic";
import * as incidents from "../../src/features/incidents/incidents";
import {
  AddUpdateBody,
  CreateIncidentBody,
  ImportIncidentBody,
  SplitOffBody,
  UpdateIncidentBody,
} from "../../src/features/incidents/wire";
import * as maintenance from "../../src/features/maintenance/maintenance";
import * as schedules from "../../src/features/maintenance/schedules/schedules";
import {
  CreateScheduleBody,
  UpdateScheduleBody,
} from "../../src/features/maintenance/schedules/wire";
import {
  AddMaintenanceUpdateBody,
  PlanMaintenanceBody,
  UpdateMaintenanceBody,
} from "../../src/features/maintenance/wire";
import * as imported from "../../src/features/monitors/imported";
import * as monitors from "../../src/features/monitors/monitors";
import { CreateMonitorBody, UpdateMonitorBody } from "../../src/features/monitors/wire";
import * as webhooks from "../../src/features/webhooks/webhooks";
import { CreateWebhookBody, UpdateWebhookBody } from "../../src/features/webhooks/wire";

export const createTemplate = creation(TemplateInput, templates.createTemplate);
export const updateTemplate = change(TemplateChange, templates.updateTemplate);
export const createIncident = creation(CreateIncidentBody, incidents.createIncident);
export const updateIncident = change(UpdateIncidentBody, incidents.updateIncident);
export const importIncident = change(ImportIncidentBody, incidents.importIncident);
export const addUpdate = change(AddUpdateBody, incidents.addUpdate);
export const splitOff = change(SplitOffBody, automatic.splitOff);
export const planMaintenance = creation(PlanMaintenanceBody, maintenance.planMaintenance);
export const updateMaintenance = change(UpdateMaintenanceBody, maintenance.updateMaintenance);
export const addMaintenanceUpdate = change(
  AddMaintenanceUpdateBody,
  maintenance.addMaintenanceUpdate,
);
export const createSchedule = creation(CreateScheduleBody, schedules.createSchedule);
export const updateSchedule = change(UpdateScheduleBody, schedules.updateSchedule);
export const createMonitor = creation(CreateMonitorBody, monitors.createMonitor);
export const updateMonitor = change(UpdateMonitorBody, monitors.updateMonitor);
export const createWebhook = creation(CreateWebhookBody, webhooks.createWebhook);
export const updateWebhook = change(UpdateWebhookBody, webhooks.updateWebhook);

/** Creates a monitor as an import does, without its type. */
export function createUnsupportedMonitor(
  ctx: Ctx,
  tx: Tx,
  monitor: imported.UnsupportedMonitor,
  ...rest: Parameters<typeof imported.createUnsupportedMonitor> extends [
    unknown,
    unknown,
    unknown,
    ...infer Rest,
  ]
    ? Rest
    : never
) {
  const body = imported.validateReplacingMonitor({ ...monitor, type: "unsupported" });
  return imported.createUnsupportedMonitor(ctx, tx, body, ...rest);
}

function creation<Body, Rest extends unknown[], Result>(
  schema: TSchema,
  verb: (ctx: Ctx, tx: Tx, body: Valid<Body>, ...rest: Rest) => Result,
) {
  return (ctx: Ctx, tx: Tx, body: Body, ...rest: Rest): Result =>
    verb(ctx, tx, validate(schema, body) as Valid<Body>, ...rest);
}

function change<Body, Rest extends unknown[], Result>(
  schema: TSchema,
  verb: (ctx: Ctx, tx: Tx, id: string, body: Valid<Body>, ...rest: Rest) => Result,
) {
  return (ctx: Ctx, tx: Tx, id: string, body: Body, ...rest: Rest): Result =>
    verb(ctx, tx, id, validate(schema, body) as Valid<Body>, ...rest);
}
