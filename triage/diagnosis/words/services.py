"""What is raised by those who speak with a service: of which kind it is, by its name and by where it was raised.

A client of a web server, a data base, a queue or an object store calls it in its own words that nobody answered, that it
was called out of order, or that an address cannot be one; what it says besides differs from service to service.
"""

from __future__ import annotations

from triage.scan.lazy import compiled

_CLIENTS = frozenset(
    """
    aiobotocore aiohttp aiokafka anthropic asyncpg asyncssh azure boto3 botocore cassandra clickhouse_connect confluent_kafka
    elastic_transport elasticsearch etcd3 gcsfs google grpc http httpcore httpx kafka kubernetes MySQLdb minio mysql nats openai oss2
    paramiko pika psycopg psycopg2 pymongo pymysql redis requests sqlalchemy ssl urllib urllib3 valkey websocket websockets
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
"""Packages by which programs speak with services."""
_UNANSWERED = (
    r"_?\w*(?:Connect(?:ion|or|Timeout)?|Time[Oo]ut|TimedOut|Network|Transport|Proxy|SSL|TLS|Certificate\w*|Disconnected|Redirects"
    r"|(?:Remote)?Protocol|Payload|Chunked\w*|IncompleteRead|Unavailable|MaxRetry|RetryError|DeadlineExceeded|BadGateway|Resolution"
    r"|AutoReconnect|ServerSelection\w*|NoBrokersAvailable|BusyLoading|MasterDown|ClusterDown|NoHostAvailable|ClientOS|ReadError"
    r"|WriteError|CloseError|URL)(?:Errors?|Exception|Closed\w*)?$"
)
"""How they call it when nobody answers, or somebody breaks off."""
_OUT_OF_ORDER = (
    r"(?:(?:Invalid|Illegal)(?:Operation|State|Request|Data)|ResourceClosed|Programming|Interface|Argument|Data|Compile|Unbound\w+"
    r"|DetachedInstance\w*|NotSupported|ResponseNotRead|StreamConsumed|StreamClosed|UnrewindableBody)(?:Error|Exception)?$"
)
"""How they call it when they are used otherwise than they can be."""
_NO_ADDRESS = (
    r"(?:InvalidUR[LI]|InvalidURLClientError|MissingSchema|InvalidSchema|InvalidProxyURL|UnsupportedProtocol|LocationParseError"
    r"|LocationValueError|NoRegionError|InvalidRegionError|ParamValidationError|ProfileNotFound|UnknownServiceError|ConfigParseError"
    r"|ConfigurationError|InvalidEndpoint\w*|InvalidConfigError)$"
)
"""How they call it when what they were given is no address, no region, no bucket."""
_SOCKETS = (
    r"/(?:ssl|socket|http/client|urllib/request|asyncio/(?:sslproto|streams|selector_events))\.py$"
    r"|/site-packages/(?:aiohttp|botocore|httpcore|httpx|requests|urllib3|redis|pymongo|kafka)/"
)
"""Where what is raised is raised of a connection to somebody who is no rank."""
_OF_WAITS = frozenset(["CancelledError", "TimeoutError", "timeout"])
_STATUS = r"\bStatusCode\.([A-Z_]+)"
_OF_STATUS = {
    "DEADLINE_EXCEEDED": "network-config", "PERMISSION_DENIED": "auth-or-hub", "UNAUTHENTICATED": "auth-or-hub",
    "UNAVAILABLE": "network-config",
}  # fmt: skip
"""What the statuses of remote calls tell."""
_KNOCKS = r"/(?:\w+_)?(?:credentials?|auth(?:n|z|entication|ori[sz]ation|_\w+)?|oauth\w*|token_manager|login)\.py$|/(?:auth|oauth2?)/"
"""Where programs ask to be let in."""
_MADE_BY = r"(?i)\bmust (?:be|have)\b|\bexpected\b|\bnot both\b|\bgot\b"


def of_service(whole: str, words: str, path: str) -> str | None:
    """The kind of failure that the full name of an exception tells that a client of a service raises; None where it tells none.

    Args:
        path: where it was raised.
    """
    package, _, rest = whole.partition(".")
    short = rest.rpartition(".")[2] or package
    if short in _OF_WAITS and compiled(_SOCKETS).search(path) is not None:
        return "network-config"
    if not rest or package not in _CLIENTS:
        return None
    if package == "grpc" and (status := compiled(_STATUS).search(words)) is not None:
        return _OF_STATUS.get(status[1])
    if compiled(_NO_ADDRESS).match(short):
        return "config"
    if compiled(_OUT_OF_ORDER).match(short):
        return "user-code"
    return "network-config" if compiled(_UNANSWERED).match(short) else None


def of_a_door(words: str, path: str) -> bool:
    """Whether something failed where a library asks to be let in, and it does not complain of what it was given."""
    return compiled(_KNOCKS).search(path) is not None and compiled(_MADE_BY).search(words) is None
