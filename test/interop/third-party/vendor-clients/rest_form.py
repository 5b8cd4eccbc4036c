"""The vendor's vCenter bindings in the form of /api, as it is on the wire.

The bindings of 9.1 are made for JSON-RPC. Their descriptions of the REST calls are complete but for two things: they
expect the envelopes of the older /rest, and they describe no operation that is a task. Both are put right here; paths,
bodies, types and errors stay the vendor's own.
"""

import copy
import time

import requests
from com.vmware.cis_client import Session, Tasks
from com.vmware.vapi.std.errors_client import Error
from vmware.vapi.bindings import stub
from vmware.vapi.lib.connect import get_requests_connector
from vmware.vapi.stdlib.client.factories import StubConfigurationFactory


def describe_as_on_the_wire():
    plain = stub.ApiInterfaceStub.__init__

    def init(self, iface_name, config, operations, rest_metadata=None, is_vapi_rest=None):
        described = dict(rest_metadata or {})
        for name, metadata in (rest_metadata or {}).items():
            task = copy.copy(metadata)
            task._url_template += ("&" if "?" in task._url_template else "?") + "vmw-task=true"
            described[name + "$task"] = task
        plain(self, iface_name, config, operations, described, is_vapi_rest=False)

    stub.ApiInterfaceStub.__init__ = init


describe_as_on_the_wire()


def configuration(url, headers=None, credentials=None):
    """A stub configuration of one HTTP session, with its headers or its credentials of HTTP Basic."""
    session = requests.Session()
    session.headers.update(headers or {})
    session.auth = credentials
    connector = get_requests_connector(session=session, msg_protocol="rest", url=url)
    return StubConfigurationFactory.new_std_configuration(connector)


class Manager:
    """A session of one user, and the wait for a task's end."""

    def __init__(self, url):
        api = url + "/api"
        token = Session(configuration(api, credentials=("operator", "any"))).create()
        self.stub = configuration(api, {"vmware-api-session-id": token})
        self.tasks = Tasks(self.stub)

    def end(self, task):
        return until(lambda: self.tasks.get(task.get_task_id()), lambda info: info.status in ("SUCCEEDED", "FAILED"))


def until(read, fits, seconds=60):
    """What is read as soon as it fits; while the server is away it is asked again."""
    deadline = time.time() + seconds
    seen = None
    while time.time() < deadline:
        try:
            seen = read()
            if fits(seen):
                return seen
        except (Error, requests.ConnectionError) as error:
            seen = error
        time.sleep(0.05)
    raise TimeoutError(f"still {seen}")


def refused(call):
    """The product's word for why it does not take a call."""
    try:
        call()
    except Error as error:
        return error.error_type or type(error).__name__
    return "it was taken"


def fault(url, request):
    requests.post(url + "/simulator/faults", json=request, timeout=5).raise_for_status()
