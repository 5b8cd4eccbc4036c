import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { parse } from "yaml";
import { readCatalog } from "../../../src/catalog/file-catalog";
import { stopMilliseconds } from "../../../src/commands/messages";
import { readConfig } from "../../../src/config";
import { readInventoryFile } from "../../../src/inventory/inventory-file";
import { taskQueue } from "../../../workflows/messages";
import { readCompose } from "../../support/compose-services";
import { knownVariables, settingsOfOperators } from "../../support/known-variables";
import { deploymentOf, kubernetesFolder, objectsIn, type PodSpec, settingsIn } from "../../support/kubernetes-objects";

const roles = ["api", "worker"] as const;
const base = objectsIn("base");

function podOf(role: string): PodSpec {
  const pod = deploymentOf(role, base).spec?.template.spec;
  if (!pod) throw new Error(`The ${role} has no pod`);
  return pod;
}

function specOf<S>(kind: string, folder: string): S {
  return objectsIn(folder).find((object) => object.kind === kind)?.spec as S;
}

const text = (path: string) => readFileSync(join(kubernetesFolder, path), "utf8");

describe("the Kubernetes manifests", () => {
  const { services } = readCompose();

  it("run the roles and the image of docker-compose.yml, pinned", () => {
    for (const role of roles) {
      const [container] = podOf(role).containers;
      expect(container.args).to.deep.equal(services[role]?.command);
      expect(container.image).to.equal(services[role]?.image);
    }
    const { images } = parse(text("production/kustomization.yaml")) as { images: { name: string; newTag: string }[] };
    expect(images.map(({ name, newTag }) => `${name}:${newTag}`)).to.deep.equal([services["api"]?.image]);
  });

  it("run nothing as root, nothing that could become it, and nothing that can write to its image", () => {
    for (const role of roles) {
      const { containers, securityContext, ...pod } = podOf(role);
      const [{ securityContext: own, volumeMounts }] = containers;
      expect(securityContext).to.deep.include({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(own).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(pod).to.include({ automountServiceAccountToken: false, serviceAccountName: "upgrade-management" });
      const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
      expect(writable).to.have.members(["/data", "/tmp"]);
    }
  });

  it("ask for health where each role tells it", () => {
    const settings = settingsIn("base");
    for (const role of roles) {
      const [container] = podOf(role).containers;
      const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
      expect(settings[`${role.toUpperCase()}_HEALTH_ADDRESS`]).to.equal(`0.0.0.0:${ports["health"]}`);
      expect(settings[`${role.toUpperCase()}_METRICS_ADDRESS`]).to.equal(`0.0.0.0:${ports["metrics"]}`);
      if (role === "api") expect(settings["API_PORT"]).to.equal(String(ports["https"]));
      const { startupProbe, readinessProbe, livenessProbe } = container;
      for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
        expect(httpGet.port).to.equal("health");
        expect(httpGet.path).to.be.oneOf(["/health/live", "/health/ready"]);
      }
      expect(startupProbe.httpGet.path).to.equal("/health/ready");
      // A Temporal that is away must not make Kubernetes kill what waits for it.
      expect(livenessProbe.httpGet.path).to.equal("/health/live");
      // A worker waits 30 s for Temporal when it starts.
      expect(startupProbe.periodSeconds * startupProbe.failureThreshold).to.be.greaterThan(60);
    }
  });

  it("let each role end in good order before it is killed", () => {
    for (const role of roles) {
      const { terminationGracePeriodSeconds, containers } = podOf(role);
      const preStop = /, (\d+)\)/.exec(containers[0].lifecycle?.preStop.exec.command.at(-1) ?? ", 0)")?.[1];
      const needed = Number(preStop) + stopMilliseconds[role];
      expect(terminationGracePeriodSeconds * 1000, role).to.be.at.least(2 * needed);
    }
  });

  it("ask for resources, and bound them as docker-compose.yml does", () => {
    for (const role of roles) {
      const [{ resources, env }] = podOf(role).containers;
      const limits = services[role]?.deploy?.resources?.limits;
      expect(resources.limits).to.deep.equal({
        cpu: limits?.["cpus"],
        memory: String(limits?.["memory"]).replace("G", "Gi"),
      });
      expect(resources.requests).to.have.all.keys("cpu", "memory");
      expect(env.find(({ name }) => name === "NODE_OPTIONS")?.value).to.equal(
        services[role]?.environment?.["NODE_OPTIONS"],
      );
    }
  });

  it("pass the variables of docker-compose.yml, which the service knows", () => {
    const settings = Object.keys(settingsIn("base"));
    const env = podOf("api").containers[0].env.map(({ name }) => name);
    const composed = new Set(roles.flatMap((role) => Object.keys(services[role]?.environment ?? {})));
    const ofSimulator = [...composed].filter((name) => name.startsWith("SIMULATOR_"));
    expect([...settings, ...env, ...ofSimulator]).to.have.members([...composed]);
    expect([...knownVariables()]).to.include.members([...settings, ...env]);
    const { both, api, worker } = settingsOfOperators;
    expect([...settings, ...env]).to.include.members([...both, ...api, ...worker]);
    expect(settings).to.include.members(Object.keys(settingsIn("production")));
  });

  it("give a configuration that the service takes, with TLS, an issuer and encryption", () => {
    const settings = { ...settingsIn("base"), ...settingsIn("production") };
    const withoutFiles = Object.entries(settings).filter(([name]) => !/^TEMPORAL_TLS_.*_PATH$/.test(name));
    const config = readConfig(Object.fromEntries(withoutFiles));
    if (E.isLeft(config)) expect.fail(config.left.join(" "));
    expect(config.right.authentication).to.include({ mode: "oidc" });
    expect(config.right.api.tls).to.deep.include({ certFile: "/run/api-tls/tls.crt", keyFile: "/run/api-tls/tls.key" });
    expect(config.right.payloadKeysFile).to.be.a("string");
    for (const role of roles) {
      const mounts = podOf(role).containers[0].volumeMounts.map(({ mountPath }) => mountPath);
      const files = Object.entries(settings).filter(([name, value]) => /_FILE$|_PATH$/.test(name) && value !== "");
      for (const [name, file] of files)
        if (role === "api" || !/^(API|AUTH|CATALOG)_/.test(name))
          expect(
            mounts.some((mount) => file.startsWith(`${mount}/`)),
            `${role}: ${name}=${file}`,
          ).to.equal(true);
    }
  });

  it("have secrets in Secrets only", () => {
    expect(base.some(({ kind }) => kind === "Secret")).to.equal(false);
    for (const [name, value] of Object.entries({ ...settingsIn("base"), ...settingsIn("production") }))
      if (/PASSWORD|SECRET|_TOKEN$|_KEY$/.test(name)) expect(value, name).to.equal("");
    const [{ env }] = podOf("api").containers;
    expect(env.find(({ name }) => name === "TEMPORAL_API_KEY")).to.have.nested.property("valueFrom.secretKeyRef");
  });

  it("spread each role, and lose one of its pods at a time to drains", () => {
    for (const role of roles) {
      expect(podOf(role).topologySpreadConstraints.map(({ topologyKey }) => topologyKey)).to.have.members([
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
      ]);
      const budget = base.find((one) => one.kind === "PodDisruptionBudget" && one.metadata.name.endsWith(role))?.spec;
      expect(budget).to.include({ maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" });
      expect(deploymentOf(role, base).spec?.replicas).to.be.greaterThan(1);
    }
  });

  it("let only Prometheus read metrics, and nobody else into a worker", () => {
    const policies = base.filter(({ kind }) => kind === "NetworkPolicy");
    const ofWorker = policies.find(({ metadata }) => metadata.name.endsWith("worker"))?.spec;
    const ofApi = policies.find(({ metadata }) => metadata.name.endsWith("api"))?.spec;
    const monitoring = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } };
    const metrics = { from: [monitoring], ports: [{ port: "metrics", protocol: "TCP" }] };
    expect(ofWorker?.["ingress"]).to.deep.equal([metrics]);
    expect(ofApi?.["ingress"]).to.deep.equal([{ ports: [{ port: "https", protocol: "TCP" }] }, metrics]);
  });

  it("scale workers by the backlog of the task queue that they poll", () => {
    interface Autoscaler {
      scaleTargetRef: { name: string };
      minReplicas: number;
      metrics: { external: { metric: { name: string; selector: { matchLabels: object } } } }[];
    }
    const { scaleTargetRef, minReplicas, metrics } = specOf<Autoscaler>(
      "HorizontalPodAutoscaler",
      "autoscaling-prometheus",
    );
    expect(scaleTargetRef.name).to.equal(deploymentOf("worker", base).metadata.name);
    expect(minReplicas).to.be.greaterThan(1);
    expect(metrics[0]?.external.metric.selector.matchLabels).to.deep.equal({ taskqueue: taskQueue });
    const adapter = parse(text("autoscaling-prometheus/adapter-rule.yaml")) as {
      rules: { external: { seriesQuery: string; name: { as: string } }[] };
    };
    expect(adapter.rules.external[0]?.name.as).to.equal(metrics[0]?.external.metric.name);
    expect(adapter.rules.external[0]?.seriesQuery).to.contain(`taskqueue="${taskQueue}"`);
    interface Scaled {
      scaleTargetRef: { name: string };
      triggers: { type: string; metadata: Record<string, string> }[];
    }
    const keda = specOf<Scaled>("ScaledObject", "autoscaling-keda");
    expect(keda.scaleTargetRef.name).to.equal(scaleTargetRef.name);
    expect(keda.triggers[0]).to.deep.include({ type: "temporal" });
    expect(keda.triggers[0]?.metadata).to.include({ taskQueue, endpointFromEnv: "TEMPORAL_ADDRESS" });
  });

  it("have Prometheus look at ports that the containers name", () => {
    const monitor = specOf<{ podMetricsEndpoints: { port: string }[] }>("PodMonitor", "monitoring");
    for (const { port } of monitor.podMetricsEndpoints)
      for (const role of roles) expect(podOf(role).containers[0].ports.map(({ name }) => name)).to.include(port);
  });

  it("have an example of an inventory and of a catalog that the service takes", () => {
    const folder = mkdtempSync(join(tmpdir(), "ums-inventory-"));
    try {
      const inventory = text("production/inventory.yaml");
      expect(inventory).to.contain("/run/operator-secrets/");
      writeFileSync(join(folder, "fra1-vc01-password"), "not a real one");
      writeFileSync(join(folder, "inventory.yaml"), inventory.replaceAll("/run/operator-secrets", folder));
      const read = readInventoryFile(join(folder, "inventory.yaml"), {});
      expect(E.isRight(read), JSON.stringify(read)).to.equal(true);
      expect(E.isRight(readCatalog(join(kubernetesFolder, "production/bundles.yaml")))).to.equal(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
