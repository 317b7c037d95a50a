"""Sends the load that the argument describes with http.client, which writes head and body apart, and prints the responses."""

import http.client
import json
import sys
import threading
import time
import urllib.parse

load = json.loads(sys.argv[1])
host = urllib.parse.urlsplit(load["url"]).netloc
headers = {"Authorization": "Bearer " + load["token"], "Content-Type": "application/json"}
started = time.perf_counter()
lock = threading.Lock()
sent = 0
latencies = []
rejected = 0


def run_client():
    global sent, rejected
    connection = http.client.HTTPConnection(host)
    while time.perf_counter() - started < load["seconds"]:
        with lock:
            sent += 1
            number = load["sentBefore"] + sent
        body = '{"id":%d,"name":"plant %d","tag":"bench"}' % (number, number)
        began = time.perf_counter()
        connection.request("POST", "/plants", body, headers)
        response = connection.getresponse()
        response.read()
        latencies.append(1000 * (time.perf_counter() - began))
        if response.status != 200:
            with lock:
                rejected += 1


threads = [threading.Thread(target=run_client) for _ in range(load["connections"])]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
seconds = time.perf_counter() - started
ordered = sorted(latencies)
print(
    json.dumps(
        {
            "sent": sent,
            "responses": len(latencies),
            "rejected": rejected,
            "failed": sent - len(latencies),
            "seconds": seconds,
            "p50Ms": ordered[len(ordered) // 2],
            "p99Ms": ordered[len(ordered) * 99 // 100],
        }
    )
)
