import {
  Card,
  CodeBlock,
  Columns,
  Secret,
  Section,
  SideBySide,
  TestKey,
} from "../../src/ui/blocks";

// An invented value with the length of a key.
const VALUE = "allclear_9fQ2mZk3v7Yt0aB5LxR8wPq1NsD6uHc4GjEoVbT2iKf0W1a2B";

/** Screen that shows a secret once. */
export function GalleryKey() {
  const curl = `curl -H "Authorization: Bearer ${VALUE}" \\\n  https://status.northwind.example/api/v1/key`;
  return (
    <Section title="A key, shown once">
      <Columns
        aside={
          <Card title="What now">
            <p class="muted">
              Put it where the program reads its secrets. It cannot be shown again.
            </p>
          </Card>
        }
      >
        <Card title="Copy the key now">
          <p class="muted">It is shown this once. Only its hash is kept.</p>
          <Secret text={VALUE} copyLabel="Copy key" />
          <CodeBlock text={curl} isSecret />
          <TestKey />
        </Card>
        <CodeBlock text="npx -y bun@1.4.5 start" />
      </Columns>
      <SideBySide>
        <Card title="Request">
          <CodeBlock text={curl} />
        </Card>
        <Card title="Response">
          <CodeBlock text="{}" />
        </Card>
      </SideBySide>
    </Section>
  );
}
