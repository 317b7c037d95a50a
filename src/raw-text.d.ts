/** A file that is imported as text. The build and vitest both support the suffix. */
declare module "*?raw" {
  const text: string;
  export default text;
}
