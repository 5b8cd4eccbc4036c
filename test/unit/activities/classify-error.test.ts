import { expect } from "chai";
import { errorOfAnswer, errorOfShape, errorOfTransport } from "../../../activities/drivers/vapi/classify-error";

const asked = { managerId: "vc-01", what: "start the remediation of host-12" };
const body = (error_type: string, ...texts: string[]) => ({
  error_type,
  messages: texts.map((default_message) => ({ id: "x", default_message, args: [] })),
});

describe("errors of a component manager", () => {
  const answers: readonly [number, string | undefined, string, string][] = [
    [400, "ALREADY_IN_DESIRED_STATE", "alreadyDone", "ALREADY_IN_DESIRED_STATE"],
    [400, "NOT_ALLOWED_IN_CURRENT_STATE", "transient", "CLUSTER_BUSY"],
    [400, "RESOURCE_BUSY", "transient", "CLUSTER_BUSY"],
    [409, "CONCURRENT_CHANGE", "transient", "CLUSTER_BUSY"],
    [400, "INVALID_ARGUMENT", "permanent", "COMPONENT_MANAGER_REFUSED"],
    [400, "ALREADY_EXISTS", "permanent", "ALREADY_EXISTS"],
    [400, undefined, "permanent", "COMPONENT_MANAGER_REFUSED"],
    [401, "UNAUTHENTICATED", "permanent", "AUTHENTICATION"],
    [403, "UNAUTHORIZED", "permanent", "AUTHORIZATION"],
    [404, "NOT_FOUND", "permanent", "RESOURCE_NOT_FOUND"],
    [500, "ERROR", "permanent", "COMPONENT_MANAGER_ERROR"],
    [502, undefined, "transient", "COMPONENT_MANAGER_UNREACHABLE"],
    [503, "SERVICE_UNAVAILABLE", "transient", "COMPONENT_MANAGER_UNREACHABLE"],
    [504, "TIMED_OUT", "transient", "COMPONENT_MANAGER_UNREACHABLE"],
  ];
  for (const [status, errorType, kind, code] of answers) {
    it(`takes ${status} ${errorType ?? "without an error type"} as ${kind} ${code}`, () => {
      const error = errorOfAnswer(asked, status, errorType && body(errorType, "What happened."));
      expect(error).to.include({ kind, code, status });
      expect(error.remediation).to.not.equal("");
    });
  }

  it("does not take an error type of a 5xx answer for an answer to the request", () => {
    const error = errorOfAnswer(asked, 503, body("ALREADY_IN_DESIRED_STATE"));
    expect(error.kind).to.equal("transient");
  });

  it("says what was asked of whom, and what the product said, within bounds", () => {
    const error = errorOfAnswer(asked, 500, body("ERROR", "x".repeat(2000), "The EULA was not accepted."));
    expect(error.message).to.match(/^Could not start the remediation of host-12: vc-01 answered 500 ERROR: x/);
    expect(error.message.length).to.be.at.most(500);
    expect(error.causes[0]?.length).to.be.at.most(500);
    expect(error.causes[1]).to.equal("The EULA was not accepted.");
  });

  it("survives any body", () => {
    for (const odd of [
      null,
      undefined,
      "<html>",
      [],
      { messages: "no" },
      { messages: [null, 1, {}] },
      { error_type: 7 },
    ]) {
      expect(errorOfAnswer(asked, 400, odd).code).to.equal("COMPONENT_MANAGER_REFUSED");
    }
  });

  it("takes a lost connection as transient and an untrusted certificate as permanent", () => {
    const lost = errorOfTransport(asked, Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
    expect(lost).to.include({ kind: "transient", code: "COMPONENT_MANAGER_UNREACHABLE" });
    const untrusted = errorOfTransport(
      asked,
      Object.assign(new Error("self-signed"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
    );
    expect(untrusted).to.include({ kind: "permanent", code: "COMPONENT_MANAGER_CERTIFICATE" });
  });

  it("concludes nothing from an answer that it does not understand", () => {
    expect(errorOfShape(asked, "status")).to.include({ kind: "permanent", code: "COMPONENT_MANAGER_ANSWER_INVALID" });
  });
});
