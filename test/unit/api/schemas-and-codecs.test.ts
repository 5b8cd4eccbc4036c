import addFormats from "ajv-formats";
import Ajv2020 from "ajv/dist/2020";
import type { ValidateFunction } from "ajv/dist/2020";
import { expect } from "chai";
import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type * as t from "io-ts";
import { allRoutes } from "../../../src/api/create-api";
import { componentName, componentSchemas } from "../../../src/api/openapi/components";
import { jsonSchemaOf } from "../../../src/api/openapi/json-schema";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { type LeafSchema, shapeOf } from "../../../src/domain/codec";
import { withoutNulls } from "../../../src/domain/decode";
import { CanonicalTaskStatus, TaskStatus } from "../../../src/domain/spec/task";
import { AcknowledgementSpec } from "../../../src/domain/spec/finding";
import {
  ApprovalSpec,
  partThatCounts,
  RejectionSpec,
  RetrySpec,
  SkipSpec,
  UpgradeUpdateSpec,
} from "../../../src/domain/spec/upgrade-spec";
import { unknownFields } from "../../../src/domain/unknown-fields";
import { fakeService } from "./api-under-test";

const ajv = new Ajv2020();
addFormats(ajv);
ajv.addFormat("password", true);
ajv.addVocabulary(["components"]);
ajv.addSchema({ $id: "document", components: { schemas: componentSchemas() } });

function validatorOf(codec: t.Mixed): ValidateFunction {
  const schema = JSON.stringify(jsonSchemaOf(codec, componentName)).replaceAll(
    '"#/components',
    '"document#/components',
  );
  return ajv.compile(JSON.parse(schema) as object);
}

const decodes = (codec: t.Mixed, value: unknown): boolean => codec.decode(value)._tag === "Right";

const digits = (width: number, max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(width, "0"));

/** RFC 3339 times, which the document tells of, and what is close to one. What is taken beside them timestamp.test.ts has. */
const nearlyTimes = fc
  .tuple(
    fc.oneof(digits(4, 9999), fc.constantFrom("0000", "9999")),
    fc.oneof(digits(2, 13), fc.constantFrom("01", "12")),
    fc.oneof(digits(2, 32), fc.constantFrom("01", "31")),
    fc.constantFrom("T", "T", "t"),
    digits(2, 24),
    digits(2, 60),
    digits(2, 60),
    fc.constantFrom("", "", ".5", ".123456789", ".1234567890", "."),
    fc.oneof(fc.constantFrom("Z", "z", "", "+00:00", "-00:00", "+24:00"), fc.constantFrom("+01:00")),
  )
  .map(([year, month, day, separator, hour, minute, second, fraction, offset]) =>
    [year, "-", month, "-", day, separator, hour, ":", minute, ":", second, fraction, offset].join(""),
  );

/** Texts inside, at and beyond the bounds of a schema, of any characters: also those of two UTF-16 units. */
function texts({ minLength = 0, maxLength = 20, format }: LeafSchema): Arbitrary<unknown> {
  const units = [fc.constantFrom("a", "\u{1f600}"), fc.constantFrom("\u0000", "\u001f", "\u007f", "\u0080", "\n")];
  const ofLength = (length: number) =>
    fc.string({ unit: units[0]!, minLength: Math.max(0, length), maxLength: Math.max(0, length) });
  return fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.string({ unit: fc.oneof(...units), maxLength: 4 }),
    fc.constantFrom(minLength - 1, minLength, maxLength, maxLength + 1).chain(ofLength),
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
    fc.uuid().map((id) => `${id}-prechecks-1`),
    ...(format === "date-time" ? [nearlyTimes, nearlyTimes, fc.date({ noInvalidDate: true }).map(toText)] : []),
  );
}

const toText = (date: Date) => date.toISOString();

/** A text that is right where nothing but lengths and format is asked for. */
function plainTexts({ format, pattern }: LeafSchema): Arbitrary<unknown> {
  if (pattern !== undefined && !pattern.includes("\\")) return fc.stringMatching(new RegExp(pattern));
  if (format === "date-time")
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map(toText);
  return format === "uuid" ? fc.uuid() : fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 8 });
}

/** Values of a codec's shape; each part is wrong, or at a bound, once in so many `odds`. */
function nearly(codec: t.Mixed, odds: number): Arbitrary<unknown> {
  const shape = shapeOf(codec);
  const wrong = fc.constantFrom(null, "", "x", 0, 1.5, true, [], {});
  const mostly = (right: Arbitrary<unknown>, other: Arbitrary<unknown> = wrong) =>
    fc.oneof({ weight: 2 * odds, arbitrary: right }, wrong, other);
  switch (shape.kind) {
    case "object": {
      const entries = (props: t.Props) => Object.entries(props).map(([key, of]) => [key, nearly(of, odds)] as const);
      const fields = Object.fromEntries([...entries(shape.required), ...entries(shape.optional), ["x", fc.anything()]]);
      return mostly(
        fc.record(fields, { requiredKeys: Object.keys(shape.required) }),
        fc.record(fields, { requiredKeys: [] }),
      );
    }
    case "list":
      return mostly(fc.array(nearly(shape.element, odds), { maxLength: 3 }));
    case "spellings":
      return mostly(fc.constantFrom(...shape.spellings), fc.constant(shape.spellings[0]!.toLowerCase()));
    case "described": {
      const { schema } = shape.codec;
      if (schema.type === "array") return mostly(...lists(schema, odds));
      if (schema.type === "object") return mostly(fc.oneof(...textsByName(schema)));
      const leaves = (schema.oneOf ?? [schema]).map(plainLeaf);
      return mostly(fc.oneof(...leaves.map(([right]) => right)), fc.oneof(...leaves.map(([, other]) => other)));
    }
    case "boolean":
      return mostly(fc.boolean());
    case "integer":
    case "number":
      return mostly(fc.double({ noNaN: true, noDefaultInfinity: true }));
    default:
      return mostly(fc.string());
  }
}

/** Right values of a text or a number, and what is close to them. */
function plainLeaf(schema: LeafSchema): readonly [Arbitrary<unknown>, Arbitrary<unknown>] {
  if (schema.type === "string") return [plainTexts(schema), texts(schema)];
  const { minimum = 0, maximum = 2 ** 31 } = schema;
  return [fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }), aroundBounds(schema)];
}

/** A few texts with right names, more of them than fit, and some of which names and texts may be wrong. */
function textsByName({ maxProperties = 0, propertyNames, additionalProperties }: LeafSchema) {
  const name = plainTexts(propertyNames!).map(String);
  const value = plainTexts(additionalProperties!);
  const noNullPrototype = true;
  return [
    fc.dictionary(name, value, { maxKeys: 2, noNullPrototype }),
    fc.dictionary(name, value, { minKeys: maxProperties, maxKeys: maxProperties + 1, noNullPrototype }),
    fc.dictionary(fc.oneof(name, fc.string()), fc.oneof(value, texts(additionalProperties!)), {
      maxKeys: 2,
      noNullPrototype,
    }),
  ] as const;
}

/** Short lists, and lists of one element again and again about the bounds of their length. */
function lists({ minItems = 0, maxItems = 1000, items }: LeafSchema, odds: number) {
  const element = nearly(items!, odds);
  const lengths = fc.constantFrom(minItems, maxItems, maxItems + 1);
  return [
    fc.array(element, { minLength: minItems, maxLength: minItems + 2 }),
    fc.tuple(element, lengths).map(([one, length]) => Array<unknown>(length).fill(one)),
  ] as const;
}

/** How many parts a value has about, so that of small and large models about as many are right. */
function leavesOf(codec: t.Mixed): number {
  const shape = shapeOf(codec);
  if (shape.kind === "object")
    return Object.values({ ...shape.required, ...shape.optional }).reduce((sum: number, of) => sum + leavesOf(of), 1);
  if (shape.kind === "list") return leavesOf(shape.element);
  return shape.kind === "described" && shape.codec.schema.items ? leavesOf(shape.codec.schema.items) : 1;
}

const aroundBounds = ({ minimum = 0, maximum = 100 }: LeafSchema) =>
  fc.constantFrom(minimum - 1, minimum, minimum + 0.5, maximum, maximum + 1);

const routes = allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication).filter(
  ({ documented }) => documented !== false,
);

describe("the schemas of the document and the codecs that serve requests", function () {
  this.timeout(60_000);

  const bodies = new Map(
    routes.flatMap(({ request, operationId }) => (request.body ? [[request.body, operationId]] : [])),
  );
  for (const [codec, operationId] of bodies) {
    it(`accept the same bodies of ${operationId}`, () => {
      const validate = validatorOf(codec);
      let accepted = 0;
      fc.assert(
        fc.property(nearly(codec, 8 * leavesOf(codec)), (value) => {
          // What can come over the wire.
          const sent = JSON.parse(JSON.stringify(value)) as unknown;
          const counted = codec === UpgradeUpdateSpec ? partThatCounts(sent) : sent;
          const says = isStrict(codec) ? takes(codec, counted) : decodes(codec, withoutNulls(codec, counted));
          if (says) accepted += 1;
          expect(validate(counted), JSON.stringify(validate.errors)).to.equal(says);
        }),
        { numRuns: 300 },
      );
      expect(accepted, "bodies that both accept").to.be.within(30, 299);
    });
  }

  it("say that an update has no unknown field; the document is stricter where nothing else counts of a cancellation", () => {
    const validate = validatorOf(UpgradeUpdateSpec);
    for (const [value, isDocumented, isAccepted] of [
      [{ markForCancellation: true }, true, true],
      [{ markForCancellation: true, upgradeNow: "no", more: 1 }, false, true],
      [{ markForCancellation: false, more: 1 }, false, false],
      [{ markForCancellation: false, upgradeNow: true }, true, true],
      [{ upgradeNow: true }, true, true],
      [{}, true, true],
    ] as const) {
      expect(validate(value), JSON.stringify(value)).to.equal(isDocumented);
      expect(takes(UpgradeUpdateSpec, partThatCounts(value)), JSON.stringify(value)).to.equal(isAccepted);
    }
  });

  it("take every spelling of a task's status, of which the document has one each", () => {
    const validate = validatorOf(TaskStatus);
    const shape = shapeOf(TaskStatus);
    const spellings = shape.kind === "spellings" ? shape.spellings : [];
    expect(spellings).to.have.length(12);
    const documented = spellings.filter((spelling) => validate(spelling));
    const meaning = (spelling: string) => spelling.toUpperCase().replace(" ", "_");
    expect(documented.map(meaning)).to.have.members([...new Set(spellings.map(meaning))]);
    for (const [name, schema] of Object.entries(componentSchemas())) {
      const values = (schema["enum"] ?? []) as readonly string[];
      expect(new Set(values.map(meaning)).size, name).to.equal(values.length);
    }
  });

  const parameters = new Map(
    routes.flatMap(({ operationId, request }) =>
      [request.path, request.query, request.headers].flatMap((props) =>
        Object.entries(props).map(([name, { codec }]) => [codec, `${name} of ${operationId}`] as const),
      ),
    ),
  );
  for (const [codec, name] of parameters) {
    it(`accept the same values of the parameter ${name}`, () => {
      const validate = validatorOf(codec);
      const shape = shapeOf(codec);
      const isNumber = shape.kind === "described" && shape.codec.schema.type === "integer";
      fc.assert(
        fc.property(nearly(codec, 1), (value) => {
          // On the wire everything is text, and a whole number is its digits.
          if (isNumber ? typeof value !== "number" : typeof value !== "string") return;
          // What the document leaves out has a test of its own.
          if (codec === TaskStatus && TaskStatus.is(value) && !CanonicalTaskStatus.is(value)) return;
          expect(validate(value), JSON.stringify(value)).to.equal(decodes(codec, String(value)));
        }),
        { numRuns: 300 },
      );
    });
  }
});

/** Bodies of routes that refuse unknown fields. */
const isStrict = (codec: t.Mixed) =>
  [UpgradeUpdateSpec, ApprovalSpec, RejectionSpec, AcknowledgementSpec, SkipSpec, RetrySpec].some(
    (one) => one === codec,
  );

/** What such a route asks of a body beside its codec. */
function takes(codec: t.Mixed, value: unknown): boolean {
  const counted = withoutNulls(codec, value);
  return decodes(codec, counted) && unknownFields(codec, counted).length === 0;
}
