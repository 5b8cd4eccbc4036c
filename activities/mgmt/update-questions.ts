import type { ManagementServerSettings } from "../activity-dependencies";
import { DriverError } from "../drivers/driver-error";
import { textsOf } from "../drivers/vapi/vapi-models";
import type { Answers } from "../drivers/vcsa/vcsa-client";
import type { UpdatePrecheck } from "../drivers/vcsa/vcsa-models";
import type { Finding } from "../prechecks/precheck";

/** The answers that an installation wants: from the inventory, else the product's own defaults. */
export function answersTo({ questions }: UpdatePrecheck, { answers }: ManagementServerSettings): Answers {
  return Object.fromEntries(
    questions.flatMap(({ data_item, default_answer }) => {
      const answer = answers[data_item] ?? default_answer;
      return answer === undefined ? [] : [[data_item, answer]];
    }),
  );
}

/** What a check of an update finds: the product's own errors, and questions that nobody has answered. */
export function findingsOfUpdate(
  server: string,
  precheck: UpdatePrecheck,
  settings: ManagementServerSettings,
): Finding[] {
  const answers = answersTo(precheck, settings);
  return [
    ...textsOf(precheck.issues?.errors).map((text) => ({
      code: "MGMT_UPDATE_NOT_POSSIBLE",
      message: `The management server's own check of the update: ${text}`,
      remediation: "Resolve what the check reports, then try again.",
    })),
    ...precheck.questions
      .filter(({ data_item }) => answers[data_item] === undefined)
      .map(({ data_item, text }) => ({
        code: "MGMT_QUESTION_UNANSWERED",
        message: `The update of ${server} asks for ${data_item}: ${text.default_message}`,
        remediation: `Set the answer to ${data_item} of this management server in the inventory, then try again.`,
        context: { dataItem: data_item },
      })),
  ];
}

/** The first finding as the error of a step. */
export function errorOfFinding({ code, message, remediation }: Finding): DriverError {
  return new DriverError({ kind: "permanent", code, message, remediation });
}
