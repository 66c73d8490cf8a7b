"""Sends bytes that are no request, or hardly one, and checks the answers."""
import http.client, io, json, random, re, socket
from concurrent.futures import ThreadPoolExecutor

# Seconds after which the sender of an incomplete request hangs up.
PATIENCE = 0.5
ITEM = "fuzz-raw"
BODY = b'{"item":"%s","quantity":2,"buyer":"b-1"}' % ITEM.encode()
HEAD = b"Host: shop\r\nConnection: close\r\nContent-Type: application/json\r\n"
WHOLE = b"POST /purchases HTTP/1.1\r\n%sX-Strategy: lua@redis\r\nContent-Length: %d\r\n\r\n%s" % (HEAD, len(BODY), BODY)

LONG = b"a" * 10_000
GARBAGE = [
    b"", b"\r\n\r\n", b"\0" * 64, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b"GET", b"GET /\r\n", b"GET / HTTP/1.1\r\n\r\n",
    WHOLE[:-1], WHOLE[:40], WHOLE[:-len(BODY)], WHOLE + WHOLE, WHOLE.replace(b"1.1", b"1.0"), WHOLE.replace(b"1.1", b"2.0"),
    WHOLE.replace(b"POST", b"BREW"), WHOLE.replace(b"POST", b"TRACE"), WHOLE.replace(b"POST", b"CONNECT"),
    WHOLE.replace(b"POST", b"P\0ST"), WHOLE.replace(b"/purchases", b"/purch\0ases"),
    WHOLE.replace(b"/purchases", b"/%zz"), WHOLE.replace(b"/purchases", b"/%"), WHOLE.replace(b"/purchases", b"/%ff%00"),
    WHOLE.replace(b"/purchases", b"purchases"), WHOLE.replace(b"/purchases", b"*"), WHOLE.replace(b"/purchases", b"/../.."),
    WHOLE.replace(b"/purchases", b"http://other/purchases"), WHOLE.replace(b"/purchases", b"/" + LONG),
    WHOLE.replace(b"/purchases", b"/" + 100 * LONG), WHOLE.replace(b"shop", LONG), WHOLE.replace(b"shop", 100 * LONG),
    WHOLE.replace(b"Host: shop\r\n", b""), WHOLE.replace(b"Host: shop", b"Host: shop\r\nHost: other"),
    WHOLE.replace(b"Host: shop", b"Host: shop" + 1000 * b"\r\nX-Many: 1"),
    WHOLE.replace(b"Content-Length: ", b"Content-Length: -"), WHOLE.replace(b"Content-Length: ", b"Content-Length: 9999999999"),
    WHOLE.replace(b"Content-Length: ", b"Content-Length: 1\r\nContent-Length: "),
    WHOLE.replace(b"Content-Length: ", b"Transfer-Encoding: chunked\r\nContent-Length: "),
    WHOLE.replace(b"Content-Length: ", b"Transfer-Encoding: zip\r\nX-Length: "),
    WHOLE.replace(b"Content-Length: ", b"Transfer-Encoding: chunked\r\nX-Length: "),
    WHOLE.replace(b"Content-Length: ", b"Expect: 200-never\r\nContent-Length: "),
    WHOLE.replace(b"Content-Length: ", b"Range: bytes=0-0\r\nIf-Match: *\r\nContent-Length: "),
    b"POST /purchases HTTP/1.1\r\n%sContent-Length: 1000000\r\n\r\n%s" % (HEAD, 100 * LONG),
    b"POST /purchases HTTP/1.1\r\n%sContent-Length: 20000\r\n\r\n%s" % (HEAD, 2 * LONG),
]  # fmt: skip


def mutated(chance):
    """Returns the request with one to three bytes, or runs of bytes, changed, left out or repeated."""
    request = bytearray(WHOLE)
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(request))
        end = min(len(request), start + chance.choice([1, 1, 1, 2, 8, 64]))
        some = chance.choice([b"", request[start:end] * 2, chance.randbytes(end - start), b"\r\n", b"\0", b"9", b'"', b"%"])
        request[start:end] = some
    return bytes(request)


def talk(address, request):
    """Returns the answer, read until the connection ends."""
    said = b""
    with socket.create_connection(address, timeout=30) as stream:
        try:
            stream.sendall(request)
            stream.settimeout(PATIENCE)
            while True:
                try:
                    part = stream.recv(65536)
                except TimeoutError:
                    stream.settimeout(30)
                    stream.shutdown(socket.SHUT_WR)
                    continue
                if not part:
                    break
                said += part
        except (ConnectionError, BrokenPipeError):
            pass  # A server that refuses a long request need not read it to its end.
    return said


class Kept(io.BytesIO):
    """Stays open when an answer is read: the next one follows."""

    def makefile(self, mode):
        return self

    def close(self):
        pass


def answers(said):
    """Yields status, media type and body of each answer."""
    stream = Kept(said)
    while stream.tell() < len(said):
        answer = http.client.HTTPResponse(stream)
        answer.begin()
        body = answer.read()
        yield answer.status, answer.headers, body
        if answer.will_close:
            break


def wrong(request, status, headers, body, proxied):
    """Returns the fault of an answer, or None."""
    if status in (500, 502, 504) or status == 503 and not headers["Retry-After"]:
        return "no status for a shop that is well"
    # The HTTP library of an instance refuses bytes that are no HTTP without a body. nginx passes on control characters in a header.
    if status < 400 or not body and (not proxied or status == 400 and re.search(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]", request)):
        return None
    if headers["Content-Type"] != "application/problem+json":
        return "no problem document"
    problem = json.loads(body)
    whole = problem.get("status") == status and {"type", "title", "detail"} <= problem.keys()
    return None if whole else "not the problem document of this status"


def play(address, proxied, count, seed):
    """Sends the garbage, and mutated requests up to `count`. Returns all statuses, the sales and the findings."""
    chance = random.Random(f"{seed} {proxied}")
    requests = GARBAGE + [mutated(chance) for _ in range(count - len(GARBAGE))]
    record, findings = [], []

    def one(request):
        try:
            said = talk(address, request)
            # The answer to HTTP/0.9 is a body alone.
            told = list(answers(said)) if said.startswith(b"HTTP/") else []
        except (OSError, http.client.HTTPException, ValueError) as error:
            return request, [], f"{type(error).__name__}: {error}"
        bad = [why for answer in told if (why := wrong(request, *answer, proxied))]
        return request, told, bad[0] if bad else None

    with ThreadPoolExecutor(32) as crowd:
        for request, told, bad in crowd.map(one, requests):
            if bad:
                findings.append(f"{bad}: {request[:200]!r} was answered {told!r:.300}")
            if not told:
                record.append({"operation": "raw", "status": 0})
            for status, headers, body in told:
                sold = {"sold": json.loads(body), "again": bool(headers["Idempotent-Replayed"])} if status == 201 else {}
                record.append({"operation": "raw", "status": status, "strategy": "lua@redis"} | sold)
    return record, findings
