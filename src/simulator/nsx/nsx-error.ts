import type { Answer } from "../http/answering";

const names: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  412: "PRECONDITION_FAILED",
  500: "INTERNAL_SERVER_ERROR",
  503: "SERVICE_UNAVAILABLE",
};

/** An error as the NETVIRT manager answers it. Codes other than 30023 and 30953 are the simulator's own. */
export class NsxError extends Error {
  override readonly name = "NsxError";
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
  ) {
    super(message);
  }

  get answer(): Answer {
    return {
      status: this.status,
      body: {
        httpStatus: names[this.status] ?? "INTERNAL_SERVER_ERROR",
        error_code: this.code,
        module_name: "upgrade-coordinator",
        error_message: this.message,
      },
    };
  }
}
