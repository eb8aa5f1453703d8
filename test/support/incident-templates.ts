import { deleteTemplate } from "../../src/features/incident-templates/templates";
import {
  type IncidentTemplate,
  presentTemplate,
  type TemplateInput,
} from "../../src/features/incident-templates/wire";
import { CLI_ACTOR } from "../../src/base/actor";
import type { ApplyMetadata } from "../../src/base/ids";
import type { TestApp } from "./app";
import { createTemplate, updateTemplate } from "./examined";

/** Valid fields of an incident template for all pages. */
export const TEMPLATE = {
  name: "Database down",
  title: "Orders cannot be placed",
  body: "We are looking into it.",
} as const satisfies TemplateInput;

/** Creates an incident template with the fields of `TEMPLATE` and the given ones. */
export function addTemplate(
  { ctx }: TestApp,
  fields: Partial<TemplateInput> = {},
  metadata: ApplyMetadata = {},
): Promise<IncidentTemplate> {
  const input = { ...TEMPLATE, ...fields };
  return ctx.db.write((tx) => presentTemplate(createTemplate(ctx, tx, input, CLI_ACTOR, metadata)));
}

export function changeTemplate(
  { ctx }: TestApp,
  id: string,
  fields: Partial<TemplateInput>,
  metadata: Pick<ApplyMetadata, "ref"> = {},
): Promise<IncidentTemplate> {
  return ctx.db.write((tx) =>
    presentTemplate(updateTemplate(ctx, tx, id, fields, CLI_ACTOR, metadata)),
  );
}

export function removeTemplate({ ctx }: TestApp, id: string): Promise<void> {
  return ctx.db.write((tx) => deleteTemplate(ctx, tx, id, CLI_ACTOR));
}
