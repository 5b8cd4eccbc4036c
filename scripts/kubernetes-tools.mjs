import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { PreparationError, run } from "./run.mjs";

const kustomize = "sigs.k8s.io/kustomize/kustomize/v5@v5.7.1";
/** Kubernetes' own schemas of every version since 1.25. */
const validator = "kubernetes-validate==1.37.0";
/** Where the schemas of what is not Kubernetes' own are, by the module that has them. */
const definitions = {
  "github.com/kedacore/keda/v2@v2.17.2": "config/crd/bases/keda.sh_scaledobjects.yaml",
  "github.com/prometheus-operator/prometheus-operator@v0.76.0":
    "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
};

/**
 * A folder in the cache with what the third-party suite renders and validates deploy/kubernetes with: `kustomize`, which
 * Go builds; `definitions/`, the custom resources of others; `python/`, for `python3 -m kubernetes_validate`.
 */
export async function kubernetesTools(cacheDir, { say, signal }) {
  const place = join(cacheDir, "kubernetes-tools-5.7.1-1.37.0");
  if (existsSync(place)) return place;
  say("Installing kustomize (Go) and the schemas of Kubernetes (pip); this happens once and takes about two minutes");
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-kubernetes-tools-"));
  try {
    const env = { ...process.env, GOBIN: fresh, GOFLAGS: "" };
    await run("go install", "go", ["install", kustomize], { signal, env });
    mkdirSync(join(fresh, "definitions"));
    for (const [module, file] of Object.entries(definitions)) {
      const told = await run("go mod download", "go", ["mod", "download", "-json", module], { signal, env });
      const { Dir } = JSON.parse(told.slice(told.indexOf("{"), told.lastIndexOf("}") + 1));
      copyFileSync(join(Dir, file), join(fresh, "definitions", basename(file)));
    }
    const target = ["install", "--quiet", "--target", join(fresh, "python"), validator];
    await run("pip", "python3", ["-m", "pip", ...target], { signal });
    // Moved in one step: an interrupted installation leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(place))
      throw new PreparationError(
        `The third-party suite needs ${kustomize} and ${validator}: put \`go\` and \`python3\` on PATH and let them reach a module proxy and a package index.\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return place;
}
