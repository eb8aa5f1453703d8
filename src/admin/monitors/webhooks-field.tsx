import { CheckboxList } from "../../ui/choices";
import type { Field } from "../../ui/forms/form";

/** Screen data of the field: webhooks that get the events of selected monitors. */
export interface WebhooksContext {
  webhooks: readonly {
    id: string;
    name: string;
    /** Name of the page to which the webhook is limited. */
    pageName: string | undefined;
  }[];
}

/** Ids of the webhooks that are checked in a form, and of those that were when it was shown. */
export interface WebhookSelection {
  checked: readonly string[];
  shown: readonly string[];
}

/** Returns the webhooks that the user of a form checked, and those that were unchecked. */
export function changesOf({ checked, shown }: WebhookSelection) {
  return {
    added: checked.filter((id) => !shown.includes(id)),
    removed: shown.filter((id) => !checked.includes(id)),
  };
}

/**
 * Field for the webhooks that get the events of this monitor; hidden without any for selected monitors. Hidden
 * inputs hold those that were checked, so that changes by others in the meantime are kept.
 */
export function webhooksField(): Field<WebhookSelection, WebhookSelection, WebhooksContext> {
  const label = "Webhooks";
  const shownInput = (name: string) => `${name}_shown`;
  return {
    label,
    initial: { checked: [], shown: [] },
    read: (sent, name) => ({ checked: sent.all(name), shown: sent.all(shownInput(name)) }),
    // Sorted, so that a form with the same webhooks changes nothing.
    toBody: ({ checked, shown }) => ({ checked: checked.toSorted(), shown: shown.toSorted() }),
    fromStored: (selection) => selection,
    Input({ name, value: { checked, shown }, errors, context: { webhooks } }) {
      if (webhooks.length === 0 && errors[name] === undefined) return null;
      return (
        <>
          <CheckboxList
            legend={label}
            name={name}
            hint="Webhooks for selected monitors that get the events of this one. Those for all monitors are not listed."
            error={errors[name]}
            options={webhooks.map((webhook) => ({
              value: webhook.id,
              label: webhook.name,
              ...(webhook.pageName !== undefined && {
                hint: `Only while all components of the monitor are on the page ${webhook.pageName}.`,
              }),
              isChecked: checked.includes(webhook.id),
            }))}
          />
          {shown.map((id) => (
            <input key={id} type="hidden" name={shownInput(name)} value={id} />
          ))}
        </>
      );
    },
  };
}
