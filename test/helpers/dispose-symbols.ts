/** Adds the symbols of explicit resource management to a vm context: Node 20 and 22 add them to the main one only. */
for (const name of ["dispose", "asyncDispose"] as const) {
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}
