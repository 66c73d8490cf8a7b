"""Tells Schemathesis about this shop, and records requests and answers.

A name that was made up at random is sold nowhere: most of them become an item that is on sale and a strategy that there
is. Each strategy sells an item of its own, because no two need agree on how a counter is kept, or on whose orders they know.
"""
import json, os, re, zlib

import schemathesis

STRATEGIES = os.environ["FUZZ_STRATEGIES"].split()
RECORD = open(os.environ["FUZZ_RECORD"], "a", buffering=1)
# The strategy of a request without X-Strategy.
SELLS_THE_ITEM = {"/deduct_stock": ["lua@redis"]}
STEPS = ["lock", "read", "write", "record", "commit", "release"]
FAULT = re.compile(r"(?:crash|(?:pause|block|delay)=[0-9]{1,5})(?:@([a-z-]+)(\+?))?")


def one_of(names, text):
    """The same text picks the same name, so that a seed repeats its requests."""
    return names[zlib.crc32(text.encode()) % len(names)]


def often(text):
    return zlib.crc32(text.encode()) % 8 > 0


def harmless(fault):
    """Replaces faults that end an instance, so that an instance that dies of a request is noticed."""
    asked = FAULT.fullmatch(fault)
    if not asked:
        return fault
    step, after = asked.groups()
    return f"pause=1@{one_of(STEPS, step)}{after}" if step else "pause=1"


def change_headers(headers, path):
    strategy = headers.get("X-Strategy")
    if strategy is not None and (strategy in STRATEGIES or often(strategy)):
        headers["X-Strategy"] = one_of(SELLS_THE_ITEM.get(path, STRATEGIES), strategy)
    if "X-Fault" in headers:
        headers["X-Fault"] = harmless(headers["X-Fault"])
    if re.fullmatch("[0-9]{1,4}", headers.get("X-Work-Ms", "")):
        headers["X-Work-Ms"] = str(int(headers["X-Work-Ms"]) % 3)


def change_body(body, strategy):
    for name, value in body.items():
        # JSON Schema takes 1.0 for an integer; the document says in its text that the shop does not.
        if isinstance(value, float) and value.is_integer():
            body[name] = int(value)
    if isinstance(body.get("fault"), str):
        body["fault"] = harmless(body["fault"])
    item = body.get("item")
    if isinstance(item, str) and re.fullmatch("[A-Za-z0-9._-]{1,64}", item) and often(item):
        body["item"] = f"fuzz-{STRATEGIES.index(strategy)}" if strategy in STRATEGIES else "fuzz"


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Ignores answers that Schemathesis takes for wrong and that are right."""
    headers = case.headers or {}
    # The document cannot express that a key was used for another purchase before.
    reused = "urn:oversell:key-reused" in response.text
    # Any request may bring an undocumented header, and a single 0 does not match the pattern.
    judged_wrongly = "x-schemathesis-unknown-property" in headers or headers.get("X-Fault") == "0"
    return not reused and not judged_wrongly


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    change_headers(headers, case.path)
    if isinstance(case.body, dict):
        change_body(case.body, headers.get("X-Strategy"))


@schemathesis.hook
def after_call(context, case, response):
    record = {"operation": f"{case.method} {case.path}", "status": response.status_code}
    if response.status_code == 201:
        body = case.body if isinstance(case.body, dict) else {}
        record |= {
            "sold": response.json(),
            "asked": {"item": body.get("item", "sku-1"), "quantity": body.get("quantity", 1)},
            "strategy": (case.headers or {}).get("X-Strategy"),
            "again": "idempotent-replayed" in response.headers,
        }
    RECORD.write(json.dumps(record) + "\n")
