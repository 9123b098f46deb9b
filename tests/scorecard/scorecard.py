#!/usr/bin/env python3
"""How good the predicted gains are: records every run of the grid, lets diagnose try every fix it prints, and compares.

usage: scorecard.py BIN [--part NAME] [--quick] [--keep FOLDER] [--json | --markdown]

BIN is the folder of the programs. Results are kept in FOLDER, one file a run, and not measured again by a later call with the
same programs and the same line. Exit status: 0 done, 1 a run of the grid failed (the others are reported), 2 usage.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leaves nothing in the source tree
import figures

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def read_grid(path):
    """[(part, quick, variables, words)], in the order of the file."""
    runs, part, quick = [], None, False
    with open(path, encoding="utf-8") as grid:
        for number, line in enumerate(grid, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            where = f"{path}:{number}"
            if line.startswith("["):
                names = line.strip("[]").split()
                if not names or names[1:] not in ([], ["quick"]):
                    raise SystemExit(f"{where}: a section is [part] or [part quick], not {line}")
                part, quick = names[0], len(names) == 2
                continue
            seeds, *words = shlex.split(line)
            variables = {}
            while words and "=" in words[0]:
                name, value = words.pop(0).split("=", 1)
                variables[name] = value
            if part is None or not words or not all(seed.isdigit() or seed == "-" for seed in seeds.split(",")):
                raise SystemExit(f"{where}: a line is SEEDS [VARIABLE=VALUE...] PROGRAM ARGUMENT..., below a [part]")
            for seed in seeds.split(","):
                runs.append((part, quick, variables, words + ([] if seed == "-" else ["--seed", seed])))
    return runs


def line_of(run):
    _, _, variables, words = run
    return shlex.join([f"{name}={value}" for name, value in variables.items()] + words)


class Failure(Exception):
    pass


def call(words, environment, accepted=(0,)):
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in accepted:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Failure(f"{os.path.basename(words[0])} {words[1]} ended with {done.returncode}: {last}")
    return done


def measure(programs, run):
    """Every finding's fixes of one run of the grid, each with its prediction and what was measured."""
    _, _, variables, words = run
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DM_")}
        # The driver's files of this run are its own, so that runs beside each other do not set each other's.
        environment.update(variables, PATH=programs + os.pathsep + environment.get("PATH", ""), LC_ALL="C", TMPDIR=folder,
                           XDG_RUNTIME_DIR=folder, XDG_DATA_HOME=folder)
        dmprof, recording = os.path.join(programs, "dmprof"), os.path.join(folder, "run.dmprof")
        call([dmprof, "run", "-o", recording, "--"] + words, environment)
        plain = json.loads(call([dmprof, "diagnose", recording, "--json"], environment).stdout)
        printed = [(f["rule"], x["knob"], x["to"]) for f in plain["findings"] for x in f["fixes"]]
        # 3: there is no fix to try.
        tried = call([dmprof, "diagnose", recording, "--verify", "--all", "--yes", "--json"], environment, accepted=(0, 3))
        findings = json.loads(tried.stdout)["findings"] if tried.returncode == 0 else plain["findings"]
    fixes = [dict(rule=f["rule"], **{key: x[key] for key in ("knob", "from", "to", "predicted_gain", "gain_reason", "measured_gain")})
             for f in findings for x in f["fixes"]]
    if sorted((x["rule"], x["knob"], x["to"]) for x in fixes) != sorted(printed):
        raise Failure("diagnose printed other fixes with --verify than without")
    return {"line": line_of(run), "findings": [f["rule"] for f in findings], "fixes": fixes}


def identity(programs):
    digest = hashlib.sha256()
    for name in ("dmprof", "dm-simcard", "dm-engine"):
        path = os.path.join(programs, name)
        if os.path.exists(path):
            with open(path, "rb") as program:
                digest.update(program.read())
    return digest.hexdigest()


def results(programs, runs, keep, beside):
    """[(run, result or Failure)]; each is kept as soon as it is there."""
    os.makedirs(keep, exist_ok=True)
    programs_are = identity(programs)

    def one(run):
        name = hashlib.sha256((programs_are + line_of(run)).encode()).hexdigest()[:16]
        path = os.path.join(keep, name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as kept:
                return json.load(kept)
        try:
            result = measure(programs, run)
        except Failure as failure:
            return failure
        with open(path + ".part", "w", encoding="utf-8") as kept:
            json.dump(result, kept)
        os.replace(path + ".part", path)
        return result

    with concurrent.futures.ThreadPoolExecutor(beside) as pool:
        for index, (run, result) in enumerate(zip(runs, pool.map(one, runs)), 1):
            print(f"{index} of {len(runs)}: {line_of(run)}", file=sys.stderr)
            yield run, result


def main():
    parser = argparse.ArgumentParser(description="How good the predicted gains are.")
    parser.add_argument("programs", metavar="BIN")
    parser.add_argument("--grid", default=os.path.join(HERE, "grid.txt"))
    parser.add_argument("--part", action="append", help="only this part of the grid; may be given again")
    parser.add_argument("--quick", action="store_true", help="only the lines marked quick")
    parser.add_argument("--keep", help="folder of results that are not measured again")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    options = parser.parse_args()

    runs = read_grid(options.grid)
    unknown = set(options.part or []) - {run[0] for run in runs}
    if unknown:
        raise SystemExit(f"{options.grid}: there is no part {', '.join(sorted(unknown))}")
    runs = [run for run in runs if (not options.part or run[0] in options.part) and (run[1] or not options.quick)]
    parts, failures = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        for part in dict.fromkeys(run[0] for run in runs):
            # Runs in virtual time do not disturb each other; those that are timed have the machine to themselves.
            beside = os.cpu_count() if part == "card" else 1
            parts[part] = []
            own = [run for run in runs if run[0] == part]
            for run, result in results(os.path.abspath(options.programs), own, options.keep or scratch, beside):
                if isinstance(result, Failure):
                    failures.append({"line": line_of(run), "because": str(result)})
                    print(f"FAILED: {line_of(run)}: {result}", file=sys.stderr)
                else:
                    parts[part].append(result)
    cards = {part: figures.scorecard(measured) for part, measured in parts.items()}
    if options.json:
        print(json.dumps({"parts": cards, "failures": failures}, indent=1))
    else:
        print(figures.text(cards, failures, markdown=options.markdown), end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
