"""A flash sale in Python, to be put on trial: docs/contract.md describes its routes, README.md how to try it.

It sells from Redis in two ways: one trusts the stock that it read, the other checks it again when it writes.
It needs the standard library only, so it speaks to Redis by hand.
"""
import argparse
import hmac
import json
import os
import re
import signal
import socket
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

REDIS = urlsplit(os.environ["OVERSELL_REDIS_URL"])
TOKEN = os.environ["OVERSELL_ADMIN_TOKEN"]
PROCESS = str(uuid.uuid4())


class Redis:
    """One connection for one request: a late answer cannot be taken for that of another command."""

    def __enter__(self):
        if REDIS.scheme.endswith("unix"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(5)
            self.socket.connect(unquote(REDIS.path))
        else:
            self.socket = socket.create_connection((REDIS.hostname, REDIS.port or 6379), timeout=5)
        self.answers = self.socket.makefile("rb")
        if REDIS.password:
            self("AUTH", REDIS.username or "default", unquote(REDIS.password))
        return self

    def __exit__(self, *_):
        self.answers.close()
        self.socket.close()

    def __call__(self, *words):
        words = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.answer()

    def answer(self):
        line = self.answers.readline()
        if not line.endswith(b"\r\n") or line.startswith(b"-"):
            raise OSError(f"Redis: {line}")
        kind, rest = line[:1], line[1:-2].decode()
        if rest == "-1" and kind in b"$*":
            return None
        if kind == b"$":
            return self.answers.read(int(rest) + 2)[:-2].decode()
        return [self.answer() for _ in range(int(rest))] if kind == b"*" else rest


# Both ways sell `quantity` of the `left` units that were seen a moment ago, and return what the ledger then holds of
# the order, or None when it is too late. Counter and ledger change together: a crash between them would lose a unit.


def read_then_write(redis, stock, orders, order, entry, left, quantity):
    """Trusts the stock that it read. A sale in between is overwritten, and the same unit is sold again."""
    redis("MULTI")
    redis("SET", stock, left - quantity)
    redis("HSET", orders, order, entry)
    redis("EXEC")
    return entry


def script(redis, stock, orders, order, entry, left, quantity):
    """Checks the stock again in a script, which Redis runs as a whole before any other command."""
    return redis("EVAL", LOOK_AND_TAKE, 2, stock, orders, order, entry, quantity)


LOOK_AND_TAKE = """
local before = redis.call('HGET', KEYS[2], ARGV[1])
if before then return before end
if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[3]) then return false end
redis.call('DECRBY', KEYS[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return ARGV[2]
"""

# Name, function, and the threats that it claims to survive.
STRATEGIES = {
    "read-then-write@redis": (read_then_write, []),
    "script@redis": (script, ["crowd", "second-instance", "crashed-holder"]),
}


def is_name(text):
    return isinstance(text, str) and re.fullmatch("[A-Za-z0-9._-]{1,64}", text)


def keys(item):
    return "stock:{%s}" % item, "orders:{%s}" % item


class Handler(BaseHTTPRequestHandler):
    """What both listeners have in common. HTTP/1.0: a connection ends with its answer."""

    timeout = 30

    def answer(self):
        try:
            status, body = self.route()
        except Exception as error:  # The outcome is unknown: neither "busy" nor "sold out" would be true.
            self.log_error("%r", error)
            status, body = 500, None
        text = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Instance", self.server.instance)
        # Without it an answer that a crash cuts off looks like a whole one, and a sale like one without an order.
        self.send_header("Content-Length", str(len(text)))
        self.send_header("X-Process", PROCESS)  # A killed instance may be back before it is missed.
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_request(self, *_):
        """Logs nothing: a line for each purchase would be its slowest part."""

    def body(self):
        """The JSON object that was sent, or an empty one, in which everything is missing."""
        try:
            length = int(self.headers.get("Content-Length", 0))
            value = json.loads(self.rfile.read(length)) if 0 < length <= 4096 else None
        except ValueError:
            value = None
        return value if isinstance(value, dict) else {}

    def is_admin(self):
        return hmac.compare_digest(self.headers.get("Authorization", "").encode(), f"Bearer {TOKEN}".encode())


class Public(Handler):
    """The public listener."""

    def route(self):
        asked = f"{self.command} {self.path}"
        if asked == "GET /strategies":
            told = [(name, way.__doc__, claims) for name, (way, claims) in STRATEGIES.items()]
            return 200, [{"name": n, "store": "redis", "summary": s, "claims": c} for n, s, c in told]
        with Redis() as redis:
            if asked == "GET /readyz":
                return 200, redis("PING")
            return self.buy(redis) if asked == "POST /purchases" else (404, None)

    def buy(self, redis):
        wish, key = self.body(), self.headers.get("Idempotency-Key") or str(uuid.uuid4())
        item, quantity, buyer = wish.get("item"), wish.get("quantity"), wish.get("buyer")
        sell, _ = STRATEGIES.get(self.headers.get("X-Strategy", "script@redis"), (None, None))
        work_ms = self.headers.get("X-Work-Ms", "0")
        is_wish = all(map(is_name, (item, buyer, key))) and type(quantity) is int and 0 < quantity < 10**9
        if not is_wish or not sell or not re.fullmatch("[0-9]{1,4}", work_ms):
            return 422, None
        # The key alone makes the id, so that every instance knows a repeat again.
        order = str(uuid.uuid5(uuid.NAMESPACE_OID, key))
        entry = {"quantity": quantity, "buyer": buyer, "idempotency_key": key}
        stock, orders = keys(item)
        # The counter first: if this very order empties it meanwhile, the order is found, and the answer is not "sold out".
        left, sold = redis("GET", stock), redis("HGET", orders, order)
        if left is None:
            return 404, None
        if sold is None and int(left) >= quantity:
            # The race window: what a real shop does between looking and selling, such as asking for the price.
            time.sleep(int(work_ms) / 1000)
            if self.headers.get("X-Fault") == "crash@write" and self.is_admin():
                os.kill(os.getpid(), signal.SIGKILL)  # A real crash: there is no time to tidy up.
            sold = sell(redis, stock, orders, order, json.dumps(entry), int(left), quantity)
        if sold is None:
            return 409, None
        if json.loads(sold) != entry:
            return 422, None
        return 201, {"order": order, "item": item, "quantity": quantity, "instance": self.server.instance}


class Admin(Handler):
    """The admin listener, which opens and closes sales. Never put it behind a proxy."""

    def route(self):
        if not self.is_admin():
            return 401, None
        folder, _, item = self.path.rpartition("/")
        if folder != "/sales" or not is_name(item) or self.command not in ("PUT", "DELETE"):
            return 404, None
        wish = {"stock": 0} if self.command == "DELETE" else self.body()
        if set(wish) != {"stock"} or type(wish["stock"]) is not int or wish["stock"] < 0:
            return 422, None
        with Redis() as redis:
            redis("MULTI")
            redis("DEL", *keys(item))
            if self.command == "PUT":
                redis("SET", keys(item)[0], wish["stock"])
            redis("EXEC")
        return (200, wish) if self.command == "PUT" else (204, None)


class Listener(ThreadingHTTPServer):
    request_queue_size = 1024  # A crowd comes at one moment.

    def __init__(self, address, handler, instance):
        self.instance = instance
        host, port = address.rsplit(":", 1)
        super().__init__((host, int(port)), handler)


class SharedListener(Listener):
    def server_bind(self):
        # Instances may share one port: Linux then spreads new connections over them, as a proxy would.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="One instance of the shop.")
    for name in ("--instance", "--listen", "--admin-listen"):
        options.add_argument(name, required=True)
    options = options.parse_args()
    # The admin listener last: when it is open, buyers are served.
    public = SharedListener(options.listen, Public, options.instance)
    threading.Thread(target=public.serve_forever, daemon=True).start()
    Listener(options.admin_listen, Admin, options.instance).serve_forever()
