import { describe, expect, test } from "bun:test";
import { parseStoreAddress } from "../../src/base/store-address";

describe("the address of a store", () => {
  test("a bucket has a path, a region and an endpoint", () => {
    expect(
      parseStoreAddress("s3://Backups/all%20clear/eu/?endpoint=http://127.0.0.1:9000/&region=auto"),
    ).toEqual({
      kind: "s3",
      bucket: "Backups",
      path: "all clear/eu",
      region: "auto",
      endpoint: "http://127.0.0.1:9000",
    });
    expect(parseStoreAddress("s3://b.example.com")).toEqual({
      kind: "s3",
      bucket: "b.example.com",
      path: "",
      region: "us-east-1",
      endpoint: undefined,
    });
  });

  test("a folder has an absolute path", () => {
    expect(parseStoreAddress("file:///var/back%20ups/")).toEqual({
      kind: "folder",
      path: "/var/back ups",
    });
  });

  test.each([
    ["", "must be s3://bucket/path?endpoint=…&region=… or file:///path"],
    ["/var/backups", "must be s3://bucket/path?endpoint=…&region=… or file:///path"],
    ["https://example.com", "must begin with s3:// or file://"],
    ["s3://", "must name a bucket after s3://"],
    ["s3:///path", "must name a bucket after s3://"],
    ["s3://b", "must name a bucket after s3://"],
    ["s3://bucket:9000/path", "must name a bucket after s3://"],
    [
      "s3://key:s3cret@bucket/path",
      "must not contain credentials, which have options of their own",
    ],
    ["s3://bucket/path#x", "must not contain #"],
    ["s3://bucket/a//b", "has a path that has an empty segment or one of dots"],
    ["s3://bucket/a\\b", "has a path that has a control character or a backslash"],
    ["s3://bucket/%ff", "has a % that begins no character"],
    ["s3://bucket?key=s3cret", "can have only endpoint and region after the question mark"],
    ["s3://bucket?region=a&region=b", "has more than one region"],
    ["s3://bucket?region=a/b", "must have a region such as eu-central-1"],
    ["s3://bucket?region=", "must have a region such as eu-central-1"],
    ...["127.0.0.1:9000", "ftp://x", "https://x/path", "https://u:p@x", "https://x?a", ""].map(
      (endpoint) => [
        `s3://bucket?endpoint=${endpoint}`,
        "must have an endpoint such as https://storage.example.com",
      ],
    ),
    ["file://host/path", "must have three slashes: file:///path"],
    ["file:///", "must be the path of a folder, such as file:///var/backups"],
    ["file:///a%2Fb", "must be a path such as file:///var/backups"],
    ["file:///a%00b", "must be the path of a folder, such as file:///var/backups"],
    ["file:///a?b", "must not contain ?"],
  ])("%p is refused: it %s", (address, message) => {
    expect(() => parseStoreAddress(address)).toThrow(new Error(message));
  });
});
