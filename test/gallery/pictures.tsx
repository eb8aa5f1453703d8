import { Actions, FileField, Form, TextField } from "../../src/ui/form";
import { Button } from "../../src/ui/buttons";
import { Logo, Swatch } from "../../src/ui/pictures";
import { Section } from "../../src/ui/blocks";

/** Files, colours and logos. `icon` is the path of a picture. */
export function GalleryPictures({ path, icon }: { path: string; icon: string }) {
  return (
    <Section title="Pictures">
      <Form action={path} sendsFiles>
        <Logo src={icon} alt="Northwind" width={64} height={64} />
        <FileField
          label="Logo"
          name="logo"
          accept={["image/png", "image/jpeg"]}
          maxBytes={131_072}
          hint="PNG or JPEG, at most 128 KiB."
          error="is not a picture in PNG or JPEG"
        />
        <p>
          The accent colour is <Swatch colour="#0b6b53" />.
        </p>
        <TextField
          label="Time zone of the page"
          name="page_zone"
          value="Europe/Berlin"
          suggestions={["UTC", "Europe/Berlin", "Europe/London"]}
        />
        <Actions>
          <Button>Upload logo</Button>
        </Actions>
      </Form>
    </Section>
  );
}
