#!/usr/bin/env python3
"""The include lint finds what it exists for: each case is a file and the violation it must (or must not) give."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import include_table  # noqa: E402

CASES = [
    # path, line, part of the message or None when it is allowed
    ("dmprof/store/a.cc", '#include "dmprof/event/event.h"', None),
    ("dmprof/store/a.cc", '#include "dmprof/store/reader.h"', None),
    ("dmprof/store/a.cc", '#include "dmprof/ring/reader.h"', "dmprof/store must not include"),
    ("dmprof/ring/a.cc", '#include "dmprof/sdk/abi.h"', None),
    ("dmprof/ring/a.cc", '#include "dmprof/sdk/dmprof.h"', "must not include"),
    ("dmprof/event/a.h", '#include "dmprof/sdk/abi.h"', "must not include"),
    ("dmprof/event/a.h", '#include "event.h"', "from the repository's root"),
    ("collectors/attach/a.cc", '#include "dmprof/store/writer.h"', "must not include"),
    ("collectors/pmu/a.cc", '#include "collectors/attach/attach.h"', "must not include"),
    ("collectors/cupti/a.cc", '#include "dmprof/base/error.h"', "must not include"),
    ("collectors/pmu/a.cc", "#include <cupti.h>", "only collectors/cupti"),
    ("analyzers/cache/a.cc", '#include "dmprof/cachemodel/policy.h"', None),
    ("analyzers/latency/a.cc", '#include "dmprof/cachemodel/policy.h"', "must not include"),
    ("analyzers/latency/a.cc", '#include "analyzers/cache/cache.h"', "must not include"),
    ("rules/engine/a.cc", '#include "analyzers/specdec/specdec.h"', None),
    ("analyzers/cache/a.cc", '#include "dmprof/store/writer.h"', "must not include"),
    ("analyzers/cache/a.cc", '#include "dmprof/store/reader.h"', None),
    ("dmprof/decode/a.cc", '#include "dmprof/ring/ring.h"', "must not include"),
    ("rules/engine/a.cc", '#include "dmprof/store/reader.h"', "must not include"),
    ("samples/engine/a.cc", '#include "samples/simcard/card.h"', "must not include"),
    ("samples/engine/model/a.cc", '#include "samples/engine/gguf/gguf.h"', None),
    ("samples/engine/a.cc", '#include "dmprof/store/reader.h"', "must not include"),
    ("dmprof/report/a.cc", '#include "dmprof/cli/main.h"', "must not include"),
    ("dmprof/cli/a.cc", '#include "collectors/attach/attach.h"', None),
    ("dmprof/cli/a.cc", '#include "tests/mocks/vector_sink.h"', "product code must not include"),
    ("dmprof/newfolder/a.cc", "int x;", "no row of the include table"),
]


def main():
    wrong = 0
    for path, line, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(line + "\n")
            found = "\n".join(include_table.violations(pathlib.Path(folder)))
            good = (expected in found) if expected else not found
            if not good:
                wrong += 1
                print(f"{path}: {line}\n  expected {expected!r}, got {found!r}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
