import { Checkbox, Fold, Form, Section, TextArea } from "../../ui";

/** What people write at length, and what is one click away. */
export function DesignWriting({ path }: { path: string }) {
  return (
    <Section title="Writing">
      <Form action={path}>
        <TextArea
          label="Message"
          name="message"
          value="It is the **disk**."
          hint="What people should know now. Markdown."
        />
        <TextArea label="Reason" name="reason" error="is empty" />
        <Checkbox
          label="Notify people"
          name="notify_people"
          hint="By whatever they have subscribed with."
          isChecked
        />
        <Checkbox label="I know" name="known" isChecked={false} error="is needed" />
        <Fold title="More">
          <TextArea label="Notes" name="notes" rows={2} />
        </Fold>
        <Fold title="What is wrong stands in sight" isOpen>
          <TextArea label="Post-mortem" name="long_text" value="" isLong />
        </Fold>
      </Form>
    </Section>
  );
}
