import { describe, expect, it } from "vitest";
import { mintToken } from "../../src/auth/token.ts";
import { splitCommand } from "../../src/cli/command-words.ts";

describe("a command line", () => {
  it.each([
    ["pass show plants", ["pass", "show", "plants"]],
    ["  pass   show ", ["pass", "show"]],
    [`pass 'a b' "c d" e\\ f`, ["pass", "a b", "c d", "e f"]],
    [`sh -c 'pass show plants | head -1'`, ["sh", "-c", "pass show plants | head -1"]],
    [`echo "a\\"b" "c\\\\d" "e\\f" '' ""`, ["echo", 'a"b', "c\\d", "e\\f", "", ""]],
    [`echo a'b'"c"d a=b --x=#y ü`, ["echo", "abcd", "a=b", "--x=#y", "ü"]],
    ["/usr/bin/pass show", ["/usr/bin/pass", "show"]],
  ])("%s has the words %j", (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  it.each([
    ["", 'must be a program with its arguments, such as "pass show plants"'],
    ["  ", "must be a program"],
    ["''", "must be a program"],
    ["pass 'show", "must have closed quotes"],
    ['pass "show', "must have closed quotes"],
    ["pass \\", "must have closed quotes"],
    ['pass "$HOME"', "no $ or ` between double quotes"],
    ["pass show | head", "contains |, which only a shell understands: quote it, or use sh -c"],
    ["pass show; ls", "contains ;"],
    ["pass $X", "contains $"],
    ["pass `x`", "contains `"],
    ["pass > file", "contains >"],
    ["pass ~/x", "contains ~"],
    ["pass *.gpg", "contains *"],
    ["./pass show", "must begin with the name of a program, or with its absolute path"],
    ["bin/pass show", "must begin with the name of a program, or with its absolute path"],
    ["pass a\nb", "must be one line without control characters"],
    [`echo ${mintToken()}`, "contains a token: name a program that prints it"],
  ])("%j is rejected", (text, problem) => {
    expect(() => splitCommand(text)).toThrow(problem);
  });
});
