import fc from "fast-check";
import type { Tx } from "../../src/db/statements";
import { listComponentsOfPage } from "../../src/features/components/store";
import { deleteTemplate, listAllTemplates } from "../../src/features/incident-templates/templates";
import { TEMPLATE_NAME_MAX } from "../../src/features/incident-templates/wire";
import { listAllPages } from "../../src/features/pages/store";
import { UpdateText } from "../../src/features/timeline/updates";
import { CLI_ACTOR } from "../../src/base/actor";
import { IMPACTS, NAMED_STATUSES, OPEN_INCIDENT_STATUSES } from "../../src/base/status";
import { LineText, NameText } from "../../src/base/texts";
import { textOf } from "./arbitrary-text";
import type { TestApp } from "./app";
import { createTemplate, updateTemplate } from "./examined";

/** Fields of an incident template; its page is selected by the action. */
export const arbitraryTemplate = fc.record({
  name: textOf(LineText({ minLength: 1, maxLength: TEMPLATE_NAME_MAX }), 12),
  title: textOf(NameText, 12),
  body: textOf(UpdateText, 60),
  status: fc.constantFrom(...OPEN_INCIDENT_STATUSES),
  impact_override: fc.constantFrom(null, ...IMPACTS),
  isForAllPages: fc.boolean(),
  /** Statuses of the first components of the page. */
  statuses: fc.array(fc.constantFrom(...NAMED_STATUSES), { maxLength: 3 }),
});

interface TemplateAct {
  what: string;
  which: number;
  word: string;
  templateFields: typeof arbitraryTemplate extends fc.Arbitrary<infer T> ? T : never;
}

/** Adds, changes or deletes a template. */
export function performOnTemplate({ ctx }: TestApp, tx: Tx, act: TemplateAct): void {
  const { what, which, word } = act;
  const { isForAllPages, statuses, ...fields } = act.templateFields;
  const pages = listAllPages(tx, {});
  const page = isForAllPages ? undefined : pages[which % pages.length];
  const ids = page ? listComponentsOfPage(tx, { pageId: page.id }).map(({ id }) => id) : [];
  const components = Object.fromEntries(
    statuses.slice(0, ids.length).map((status, index) => [ids[index] ?? "", status]),
  );
  const input = { ...fields, page: page?.id ?? null, components };
  if (what === "add template") {
    createTemplate(ctx, tx, input, CLI_ACTOR);
    return;
  }
  const templates = listAllTemplates(tx);
  const row = templates[which % templates.length]?.row;
  if (!row) return;
  if (what === "edit template") updateTemplate(ctx, tx, row.id, input, CLI_ACTOR, { ref: word });
  if (what === "delete template") deleteTemplate(ctx, tx, row.id, CLI_ACTOR);
}
