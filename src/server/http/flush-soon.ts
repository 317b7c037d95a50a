/** Flushes connections together: each write wakes up a client, and writing in a row finds most of them awake. */

interface Flushable {
  flush(): void;
}

/** Connections with responses to send at the end of this turn of the event loop. */
let waiting: Flushable[] = [];

/** Flushes a connection at the end of this turn of the event loop. */
export function flushSoon(connection: Flushable): void {
  if (waiting.push(connection) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  const due = waiting;
  waiting = [];
  for (const connection of due) connection.flush();
}
