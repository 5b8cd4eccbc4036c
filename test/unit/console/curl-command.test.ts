import { execFileSync } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";
import { curlOf, jsonOf, shellAuthorization } from "../../../src/console/model/curl-command";
import { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { arbitraryOf } from "../domain/arbitrary-of";

/** What a shell gives to curl when somebody pastes a command. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const output = execFileSync("sh", ["-c", script], { encoding: "utf8", env: { ACCESS_TOKEN: "t o'k" } });
  return output.split("\0").slice(0, -1);
}

describe("curlOf", () => {
  it("is the request that is shown, for a real shell", () => {
    const awkward = ["it's", "$(id)", "`id`", "a\\", '"', "!!", "line\nbreak", "ü"];
    const specs = fc
      .tuple(arbitraryOf(UpgradeSpec, { depth: 4 }), fc.constantFrom(...awkward))
      .map(([spec, bundleId]) => ({ ...spec, bundleId }));
    fc.assert(
      fc.property(specs, (spec) => {
        expect(argumentsOf(curlOf("http://localhost:8080", spec, shellAuthorization("dev")))).to.deep.equal([
          ...["-sS", "-X", "POST", "http://localhost:8080/v1/upgrades"],
          ...["-H", "Authorization: Bearer console", "-H", "Content-Type: application/json"],
          ...["--data-raw", jsonOf(spec)],
        ]);
      }),
      { numRuns: 30 },
    );
  });

  it("has a place for the token where one is needed, and never the token", () => {
    const spec: UpgradeSpec = { bundleId: "b", resourceType: "CLUSTER", resourceUpgradeSpecs: [{ resourceId: "c" }] };
    const command = curlOf("http://localhost:8080", spec, shellAuthorization("local"));
    expect(command).to.contain("$ACCESS_TOKEN");
    expect(argumentsOf(command)).to.include("Authorization: Bearer t o'k");
  });
});
