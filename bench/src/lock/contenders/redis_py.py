"""Contends for the lock of redis-py with its defaults: a client for each instance, a thread for each task.

Prints "ready" when all clients have connected, starts when it reads a line, and prints its report as JSON.
"""

import json
import sys
import threading
import time
import uuid

import redis

arguments = json.loads(sys.argv[1])
name = f"oversell-bench-{uuid.uuid4().hex}"
inside = threading.Lock()
begin = threading.Barrier(arguments["instances"] * arguments["tasks"] + 1)
# Changed by one operation each, or by the holder only.
waiting, released_at, handoffs, violations, tasks = [], [], [], [], []


def contend(client):
    sample = {"acquisitions": 0, "in_time": 0, "longest_wait_s": 0.0}
    # An unshared lock: taking it loads the scripts.
    with client.lock(f"oversell-bench-{uuid.uuid4().hex}"):
        pass
    # All threads hold a connection at once. Otherwise one could use the connection of another thread until now, and
    # would open its own during the measurement.
    with client.client():
        begin.wait()
    begin.wait()
    ends = time.perf_counter() + arguments["lasts_s"]
    while (asked := time.perf_counter()) < ends:
        lock = client.lock(name)
        waiting.append(None)
        is_held = lock.acquire(blocking_timeout=ends + arguments["lingers_s"] - asked)
        waiting.pop()
        now = time.perf_counter()
        sample["longest_wait_s"] = max(sample["longest_wait_s"], now - asked)
        if not is_held:
            break
        sample["acquisitions"] += 1
        sample["in_time"] += now < ends
        if released_at:
            handoffs.append(now - released_at.pop())
        if not inside.acquire(blocking=False):
            violations.append(None)
        time.sleep(0)
        if inside.locked():
            inside.release()
        if waiting:
            released_at[:] = [time.perf_counter()]
        lock.release()
        time.sleep(max(0.0, min(arguments["think_s"], ends - time.perf_counter())))
    tasks.append(sample)


clients = [redis.Redis.from_url(arguments["url"]) for _ in range(arguments["instances"])]
threads = [
    threading.Thread(target=contend, args=[client], daemon=True)
    for client in clients
    for _ in range(arguments["tasks"])
]
for thread in threads:
    thread.start()
begin.wait()
print("ready", flush=True)
sys.stdin.readline()
begin.wait()
for thread in threads:
    thread.join()
print(json.dumps({"tasks": tasks, "handoffs_s": handoffs, "violations": len(violations)}))
