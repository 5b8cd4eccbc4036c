"""Rules of the service that Schemathesis does not know, which its run checks beside its own."""

import schemathesis

# What an answer says of a request that is not what the document describes. What it names may still not exist.
UNREADABLE = {
    "INVALID_PARAMETER",
    "MISSING_BODY",
    "MALFORMED_JSON",
    "MALFORMED_URL",
    "MALFORMED_HTTP",
    "BODY_NOT_UTF8",
    "UNSUPPORTED_CONTENT_TYPE",
    "METHOD_NOT_ALLOWED",
    "PATH_NOT_FOUND",
}
# INVALID_FIELD and MISSING_FIELD also tell of fields that do not fit together; so does nothing that a codec says.
OF_CODECS = {"Correct the field; /openapi.json describes every field.", "Add the field."}


def _refusals(error):
    """What an Error and those nested in it say of a request that could not be read."""
    if error.get("errorCode") in UNREADABLE or error.get("remediationMessage") in OF_CODECS:
        yield error["message"]
    for nested in error.get("nestedErrors", []):
        yield from _refusals(nested)


@schemathesis.hook
def before_call(context, case, kwargs):
    """A cancellation is accepted whatever else its body says, so a wrong body must not be one (docs/openapi.md)."""
    if case.operation.label != "PATCH /v1/upgrades/{id}" or case.meta is None or not case.meta.generation.mode.is_negative:
        return
    if isinstance(case.body, dict) and case.body.get("markForCancellation") is True:
        case.body = {**case.body, "markForCancellation": False}


@schemathesis.check
def valid_data_is_readable(ctx, response, case):
    """What the document describes is never refused as if it were not so, whatever its status is."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code < 400:
        return
    refusals = list(_refusals(response.json()))
    if refusals:
        raise AssertionError(f"The document describes this request, but it was refused: {' '.join(refusals)}")


@schemathesis.check
def failures_can_be_acted_on(ctx, response, case):
    """Every failure is the specification's Error, and says what to do next."""
    if response.status_code < 400 or case.method == "HEAD":
        return
    error = response.json()
    lacking = [
        name
        for name in ("errorCode", "errorType", "message", "remediationMessage", "referenceToken")
        if not error.get(name)
    ]
    if lacking:
        raise AssertionError(f"The Error lacks {', '.join(lacking)}")
    if response.headers.get("x-request-id") != [error["referenceToken"]]:
        raise AssertionError("x-request-id is not the referenceToken")
