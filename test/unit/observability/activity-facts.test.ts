import { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import { activityFacts, attemptsAfter } from "../../../src/observability/observe-activities";
import { sampleProgress } from "../../support/sample-progress";

const { info } = new MockActivityEnvironment({ attempt: 4 }).context;
const cluster = { cluster: "domain-c34", name: "fra1-mgmt-cl01", componentManagerId: "fra1-vc01" };
const host = { host: "host-12", fqdn: "esx-01.example.com" };
const input = { cluster, hosts: [host], attempts: { maximumAttempts: 3, retryDelay: 60 } };
const progress = (count: number) => sampleProgress({ failures: [count] });

describe("activityFacts", () => {
  it("names the host, its cluster and its component manager", () => {
    expect(activityFacts(info, input)).to.deep.equal({
      on: "esx-01.example.com",
      cluster: "fra1-mgmt-cl01",
      host: "esx-01.example.com",
      componentManager: "fra1-vc01",
      attempt: 4,
      attempts: 3,
    });
  });

  it("counts attempts by the failures that used them up, not by runs that were lost with their workers", () => {
    expect(activityFacts({ ...info, heartbeatDetails: progress(1) }, input).attempt).to.equal(2);
    expect(activityFacts(info, { ...input, resume: progress(2) }).attempt).to.equal(3);
    expect(
      activityFacts({ ...info, heartbeatDetails: progress(0) }, { ...input, resume: progress(2) }).attempt,
    ).to.equal(3);
  });

  it("says how many hosts there are, and nothing of what is not named", () => {
    expect(activityFacts(info, { hosts: [host, host] })).to.deep.equal({ on: "2 hosts", attempt: 4 });
    for (const other of [undefined, null, "text", 7, {}])
      expect(activityFacts(info, other)).to.deep.equal({ attempt: 4 });
  });
});

describe("attemptsAfter", () => {
  const facts = activityFacts(info, input);

  it("tells how many attempts are left and when the next one comes", () => {
    expect(attemptsAfter(facts, input, { details: [{ progress: progress(1) }] })).to.deep.equal({
      attemptsLeft: 2,
      nextAttemptSeconds: 60,
    });
  });

  it("promises no next attempt after a final failure", () => {
    expect(attemptsAfter(facts, input, { nonRetryable: true, details: [{ progress: progress(3) }] })).to.deep.equal({
      attemptsLeft: 0,
    });
  });

  it("says nothing where attempts are not counted", () => {
    expect(attemptsAfter(facts, input, { details: [] })).to.deep.equal({});
    expect(attemptsAfter({ attempt: 1 }, {}, { details: [{ progress: progress(1) }] })).to.deep.equal({});
  });
});
