/*
 * Verbs as tests call them: with a body that no route or form has examined. Each examines it first, as their callers
 * in the program do.
 */
import type { TSchema } from "@sinclair/typebox";
import type { Actor } from "../../src/base/actor";
import { type Valid, validate } from "../../src/base/validation";
import type { Ctx } from "../../src/context";
import type { Tx } from "../../src/db/statements";
import * as components from "../../src/features/components/components";
import {
  ComponentInput,
  GroupInput,
  PartialComponentInput,
  PartialGroupInput,
} from "../../src/features/components/wire";
import { PartialTemplateInput, TemplateInput } from "../../src/features/incident-templates/wire";
import {
  AddUpdateBody,
  CreateIncidentBody,
  ImportIncidentBody,
  SplitOffBody,
  UpdateIncidentBody,
} from "../../src/features/incidents/wire";
import { type CreateKeyBody, UpdateKeyBody } from "../../src/features/keys/wire";
import {
  CreateScheduleBody,
  UpdateScheduleBody,
} from "../../src/features/maintenance/schedules/wire";
import {
  AddMaintenanceUpdateBody,
  PlanMaintenanceBody,
  UpdateMaintenanceBody,
} from "../../src/features/maintenance/wire";
import { CreateMonitorBody, UpdateMonitorBody } from "../../src/features/monitors/wire";
import type { PageRow } from "../../src/features/pages/store";
import * as templates from "../../src/features/incident-templates/templates";
import * as automatic from "../../src/features/incidents/automatic";
import * as imports from "../../src/features/incidents/import";
import * as incidents from "../../src/features/incidents/incidents";
import * as keys from "../../src/features/keys/keys";
import * as maintenance from "../../src/features/maintenance/maintenance";
import * as schedules from "../../src/features/maintenance/schedules/schedules";
import * as imported from "../../src/features/monitors/imported";
import * as monitors from "../../src/features/monitors/monitors";
import * as pages from "../../src/features/pages/pages";
import { PageInput, PartialPageInput } from "../../src/features/pages/wire";
import * as webhooks from "../../src/features/webhooks/webhooks";
import { CreateWebhookBody, UpdateWebhookBody } from "../../src/features/webhooks/wire";

export const updateKey = change(UpdateKeyBody, keys.updateKey);
export const createGroup = part(GroupInput, components.createGroup);
export const updateGroup = change(PartialGroupInput, components.updateGroup);
export const createComponent = part(ComponentInput, components.createComponent);
export const updateComponent = change(PartialComponentInput, components.updateComponent);
export const createTemplate = creation(TemplateInput, templates.createTemplate);
export const updateTemplate = change(PartialTemplateInput, templates.updateTemplate);
export const createIncident = creation(CreateIncidentBody, incidents.createIncident);
export const updateIncident = change(UpdateIncidentBody, incidents.updateIncident);
export const addUpdate = change(AddUpdateBody, incidents.addUpdate);
export const importIncident = change(ImportIncidentBody, imports.importIncident);
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

/** Creates a key as the form and the command do: with all errors in one answer. */
export function createKey(ctx: Ctx, tx: Tx, body: CreateKeyBody, actor: Actor): keys.RevealedKey {
  return keys.createKey(ctx, tx, keys.validateNewKey(body, ctx.clock.now()), actor);
}

/** Creates a page as forms, files and imports do: with all errors in one answer. */
export function createPage(
  ctx: Ctx,
  tx: Tx,
  body: PageInput,
  actor: Actor,
  metadata?: Parameters<typeof pages.createPage>[4],
): PageRow {
  const valid = validate(PageInput, body, pages.addPageErrors);
  return pages.createPage(ctx, tx, valid, actor, metadata);
}

/** Changes a page, as `createPage`. */
export function updatePage(
  ctx: Ctx,
  tx: Tx,
  id: string,
  body: PartialPageInput,
  actor: Actor,
): PageRow {
  const valid = validate(PartialPageInput, body, pages.addPageErrors);
  return pages.updatePage(ctx, tx, id, valid, actor);
}

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

function part<Body, Rest extends unknown[], Result>(
  schema: TSchema,
  verb: (ctx: Ctx, tx: Tx, page: PageRow, body: Valid<Body>, ...rest: Rest) => Result,
) {
  return (ctx: Ctx, tx: Tx, page: PageRow, body: Body, ...rest: Rest): Result =>
    verb(ctx, tx, page, validate(schema, body) as Valid<Body>, ...rest);
}
