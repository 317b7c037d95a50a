#!/usr/bin/env bash
# Acts as npm with a registry and as gh with releases, which are files in $SERVICES. The call whose number is in $FAILURE
# fails, "before" or "after" its effect.
set -euo pipefail
echo >> "$SERVICES/calls"
call=$(wc -l < "$SERVICES/calls")
[[ $FAILURE != "before $call" ]] || exit 1
releases=$SERVICES/releases
case "${0##*/} $1 $2 ${3-}" in
  "npm pack plantstore@1.0.0 ") cp "$SERVICES/registry.tgz" plantstore-1.0.0.tgz ;;
  "npm publish ./plantstore-1.0.0.tgz "*)
    [[ ! -e $SERVICES/registry.tgz ]] || exit 1
    cp "$2" "$SERVICES/registry.tgz" ;;
  "gh release list "*) ls "$releases" ;;
  "gh release create v1.0.0")
    [[ $4 = --draft && "${*: -2:1}" = --notes-file ]] || exit 1
    mkdir "$releases/v1.0.0"
    cp "${*: -1}" "$releases/v1.0.0/notes" ;;
  "gh release upload v1.0.0")
    [[ $4 = --clobber ]] || exit 1
    shift 4
    cp "$@" "$releases/v1.0.0" ;;
  "gh release edit v1.0.0")
    [[ $4 = --draft=false ]] || exit 1
    touch "$releases/v1.0.0/is-public" ;;
  *) exit 1 ;;
esac
[[ $FAILURE != "after $call" ]]
