"""Buys through nginx until it is stopped, and prints the number of answers and those that leave the outcome unknown."""

import collections
import http.client
import json
import signal
import sys
import threading

port, buyers = int(sys.argv[1]), 8
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
said = collections.Counter()


def buy(number):
    body = json.dumps({"item": "sku-1", "quantity": 1, "buyer": f"ci-{number}"})
    shop = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while not stop.wait(0.005):
        try:
            shop.request("POST", "/purchases", body, {"content-type": "application/json"})
            answer = shop.getresponse()
            answer.read()
            said[answer.status] += 1
        except OSError as error:
            said[type(error).__name__] += 1
            shop.close()


threads = [threading.Thread(target=buy, args=[number]) for number in range(buyers)]
for thread in threads:
    thread.start()
print("buying", flush=True)
for thread in threads:
    thread.join()
# Sold, sold out and busy; any other answer leaves the outcome unknown.
unknown = sum(count for status, count in said.items() if status not in (201, 409, 503))
print(json.dumps({"answers": sum(said.values()), "unknown": unknown, "said": {str(k): v for k, v in said.items()}}))
sys.exit(unknown != 0)
