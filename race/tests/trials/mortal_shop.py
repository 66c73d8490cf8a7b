"""A shop that is killed: python3 mortal_shop.py PORT DATABASE [hold]. With `hold` no buyer is answered after the purchase."""

import sqlite3
import sys
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, DATABASE = int(sys.argv[1]), sys.argv[2]
HOLDS = sys.argv[3:] == ["hold"]


def connect():
    return sqlite3.connect(DATABASE, timeout=20, isolation_level=None)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        # A writer undoes what a killed one has left half done; a reader cannot.
        with closing(connect()) as database:
            database.execute("begin immediate")
            database.execute("rollback")
        self.answer(200)

    def do_POST(self):
        buyer = self.path.rsplit("/", 1)[1]
        with closing(connect()) as database:
            database.execute("begin immediate")
            sold = database.execute("update items set stock = stock - 1 where stock > 0").rowcount
            if sold:
                database.execute("insert into orders values (?)", (buyer,))
            database.execute("commit")
        if HOLDS:
            threading.Event().wait()
        self.answer(201 if sold else 409)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
