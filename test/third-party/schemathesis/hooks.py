"""Rules of the service that Schemathesis does not know, which its run checks beside its own."""

import schemathesis

# What an answer says of a request that is not what the document describes. What it names may still not exist.
UNREADABLE = {
    "INVALID_FIELD",
    "INVALID_PARAMETER",
    "MISSING_FIELD",
    "MISSING_BODY",
    "MALFORMED_JSON",
    "MALFORMED_URL",
    "MALFORMED_HTTP",
    "BODY_NOT_UTF8",
    "UNSUPPORTED_CONTENT_TYPE",
    "METHOD_NOT_ALLOWED",
    "PATH_NOT_FOUND",
}


def _codes(error):
    yield error.get("errorCode")
    for nested in error.get("nestedErrors", []):
        yield from _codes(nested)


@schemathesis.check
def valid_data_is_readable(ctx, response, case):
    """What the document describes is never refused as if it were not so, whatever its status is."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code < 400:
        return
    found = UNREADABLE.intersection(_codes(response.json()))
    if found:
        raise AssertionError(f"The document describes this request, but it was answered with {', '.join(sorted(found))}")


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
