#!/usr/bin/env python3
"""Checks every #include of the tree against the include table of ARCHITECTURE.md.

usage: include_table.py [ROOT]     exit 0: clean, 1: a line per violation
A folder may always include itself. The longest matching folder of the table is the one that counts.
"""
import pathlib
import re
import sys

BASE = {"dmprof/base"}
SDK = "dmprof/sdk"
READER = {"dmprof/store", "dmprof/event", "dmprof/base"}
ANALYZER = {"analyzers/registry"} | READER
RULES = {"rules/engine", "analyzers", "dmprof/store"} | BASE
HOST = {"dmprof", "collectors", "analyzers", "rules"}

# folder -> folders it may include besides itself (a name covers everything below it)
TABLE = {
    "dmprof/sdk": set(),
    "dmprof/base": set(),
    "dmprof/event": BASE,
    "dmprof/ring": {"dmprof/sdk/abi.h"} | BASE,
    "dmprof/decode": {"dmprof/sdk/abi.h", "dmprof/event"} | BASE,
    "dmprof/store": {"dmprof/event"} | BASE,
    "dmprof/cachemodel": BASE,
    "dmprof/workload": BASE,
    "collectors": {"dmprof/event"} | BASE,
    "collectors/cupti": {SDK},
    "collectors/attach": {"collectors/collector.h", "dmprof/ring", "dmprof/decode", "dmprof/event"} | BASE,
    "collectors/pmu": {"collectors/collector.h", "dmprof/event"} | BASE,
    "collectors/prometheus": {"collectors/collector.h", "dmprof/event"} | BASE,
    "collectors/import": {"collectors/collector.h", "dmprof/event"} | BASE,
    "analyzers": ANALYZER,
    "analyzers/registry": READER,
    "analyzers/cache": ANALYZER | {"dmprof/cachemodel"},
    "analyzers/whatif": ANALYZER | {"analyzers/specdec", "analyzers/cache", "analyzers/roofline", "analyzers/budget", "dmprof/cachemodel"},
    "analyzers/plan": ANALYZER | {"analyzers/specdec"},
    "analyzers/regression": ANALYZER | {"analyzers/budget"},
    # `all` only calls each analyzer's registration, so that no analyzer has to know the others
    "analyzers/all": ANALYZER | {"analyzers"},
    "rules/engine": {"analyzers"} | BASE,
    "dmprof/capture": {"collectors", "dmprof/store", "dmprof/event"} | BASE,
    "dmprof/experiment": {"dmprof/capture", "analyzers"} | BASE,
    "dmprof/calibrate": BASE,
    "dmprof/report": RULES,
    "dmprof/export": RULES,
    "gui/model": RULES,
    "gui/views": {"gui/model"},
    "gui/app": {"gui/model", "gui/views"},
    "dmprof/cli": HOST,
    "samples": {SDK, "dmprof/cachemodel", "dmprof/workload"} | BASE,
    "samples/simcard/fit": {SDK, "dmprof/cachemodel", "dmprof/workload", "analyzers"} | READER,
    "tests": {"dmprof", "collectors", "analyzers", "rules", "gui", "samples"},
}
OURS = ("dmprof/", "collectors/", "analyzers/", "rules/", "gui/", "samples/", "tests/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# analyzers, reports and views read a recording; only these may write one
WRITER = "dmprof/store/writer"
MAY_WRITE = ("dmprof/store", "dmprof/capture", "dmprof/cli", "tests")
# third-party headers that only one folder may know
FENCED = {"cupti.h": "collectors/cupti", "imgui.h": "gui", "sqlite3.h": ("dmprof/store", "rules/engine", "dmprof/cli", "dmprof/export", "tests", "collectors/import"),
          "perfmon/pfmlib.h": "collectors/pmu"}


def owner(path):
    """The longest folder of the table that holds the path, or None."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in TABLE:
            return folder
    return None


def unit(path):
    """The folder whose files see each other freely: one sample, one collector, one analyzer, or the table's own row."""
    parts = path.split("/")
    if parts[0] in ("samples", "collectors", "analyzers") and len(parts) > 2:
        return "/".join(parts[:3]) if parts[:2] == ["collectors", "import"] else "/".join(parts[:2])
    return owner(path)


def violations(root):
    for file in sorted(root.rglob("*")):
        if file.suffix not in (".h", ".hpp", ".c", ".cc", ".cpp") or not file.is_file():
            continue
        path = file.relative_to(root).as_posix()
        if not path.startswith(OURS):
            continue
        row = owner(path)
        if row is None:
            yield f"{path}: no row of the include table covers it; add one to tests/lint/include_table.py and ARCHITECTURE.md"
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found.group(2)
            fence = FENCED.get(target)
            if fence and not path.startswith(fence):
                yield f"{path}:{number}: only {fence} may include {target}"
            if not target.startswith(OURS):
                if found.group(1) == '"':
                    yield f"{path}:{number}: write the path of \"{target}\" from the repository's root"
                continue
            if target.startswith("tests/") and row != "tests":
                yield f"{path}:{number}: product code must not include {target}"
                continue
            if target.startswith(WRITER) and not path.startswith(MAY_WRITE):
                yield f"{path}:{number}: {row} reads recordings, it must not include {target}"
                continue
            if unit(path) == unit(target):
                continue
            if not any(target == name or target.startswith(name.rstrip("/") + "/") for name in TABLE[row]):
                yield f"{path}:{number}: {row} must not include {target}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"include table: {len(found)} violation(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
