declare module "html-encoding-sniffer" {
  /** Returns the name of an encoding of the Encoding Standard, or `defaultEncoding`. */
  export default function sniff(
    bytes: Uint8Array,
    options: { xml?: boolean; transportLayerEncodingLabel?: string; defaultEncoding: string },
  ): string;
}
