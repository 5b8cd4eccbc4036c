import { identity } from "fp-ts/function";
import type * as t from "io-ts";
import { shapeOf } from "../../domain/codec";
import { FreezeSpec } from "../../domain/freeze";
import { HoldSpec } from "../../domain/hold";
import { ReadinessSpec } from "../../domain/readiness/readiness-spec";
import { AcknowledgementSpec } from "../../domain/spec/finding";
import {
  ApprovalSpec,
  RejectionSpec,
  UpgradeSpec,
  UpgradeUpdateSpec,
  RetrySpec,
  SkipSpec,
} from "../../domain/spec/upgrade-spec";
import type { Component } from "./component";
import { type JsonSchema, jsonSchemaInFull } from "./json-schema";
import { activityModels } from "./models/activity";
import { answerModels } from "./models/answers";
import { findingModels } from "./models/findings";
import { freezeModels } from "./models/freeze";
import { holdModels } from "./models/holds";
import { inventoryModels } from "./models/inventory";
import { readinessModels } from "./models/readiness";
import { requestModels } from "./models/requests";
import { taskModels } from "./models/tasks";

/**
 * Everything that the document names: the models and enumerations of the specification, by its names (Spec 2.1 to 2.7, 7),
 * and those of further paths. Client generators make a type of each.
 */
const components: Readonly<Record<string, Component>> = {
  ...requestModels,
  ...taskModels,
  ...answerModels,
  ...activityModels,
  ...findingModels,
  ...freezeModels,
  ...holdModels,
  ...readinessModels,
  ...inventoryModels,
};

const names = new Map(Object.entries(components).map(([name, { codec }]) => [codec, name]));

/** Finds components by the codec itself, so that a model is described once and used by reference. */
export const componentName = (codec: t.Mixed): string | undefined => names.get(codec);

/** What the bodies of requests are made of: null is as good as nothing there. */
const ofRequests = new Set<t.Mixed>();
const collect = (codec: t.Mixed): void => {
  ofRequests.add(codec);
  const shape = shapeOf(codec);
  if (shape.kind === "object") Object.values<t.Mixed>({ ...shape.required, ...shape.optional }).forEach(collect);
  if (shape.kind === "list") collect(shape.element);
  if (shape.kind === "described" && shape.codec.schema.items) collect(shape.codec.schema.items);
};
[
  UpgradeSpec,
  UpgradeUpdateSpec,
  FreezeSpec,
  HoldSpec,
  ReadinessSpec,
  ApprovalSpec,
  RejectionSpec,
  AcknowledgementSpec,
  SkipSpec,
  RetrySpec,
].forEach(collect);

/** `components.schemas` of the document. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(components).map(([name, { codec, description, fields, inFull = identity }]) => [
      name,
      {
        description,
        ...inFull(jsonSchemaInFull(codec, componentName, { fields, nullIsAbsent: ofRequests.has(codec) })),
      },
    ]),
  );
}
