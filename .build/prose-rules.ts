/** The language of this project as a rule of textlint: short sentences, and no phrases that are hard to read. */
import type { TextlintRuleModule } from "@textlint/types";
import { SentenceSplitterSyntax, split } from "sentence-splitter";

const maxWords = 30;

/** Phrases to avoid, and what to write instead. */
const phrases: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /^(?:What(?!.*\?$)|Whoever|Whom|Nobody|Those|That which|Of|Beside|Else)\b/,
    "start with the thing that the sentence is about",
  ],
  [/\b(?:whoever|nobody|somebody)\b/i, "name the user, the client or the operator"],
  [/\bof which\b/i, "write two sentences"],
  [/\bin place of\b/i, '"instead of"'],
  [/\bbeside\b/i, '"next to"'],
  [/\banew\b/i, '"again"'],
  [/\bmends?\b/i, '"repair"'],
  [/\b(?:comes?|came) (?:about|of)\b/i, '"happen"'],
  [/\bis (?:told|said)\b/i, '"is reported"'],
  [/\bpass(?:es|ed)? over\b/i, '"skip"'],
  [/\bat the most\b/i, '"at most"'],
  [/\b(?:no|any) more\b(?! than| \w+s\b)(?=[.,;:]|$)/i, '"no longer", or "not again"'],
  [/\bstands (?:for|in|at|behind|there)\b/i, '"is"'],
  [
    /(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|later)\w+/i,
    '"is not", or "is invalid"',
  ],
  [/\bthere (?:is|are) none\b/i, '"None"'],
];

/** Reports long sentences and the phrases above. Each report names the start of the paragraph. */
export const plainEnglish: TextlintRuleModule = ({ getSource, report, RuleError }) => ({
  Paragraph(node) {
    // Code and quotes count as one word. The splitter does not end a sentence after a digit.
    const text = getSource(node).replaceAll(/`[^`]*`|"[^"]*"|\d(?=\.\s)/g, "code");
    const sentences = split(text).filter(({ type }) => type === SentenceSplitterSyntax.Sentence);
    for (const problem of sentences.flatMap(({ raw }) => findProblems(raw))) {
      report(node, new RuleError(problem));
    }
  },
});

function findProblems(sentence: string): readonly string[] {
  const problems = phrases.flatMap(([pattern, advice]) => {
    const [found] = pattern.exec(sentence) ?? [];
    return found === undefined ? [] : [`"${found}": ${advice}`];
  });
  const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (words <= maxWords) return problems;
  return [...problems, `${words} words in "${sentence.slice(0, 50)}…": at most ${maxWords}`];
}
