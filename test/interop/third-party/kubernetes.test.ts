import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Ajv from "ajv";
import { expect } from "chai";
import { parse } from "yaml";
import { kubernetesFolder, deploymentOf, objectsOf, type KubernetesObject } from "../../support/kubernetes-objects";

/** The oldest version that is said to do, and the newest that there are schemas of. */
const versions = ["1.30.0", "1.37.0"];

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: object } }[];
  };
}

describe("deploy/kubernetes, by Kubernetes' own tools and schemas", function () {
  this.timeout(120_000);
  const tools = process.env["KUBERNETES_TOOLS"] ?? "";
  let rendered: string;
  let folder: string;

  before(async () => {
    if (tools === "")
      throw new Error("KUBERNETES_TOOLS is not set: run these tests by npm test -- interop/third-party");
    const build = await promisify(execFile)(join(tools, "kustomize"), ["build", join(kubernetesFolder, "production")]);
    rendered = build.stdout;
    folder = mkdtempSync(join(tmpdir(), "ums-kubernetes-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What the validator says of a text of manifests. */
  function validated(text: string, version: string): { readonly code: number | null; readonly said: string } {
    const file = join(folder, "manifests.yaml");
    writeFileSync(file, text);
    const args = ["-m", "kubernetes_validate", "--strict", "-k", version, file];
    const env = { ...process.env, PYTHONPATH: join(tools, "python") };
    const { status, stdout, stderr } = spawnSync("python3", args, { env, encoding: "utf8" });
    return { code: status, said: stdout + stderr };
  }

  for (const version of versions)
    it(`is rendered by kustomize to objects that Kubernetes ${version} knows, field by field`, () => {
      const { code, said } = validated(rendered, version);
      expect(code, said).to.equal(0);
      const core = objectsOf(rendered).filter(({ apiVersion }) => !apiVersion.startsWith("monitoring.coreos.com"));
      expect(said.match(/ passed for resource /g)).to.have.lengthOf(core.length);
    });

  it("would be told of a field that there is not", () => {
    const wrong = rendered.replace("readinessProbe:", "readynessProbe:");
    const { code, said } = validated(wrong, "1.37.0");
    expect(code).not.to.equal(0);
    expect(said).to.contain("readynessProbe");
  });

  it("has the objects, in one namespace, with all names resolved", () => {
    const objects = objectsOf(rendered);
    const kinds = objects.map(({ kind, metadata }) => {
      // What kustomize adds is a digest of the content.
      return `${kind} ${kind === "ConfigMap" ? metadata.name.replace(/-[a-z0-9]{10}$/, "") : metadata.name}`;
    });
    expect(kinds).to.have.members([
      "Namespace upgrade-management",
      "ServiceAccount upgrade-management",
      "ConfigMap upgrade-management-settings",
      "ConfigMap upgrade-management-inventory",
      ...["Deployment", "PodDisruptionBudget", "NetworkPolicy"].flatMap((kind) => [
        `${kind} upgrade-management-api`,
        `${kind} upgrade-management-worker`,
      ]),
      "NetworkPolicy upgrade-management-egress",
      "Service upgrade-management-api",
      "HorizontalPodAutoscaler upgrade-management-worker",
      "PodMonitor upgrade-management",
    ]);
    const maps = objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
    const referred = new Set<string>();
    JSON.stringify(objects, (key, value: unknown) => {
      if (key === "configMapRef" || key === "configMap") referred.add((value as { name: string }).name);
      return value;
    });
    expect([...referred]).to.have.members(maps);
    for (const { kind, metadata } of objects)
      if (kind !== "Namespace") expect(metadata.namespace, metadata.name).to.equal("upgrade-management");
    const [container] = deploymentOf("worker", objects).spec?.template.spec.containers ?? [];
    expect(container?.image).to.equal("registry.example.com/upgrade-management-service:0.1.0");
    // The autoscaler has the number, and every apply would put another one back.
    expect(deploymentOf("worker", objects).spec).not.to.have.property("replicas");
    expect(deploymentOf("api", objects).spec).to.have.property("replicas");
  });

  it("has custom resources as their owners define them", () => {
    const schemas = readdirSync(join(tools, "definitions")).flatMap((file) => {
      const text = readFileSync(join(tools, "definitions", file), "utf8");
      const { spec } = parse(text) as CustomResourceDefinition;
      return spec.versions.map(({ name, schema }) => ({
        apiVersion: `${spec.group}/${name}`,
        kind: spec.names.kind,
        schema: strict(schema.openAPIV3Schema),
      }));
    });
    const keda = readFileSync(join(kubernetesFolder, "autoscaling-keda/worker-autoscaler.yaml"), "utf8");
    const custom = objectsOf(`${rendered}\n---\n${keda}`).filter(({ kind }) =>
      ["ScaledObject", "PodMonitor"].includes(kind),
    );
    expect(custom).to.have.lengthOf(2);
    const problems = (object: KubernetesObject) => {
      const { schema } =
        schemas.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind) ?? {};
      if (!schema) throw new Error(`There is no definition of ${object.apiVersion} ${object.kind}`);
      const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
      return validate(object)
        ? []
        : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    };
    for (const object of custom) {
      expect(problems(object), object.kind).to.deep.equal([]);
      expect(problems({ ...object, spec: { ...object.spec, unheardOf: 1 } }), object.kind).not.to.deep.equal([]);
    }
  });
});

/** A structural schema under which a field that it does not name is an error, as `kubectl apply --validate=strict` has it. */
function strict(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("properties" in value) || "additionalProperties" in value)
      return value;
    const { properties } = value;
    const isSchema =
      "type" in value && value.type === "object" && typeof properties === "object" && properties !== null;
    // Of the metadata a definition says nothing.
    return isSchema && Object.keys(properties).length > 0 ? { ...value, additionalProperties: false } : value;
  }) as object;
}
