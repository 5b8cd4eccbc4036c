import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";

/** deploy/kubernetes. */
export const kubernetesFolder = resolve(__dirname, "../../deploy/kubernetes");

/** What answers to a probe. */
export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

/** A container: the parts that tests look at. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: Readonly<Record<"requests" | "limits", Readonly<Record<"cpu" | "memory", string>>>>;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

/** What runs in a pod of a Deployment. */
export interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly topologySpreadConstraints: readonly { readonly topologyKey: string }[];
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly secret?: object; readonly configMap?: object }[];
}

/** An object as a manifest has it; `spec` is what its kind says. */
export interface KubernetesObject<S = Readonly<Record<string, unknown>>> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: S;
}

/** A Deployment: the parts that tests look at. */
export type Deployment = KubernetesObject<{
  readonly replicas?: number;
  readonly template: { readonly metadata: object; readonly spec: PodSpec };
}>;

/** All objects of a text of YAML documents. */
export function objectsOf(text: string): KubernetesObject[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as KubernetesObject;
  });
}

/** The objects of a folder of deploy/kubernetes, without what is kustomize's or a program's own. */
export function objectsIn(folder: string): KubernetesObject[] {
  const files = readdirSync(join(kubernetesFolder, folder)).filter((name) => name.endsWith(".yaml"));
  return files
    .flatMap((name) => objectsOf(readFileSync(join(kubernetesFolder, folder, name), "utf8")))
    .filter((object) => "apiVersion" in object && !object.apiVersion.startsWith("kustomize."));
}

/** The settings of a settings.env. */
export function settingsIn(folder: string): Record<string, string> {
  const text = readFileSync(join(kubernetesFolder, folder, "settings.env"), "utf8");
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

/** The Deployment of a role among objects. */
export function deploymentOf(role: string, objects: readonly KubernetesObject[]): Deployment {
  const found = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name.endsWith(`-${role}`));
  if (!found) throw new Error(`There is no Deployment of the ${role}`);
  return found as Deployment;
}
