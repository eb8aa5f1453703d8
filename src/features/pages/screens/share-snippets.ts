/** Name and public address of a page. */
interface SharedPage {
  name: string;
  url: string;
}

/** Returns the HTML of a frame. */
export function frame({ name, url }: SharedPage): string {
  const title = escapeHtml(`Status of ${name}`);
  return `<iframe src="${url}/embed" title="${title}" width="360" height="240" loading="lazy" style="border: 0"></iframe>`;
}

/** Returns the script element of the widget. */
export function widget(url: string, style: "pill" | "corner" | "banner"): string {
  return `<script async src="${url}/widget.js" data-style="${style}"></script>`;
}

export function badgeMarkdown({ name, url }: SharedPage): string {
  const text = `Status of ${name}`.replace(/[\\[\]]/g, "\\$&");
  return `[![${text}](${url}/badge.svg)](${url})`;
}

export function badgeHtml({ name, url }: SharedPage): string {
  return `<a href="${url}"><img src="${url}/badge.svg" alt="${escapeHtml(`Status of ${name}`)}"></a>`;
}

/** Returns a service of Homepage, as YAML. */
export function homepage({ name, url }: SharedPage): string {
  return `- ${quoted(name)}:
    href: ${url}
    widget:
      type: customapi
      url: ${url}/summary.json
      refreshInterval: 60000
      mappings:
        - field: description
          label: Status
        - field: down
          label: Down
        - field: open_incidents
          label: Incidents`;
}

/** Returns the addresses for Uptime Kuma's clients, one per line. `url` is that of the page. */
export function kumaAddresses({ url, slug }: { url: string; slug: string }): string {
  const { origin } = new URL(url);
  return `url: ${origin}
slug: ${slug}

${origin}/api/status-page/${slug}
${origin}/api/status-page/heartbeat/${slug}
${origin}/api/status-page/${slug}/badge`;
}

/** Returns the address for Gatus' clients, and that of its list. `url` is that of the page. */
export function gatusAddresses({ url, slug }: { url: string; slug: string }): string {
  const base = `${new URL(url).origin}/compat/gatus/${slug}`;
  return `url: ${base}

${base}/api/v1/endpoints/statuses`;
}

/** Returns a sensor of Home Assistant, as YAML. */
export function homeAssistant({ name, url }: SharedPage): string {
  return `rest:
  - resource: ${url}/summary.json
    scan_interval: 60
    sensor:
      - name: ${quoted(`${withoutTemplate(name)} status`)}
        value_template: "{{ value_json.description }}"
        json_attributes:
          - up
          - down
          - open_incidents`;
}

/** Returns a template of Home Assistant that is the text: `{{`, `{%` and `{#` begin no expression. */
function withoutTemplate(text: string): string {
  return text.replace(/\{(?=[{%#])/g, "{{ '{' }}");
}

/** Returns a text as a YAML string. JSON strings are valid YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
