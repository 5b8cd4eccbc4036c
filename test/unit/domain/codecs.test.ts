import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { shapeOf } from "../../../src/domain/codec";
import { ErrorBody } from "../../../src/domain/errors";
import { CommitPayload, PlainPayload, RequestOutcome } from "../../../src/domain/requests/upgrade-request";
import { Bundle, BundleComponent } from "../../../src/domain/spec/bundle";
import { Stage, SubTask, Task, TaskResource } from "../../../src/domain/spec/task";
import { PageOfUpgrade, Upgrade } from "../../../src/domain/spec/upgrade";
import * as spec from "../../../src/domain/spec/upgrade-spec";
import { RemediationProgress } from "../../../src/domain/task/host-remediation";
import { furtherFields } from "../../interop/contract/specified-models";
import { enumerations, fieldsOfModels } from "../../interop/contract/specified-tables";
import { arbitraryOf } from "./arbitrary-of";

/** The models of Spec 2 and 7 by their names there. */
const specified: Readonly<Record<string, t.Mixed>> = {
  UpgradeSpec: spec.UpgradeSpec,
  ResourceUpgradeSpec: spec.ResourceUpgradeSpec,
  PersonalitySpec: spec.PersonalitySpec,
  HardwareSupportSpec: spec.HardwareSupportSpec,
  CustomIsoSpec: spec.CustomIsoSpec,
  HostosUpgradeOptionsSpec: spec.HostosUpgradeOptionsSpec,
  NetvirtUpgradeUserInputSpec: spec.NetvirtUpgradeUserInputSpec,
  MgmtUpgradeUserInputSpec: spec.MgmtUpgradeUserInputSpec,
  Task,
  SubTask,
  Stage,
  TaskResource,
  Upgrade,
  Bundle,
  BundleComponent,
  PageOfUpgrade,
  Error: ErrorBody,
};

const allModels: Readonly<Record<string, t.Mixed>> = {
  ...specified,
  RemediationProgress,
  CommitPayload,
  PlainPayload,
  RequestOutcome,
};

/** The codec of `Model.field.field`; the element's where a field is a list. */
function codecAt(path: string): t.Mixed {
  const [model = "", ...fields] = path.split(".");
  return fields.reduce<t.Mixed>((codec, field) => {
    const shape = shapeOf(codec);
    const found = shape.kind === "object" ? (shape.required[field] ?? shape.optional[field]) : undefined;
    if (!found) throw new Error(`${path} is not there`);
    return elementOf(found) ?? found;
  }, specified[model] as t.Mixed);
}

function elementOf(codec: t.Mixed): t.Mixed | undefined {
  const shape = shapeOf(codec);
  if (shape.kind === "list") return shape.element;
  return shape.kind === "described" ? shape.codec.schema.items : undefined;
}

function fieldsOf(codec: t.Mixed): t.Props {
  const shape = shapeOf(codec);
  return shape.kind === "object" ? { ...shape.required, ...shape.optional } : {};
}

/**
 * The same value as a hostile client could write it: at every depth fields that no model has, among them those that
 * JavaScript gives a meaning, and times in another spelling, so that decoding has to copy.
 */
function disguised(codec: t.Mixed, value: unknown): unknown {
  const shape = shapeOf(codec);
  const element = elementOf(codec);
  if (element && Array.isArray(value)) return value.map((item) => disguised(element, item));
  if (shape.kind === "described" && shape.codec.schema.format === "date-time") {
    return String(value).replace("Z", "000+00:00");
  }
  if (shape.kind !== "object") return value;
  const fields = fieldsOf(codec);
  const known = Object.entries(value as object).map(([name, field]) => [
    name,
    disguised(fields[name] as t.Mixed, field),
  ]);
  const poison = Object.fromEntries(Object.keys(fields).map((name) => [name, "not checked by anyone"]));
  const copy = Object.fromEntries([...known, ["constructor", 1], ["hasOwnProperty", 1], ["surplus", [{}]]]);
  // Written as JSON.parse does it: an own field of this name.
  Object.defineProperty(copy, "__proto__", { value: poison, enumerable: true });
  return copy;
}

function hasOnlyPlainObjects(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return plain && Object.values(value).every(hasOnlyPlainObjects);
}

/** What a request must have (Spec 2.1, 2.2), and what an answer always has (docs/spec-gaps.md, always present). */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  UpgradeSpec: ["bundleId", "resourceType", "resourceUpgradeSpecs"],
  ResourceUpgradeSpec: ["resourceId"],
  Task: ["id", "name", "type", "status", "creationTimestamp"],
  SubTask: ["name", "type", "description", "status", "creationTimestamp"],
  Stage: ["name", "type", "description", "status", "creationTimestamp"],
  Error: ["message"],
};

describe("codecs of the models", () => {
  for (const [path, ofTables] of Object.entries(fieldsOfModels)) {
    const fields = [...ofTables, ...(furtherFields[path] ?? [])];
    it(`${path} decodes every specified field, and no other type in its place`, () => {
      const codec = codecAt(path);
      fc.assert(
        fc.property(arbitraryOf(codec, { allFields: true }), (value: unknown) => {
          expect(Object.keys(value as object)).to.have.members(fields);
          expect(codec.decode(value)).to.deep.equal(E.right(value));
          for (const field of fields) {
            const wrong = { ...(value as object), [field]: Symbol("no JSON value") };
            expect(E.isLeft(codec.decode(wrong)), `${field} is not checked`).to.equal(true);
          }
        }),
        { numRuns: 5 },
      );
    });
  }

  for (const [name, fields] of Object.entries(requiredFields)) {
    it(`${name} cannot be without ${fields.join(", ")}`, () => {
      const codec = specified[name] as t.Mixed;
      const [value]: unknown[] = fc.sample(arbitraryOf(codec), { numRuns: 1, seed: 1 });
      for (const field of fields) {
        const { [field]: _left, ...rest } = value as Record<string, unknown>;
        expect(E.isLeft(codec.decode(rest)), field).to.equal(true);
      }
    });
  }

  for (const [path, spellings] of Object.entries(enumerations)) {
    it(`${path} takes exactly the specified spellings`, () => {
      const codec = codecAt(path);
      for (const spelling of spellings) expect(codec.decode(spelling)).to.deep.equal(E.right(spelling));
      const others = spellings
        .flatMap((s) => [s.toLowerCase(), ` ${s}`, `${s}S`])
        .filter((s) => !spellings.includes(s));
      for (const other of [...others, "", "toString", "__proto__", 0, null, [spellings[0]]]) {
        expect(E.isLeft(codec.decode(other)), String(other)).to.equal(true);
      }
    });
  }

  for (const [name, codec] of Object.entries(allModels)) {
    it(`${name}: decode after encode is the identity, also over the wire`, () =>
      fc.assert(
        fc.property(arbitraryOf(codec), (value: unknown) => {
          expect(codec.is(value)).to.equal(true);
          expect(codec.decode(codec.encode(value))).to.deep.equal(E.right(value));
          expect(codec.decode(JSON.parse(JSON.stringify(codec.encode(value))))).to.deep.equal(E.right(value));
        }),
        { numRuns: 40 },
      ));

    it(`${name}: unknown fields are dropped at every depth and change nothing`, () =>
      fc.assert(
        fc.property(arbitraryOf(codec), (value: unknown) => {
          const decoded = codec.decode(disguised(codec, value));
          expect(decoded).to.deep.equal(E.right(value));
          expect(hasOnlyPlainObjects(decoded)).to.equal(true);
        }),
        { numRuns: 40 },
      ));

    it(`${name} is an object, nothing else`, () => {
      for (const other of [null, undefined, [], [{}], "{}", 1, true]) {
        expect(E.isLeft(codec.decode(other)), JSON.stringify(other)).to.equal(true);
      }
    });
  }
});
