import { expect } from "chai";
import request from "supertest";
import { startApiUnderTest } from "../../unit/api/api-under-test";
import {
  furtherFields,
  modelNames,
  specifiedFailures,
  specifiedModels,
  specifiedOperations,
  type Specified,
  type SpecifiedFields,
} from "./specified-models";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

type Bodies = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Bodies };
  readonly responses: Readonly<Record<string, { readonly content?: Bodies }>>;
}

/** Where the document deliberately says more than the tables (docs/spec-gaps.md). */
const deviations = {
  /** "always present": fields that published clients read without a check, and the ids of what a list holds. */
  required: {
    Task: ["type"],
    SubTask: ["name", "type", "description", "status", "creationTimestamp"],
    Stage: ["name", "type", "description", "status", "creationTimestamp"],
    Error: ["message"],
    Upgrade: ["id"],
    Bundle: ["id"],
  } as Readonly<Record<string, readonly string[]>>,
  further: furtherFields,
  /** "`Upgrade.status`": the specification shows no values. */
  upgradeStatus: [
    "PENDING",
    "DRAFT",
    "SCHEDULED",
    "INPROGRESS",
    "PAUSED",
    "COMPLETED_WITH_SUCCESS",
    "COMPLETED_WITH_FAILURE",
    "CANCELLED",
  ],
  /** "`Task.status`": answers have one spelling of each value, and so does the document. */
  taskStatus: ["Pending", "In Progress", "Successful", "Failed", "Cancelled", "COMPLETED_WITH_WARNING", "SKIPPED"],
  /** "paging", "filters of the list", "sorting", "asking again for the list", "authentication", "too many requests". */
  get: {
    parameters: [
      ...["phase", "search", "sort", "changeId", "label", "resourceId", "createdBy", "createdSince"],
      ...["pageNumber", "pageSize", "If-None-Match"],
    ],
    statuses: ["304", "403", "429", "503"],
  },
  /** "Idempotency-Key", "too many requests". */
  post: { parameters: ["Idempotency-Key"], statuses: ["429", "503"] },
};

/**
 * Models of the document that the specification does not name: parts of its own, and those of further paths. Enumerations
 * have names too, but those are not models.
 */
const furtherModels = [
  // Objects without a name in the specification's tables.
  "HardwareSupportPackageSpec",
  "MaintenanceState",
  "HostsSpec",
  "RolloutSpec",
  "ToleratedFailures",
  "LeftOutResource",
  "FreezeSpec",
  "FreezeStatus",
  "Freeze",
  "MaintenanceOverride",
  "HoldSpec",
  "Hold",
  "PageOfHold",
  "ReadinessSpec",
  "CheckTimes",
  "ReadinessSchedule",
  "PageOfReadinessSchedule",
  "HostosUpgradeFailureAction",
  "NetvirtHostClusterUpgradeSpec",
  "NetvirtEdgeClusterUpgradeSpec",
  "NetvirtUpgradeOptions",
  "TemporaryNetwork",
  "LocalizableDescriptionPack",
  "PageMetadata",
  "ErrorCause",
  "WaitingFor",
  "RequestWarning",
  "HostState",
  "UpgradeHosts",
  "UpgradeCounts",
  "PhaseCount",
  "HostVersion",
  "ProductVersions",
  // Of paths that it does not have.
  "TaskChange",
  "SubTaskChange",
  "TaskHeader",
  "TaskEnd",
  "PageOfTask",
  "PageOfBundle",
  "UpgradeUpdateSpec",
  "ApprovalSpec",
  "RejectionSpec",
  ...["Finding", "Acknowledgement", "AcknowledgementSpec", "FindingCounts"],
  "SkipSpec",
  "RetrySpec",
  "UpgradeApprovals",
  "Approval",
  "MgmtUpgradePatchSpec",
  "Cluster",
  "ClusterMember",
  "DomainReference",
  "PageOfCluster",
  "NetvirtGroupOfCluster",
  "NetvirtInstance",
  "NetvirtGroup",
  "ManagementServer",
  "Personality",
  "PersonalityAddOn",
  "Iso",
  "PageOfNetvirtInstance",
  "PageOfManagementServer",
  "PageOfPersonality",
  "PageOfIso",
  "PageOfActivity",
  "ActivityEntry",
  "ActivityDetails",
  "EndedHosts",
  "UpgradePreview",
  "PreviewedProduct",
  "PreviewedResource",
  "ExpectedWave",
  "WavePart",
  "TokenCreationSpec",
  "TokenPair",
  "RefreshToken",
  "Health",
];

describe("openapi.json against the tables of the specification", () => {
  let schemas: Readonly<Record<string, Schema>>;
  let paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;

  before(async () => {
    const api = await startApiUnderTest();
    const { body } = await request(api.url).get("/openapi.json");
    await api.close();
    const document = body as {
      readonly paths: typeof paths;
      readonly components: { readonly schemas: typeof schemas };
    };
    ({ paths } = document);
    ({ schemas } = document.components);
  });

  const nameOf = ({ $ref }: Schema) => $ref?.split("/").at(-1);
  const isSpecified = (name: string | undefined): name is (typeof modelNames)[number] =>
    modelNames.some((known) => known === name);

  /** A schema in the words of the tables. */
  function told(schema: Schema): Specified {
    // "null": an optional field of a request may also be null.
    const [orNull, none] = schema.anyOf ?? [];
    if (orNull && none?.type === "null") return told(orNull);
    const name = nameOf(schema);
    if (isSpecified(name)) return name;
    if (name !== undefined) return told(schemas[name]!);
    if (schema.enum) return { oneOf: [...schema.enum].sort() };
    if (schema.items) return { list: told(schema.items) };
    if (schema.properties) return { fields: toldFields(schema) };
    return [schema.type].flat().find((type) => type !== "null") as Specified;
  }

  function toldFields({ properties = {}, required = [] }: Schema): SpecifiedFields {
    return Object.fromEntries(
      Object.entries(properties).map(([field, schema]) => [
        required.includes(field) ? `${field}!` : field,
        told(schema),
      ]),
    );
  }

  /** The tables with the values of each enumeration in one order. */
  function sorted(specified: Specified): Specified {
    if (typeof specified === "string") return specified;
    if ("oneOf" in specified) return { oneOf: [...specified.oneOf].sort() };
    if ("list" in specified) return { list: sorted(specified.list) };
    return { fields: sortedFields(specified.fields) };
  }

  const sortedFields = (fields: SpecifiedFields): SpecifiedFields =>
    Object.fromEntries(Object.entries(fields).map(([name, specified]) => [name, sorted(specified)]));

  /** What the tables say of a model, with the deviations. */
  function expected(model: (typeof modelNames)[number]): SpecifiedFields {
    const alwaysPresent = deviations.required[model] ?? [];
    const fields = { ...specifiedModels[model] };
    for (const name of alwaysPresent)
      expect(fields, `${model}.${name} is optional in the specification`).to.have.property(name);
    if (model === "Task") {
      expect(fields["status!"]).to.have.property("oneOf").that.includes.members(deviations.taskStatus);
      fields["status!"] = { oneOf: deviations.taskStatus };
    }
    if (model === "Upgrade") fields["status"] = { oneOf: deviations.upgradeStatus };
    return sortedFields(
      Object.fromEntries(
        Object.entries(fields).map(([name, of]) => [alwaysPresent.includes(name) ? `${name}!` : name, of]),
      ),
    );
  }

  for (const model of modelNames) {
    it(`${model} has exactly the specified fields, types, values and required fields`, () => {
      const all = toldFields(schemas[model]!);
      const further = deviations.further[model] ?? [];
      expect(all).to.include.keys(...further, ...Object.keys(expected(model)));
      const fields = Object.fromEntries(Object.entries(all).filter(([name]) => !further.includes(name)));
      expect(fields).to.deep.equal(expected(model));
    });
  }

  it("has no model that is neither specified nor known to be our own", () => {
    const models = Object.keys(schemas).filter((name) => schemas[name]?.enum === undefined);
    expect(models).to.have.members([...modelNames, ...furtherModels]);
  });

  for (const [key, { body, query, success }] of Object.entries(specifiedOperations)) {
    it(`${key} has exactly the specified parameters, bodies and statuses`, () => {
      const [method = "", path = ""] = key.split(" ");
      const operation = paths[path]![method]!;
      const bodyOf = (content: Bodies | undefined) => content && nameOf(content["application/json"]!.schema);
      expect(bodyOf(operation.requestBody?.content)).to.equal(body);
      const further = key.startsWith("get") ? deviations.get : deviations.post;
      expect(operation.parameters.map(({ name }) => name)).to.have.members([...query, ...further.parameters]);
      expect(operation.parameters.filter(({ required }) => required)).to.deep.equal([]);
      const failures = specifiedFailures[key as keyof typeof specifiedFailures];
      expect(Object.keys(operation.responses)).to.have.members([success.status, ...further.statuses, ...failures]);
      expect(bodyOf(operation.responses[success.status]!.content)).to.equal(success.body);
      for (const status of failures) expect(bodyOf(operation.responses[status]!.content), status).to.equal("Error");
    });
  }
});
