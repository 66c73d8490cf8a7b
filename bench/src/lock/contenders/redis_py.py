"""Contends for redis-py's lock with its defaults: a client for each instance, a thread for each task.

Says "ready" when all have connected, begins when it is sent a line, and says what it saw as JSON.
"""

import json
import sys
import threading
import time
import uuid

import redis

told = json.loads(sys.argv[1])
name = f"oversell-bench-{uuid.uuid4().hex}"
inside = threading.Lock()
begin = threading.Barrier(told["instances"] * told["tasks"] + 1)
# Changed by one operation each, or by the holder alone.
waiting, released_at, handoffs, violations, tasks = [], [], [], [], []


def contend(client):
    seen = {"acquisitions": 0, "in_time": 0, "longest_wait_s": 0.0}
    # A lock of its own: the connection is made by that, and the scripts are loaded.
    with client.lock(f"oversell-bench-{uuid.uuid4().hex}"):
        pass
    begin.wait()
    begin.wait()
    ends = time.perf_counter() + told["lasts_s"]
    while (came := time.perf_counter()) < ends:
        lock = client.lock(name)
        waiting.append(None)
        had = lock.acquire(blocking_timeout=ends + told["lingers_s"] - came)
        waiting.pop()
        now = time.perf_counter()
        seen["longest_wait_s"] = max(seen["longest_wait_s"], now - came)
        if not had:
            break
        seen["acquisitions"] += 1
        seen["in_time"] += now < ends
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
        time.sleep(max(0.0, min(told["think_s"], ends - time.perf_counter())))
    tasks.append(seen)


clients = [redis.Redis.from_url(told["url"]) for _ in range(told["instances"])]
threads = [
    threading.Thread(target=contend, args=[client], daemon=True)
    for client in clients
    for _ in range(told["tasks"])
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
