"""An instance behind a name whose addresses change at every question: one address answers, two reach nobody.

It serves both at the address of its argument, the gateway of a network of Docker: names at port 53, purchases at port 8080.
"""

import http.server
import itertools
import socket
import socketserver
import struct
import sys
import threading

GATEWAY = sys.argv[1]
# High addresses, which the engine has given to no container.
NOBODY = itertools.cycle(range(201, 251))


def records(question):
    """The answer to a question for addresses (RFC 1035); none to any other."""
    end = question.index(b"\0", 12) + 5
    asked = question[end - 4 : end - 2]
    found = []
    if asked == b"\0\1":
        found = [GATEWAY] + [f"{GATEWAY.rpartition('.')[0]}.{next(NOBODY)}" for _ in range(2)]
    head = question[:2] + struct.pack("!HHHHH", 0x8180, 1, len(found), 0, 0) + question[12:end]
    return head + b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 1, 4) + socket.inet_aton(each) for each in found)


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        question, answers = self.request
        answers.sendto(records(question), self.client_address)


class Instance(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(409)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


names = socketserver.ThreadingUDPServer((GATEWAY, 53), Names)
threading.Thread(target=names.serve_forever, daemon=True).start()
instance = http.server.ThreadingHTTPServer((GATEWAY, 8080), Instance)
print("serving", flush=True)
instance.serve_forever()
