#!/usr/bin/env python3
"""usage: sdk_layers.py STATE_H LIBRARY    the SDK's files call only files of the layers that state.h lists before theirs"""
import re
import subprocess
import sys


def layers_of(header):
    """File name -> number of its layer, from the comments that begin with the names of files."""
    layers = {}
    for number, names in enumerate(re.findall(r"^/\* ((?:\w+\.c, )*\w+\.c): ", header, re.MULTILINE)):
        layers.update((name, number) for name in names.split(", "))
    return layers


def symbols_of(library):
    """(File, symbol) of what each file defines, and of what it takes from others."""
    defined, used = {}, set()
    listing = subprocess.run(["nm", "-A", library], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        where, kind, symbol = re.fullmatch(r"(.*:)[0-9a-f ]* (\w) (\S+)", line).groups()
        name = re.search(r"(\w+\.c)\.o:$", where).group(1)
        if kind == "U":
            used.add((name, symbol))
        elif kind.isupper():
            defined[symbol] = name
    return defined, used


def main():
    layers = layers_of(open(sys.argv[1], encoding="utf-8").read())
    defined, used = symbols_of(sys.argv[2])
    faults = [f"{name}: no layer of it in {sys.argv[1]}" for name in sorted(set(defined.values()) - set(layers))]
    calls = sorted((user, defined[symbol], symbol) for user, symbol in used if symbol in defined)
    if not calls:
        faults.append(f"{sys.argv[2]}: no file calls another, which cannot be")
    for user, owner, symbol in calls:
        if user in layers and owner in layers and layers[owner] >= layers[user]:
            faults.append(f"{user} uses {symbol} of {owner}, which is not below it")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
