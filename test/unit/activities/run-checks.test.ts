import { expect } from "chai";
import { type Check, findingsAbout, runChecks } from "../../../activities/prechecks/run-checks";
import type { Stage } from "../../../src/domain/spec/task";
import type { FindingKey } from "../../../src/domain/task/findings";

/** A check that finds so many hosts disconnected, with a warning and a note. */
function hostCheck(hosts: number): Check<"HOSTS", null> {
  return {
    type: "HOSTS",
    name: "Hosts",
    description: "All hosts are connected.",
    needs: [],
    run: () =>
      Promise.resolve(
        findingsAbout({ cluster: "Production" }, [
          { severity: "INFO", code: "NETVIRT_CHECK_ACKNOWLEDGED", message: "Noted.", remediation: "" },
          { severity: "WARNING", code: "HEALTH_CHECK_WARNING", message: "Clocks differ.", remediation: "Set them." },
          ...Array.from({ length: hosts }, (_, i) => ({
            code: "HOST_NOT_CONNECTED",
            message: `Host ${i} is away.`,
            remediation: "Bring it back.",
            host: { id: `host-${i}`, name: `esx-${i}` },
          })),
        ]),
      ),
  };
}

async function stageOf(hosts: number, acknowledged: readonly FindingKey[] = []): Promise<Stage> {
  const stages: Stage[] = [];
  await runChecks({
    checks: [hostCheck(hosts)],
    input: null,
    context: {},
    resourceId: "c-1",
    acknowledged,
    onStage: (stage) => stages.push(stage),
    isOutage: () => false,
  });
  return stages[0]!;
}

const key = (host: number): FindingKey => ({ code: "HOST_NOT_CONNECTED", resourceId: "c-1", hostId: `host-${host}` });

describe("runChecks", () => {
  it("lists errors first, then warnings and notes, which do not fail the check", async () => {
    const { findings, status, errors } = await stageOf(0);
    expect(findings?.map(({ severity }) => severity)).to.deep.equal(["WARNING", "INFO"]);
    expect([status, errors]).to.deep.equal(["SUCCESSFUL", undefined]);
    expect((await stageOf(1)).findings?.map(({ severity }) => severity)).to.deep.equal(["ERROR", "WARNING", "INFO"]);
  });

  it("does not let errors that it does not list be passed over", async () => {
    const { findings = [], errors = [] } = await stageOf(25);
    expect(findings).to.have.length(21);
    expect(findings.at(-1)).to.include({ code: "FINDINGS_UNLISTED", severity: "ERROR", isAcknowledgeable: false });
    expect(errors.at(-1)?.message).to.equal('The check "Hosts" has 5 more errors, which are not listed.');
  });

  it("lists the others in the place of those that are acknowledged", async () => {
    const acknowledged = Array.from({ length: 20 }, (_, i) => key(i));
    const { findings = [] } = await stageOf(25, acknowledged);
    expect(findings.slice(0, 5).map(({ hostId }) => hostId)).to.deep.equal(
      [20, 21, 22, 23, 24].map((host) => `host-${host}`),
    );
    expect(findings.map(({ code }) => code)).not.to.include("FINDINGS_UNLISTED");
  });
});
