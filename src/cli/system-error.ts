/** What the system says went wrong. */

/** The reason alone, such as `EACCES: permission denied`: the sentence that it ends has named the path already. */
export function toSystemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // What the system calls it leaves people wondering what was illegal.
  if (message.startsWith("EISDIR")) return "it is a directory";
  return message.replace(/^(E[A-Z0-9]+: [^,]+), .*$/s, "$1");
}
