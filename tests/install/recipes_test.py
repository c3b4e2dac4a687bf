"""The recipes of packaging/ do what they say, as far as that can be tried without Docker, Apptainer, Spack and EasyBuild:
their steps are carried out here, on what the build made.

    recipes_test.py BUILD ADVISE [ADVISE-STATIC]
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import types

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = SOURCE / "packaging"
BUILD, ADVISE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
STATIC = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
VERSION = re.search(r"^project\(advise VERSION ([\d.]+) ", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, check=False, **options)


def check(condition, text):
    if not condition:
        sys.exit(f"recipes_test.py: {text}")


def package_preset():
    """The folder in which the preset that recipes name builds the program."""
    presets = json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]
    check(any(preset["name"] == "package" for preset in presets), "there is no preset `package`")
    return "build/package/engine/app"


def dockerfile(work):
    """An empty root with what COPY puts there; ENTRYPOINT is run in WORKDIR of it."""
    lines = [line for line in (PACKAGING / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    steps = [line.split(" ", 1) for line in lines]
    known = {"FROM", "COPY", "WORKDIR", "ENTRYPOINT"}
    check({name for name, _ in steps} == known, f"Dockerfile: not {sorted(known)}: {lines}")
    words = dict(steps)
    check(words["FROM"] == "scratch", "Dockerfile: the image is not the program alone")
    comment = (PACKAGING / "Dockerfile").read_text()
    check(f"docker build -t advise -f packaging/Dockerfile {package_preset()}" in comment, "Dockerfile: another context")
    source, target = words["COPY"].split()
    check(source == "advise", "Dockerfile: the context holds no such file")
    entry = json.loads(words["ENTRYPOINT"])
    check(entry == [target], "Dockerfile: what is started is not what was copied")
    if STATIC is None:
        return "without the static program"
    root = work / "image"
    place = root / target.lstrip("/")
    place.parent.mkdir(parents=True)
    place.write_bytes(STATIC.read_bytes())
    place.chmod(0o755)
    folder = root / words["WORKDIR"].lstrip("/")
    folder.mkdir()
    (folder / "a name.json").write_text('{"traceEvents": []}')
    if run("unshare", "-r", "true").returncode != 0:
        return "without a way into another root"
    inside = run("unshare", "-r", "chroot", root, *entry, "--version")
    check(inside.stdout.strip() == f"advise {VERSION}", f"Dockerfile: {inside.stdout}{inside.stderr}")
    read = run("unshare", "-r", "chroot", root, *entry, f"{words['WORKDIR']}/a name.json")
    check("holds no events" in read.stdout + read.stderr, f"Dockerfile: reads no file: {read.stdout}{read.stderr}")
    return "its image runs"


def apptainer(work):
    """%files are what the preset makes, %runscript and %test run."""
    sections = {}
    for line in (PACKAGING / "advise.def").read_text().splitlines():
        if line.startswith("%"):
            section = sections.setdefault(line[1:].strip(), [])
        elif sections and line.strip():
            section.append(line.strip())
    check(set(sections) == {"files", "runscript", "test", "labels"}, f"advise.def: {sorted(sections)}")
    source, target = sections["files"][0].split()
    check(source == f"{package_preset()}/advise", f"advise.def: {source} is not made")
    # The program where %files puts it, under another root.
    place = work / "sif" / target.lstrip("/")
    place.parent.mkdir(parents=True)
    place.symlink_to(ADVISE)
    script = "\n".join(sections["runscript"]).replace(target, str(place))
    check(str(place) in script, "advise.def: %runscript starts something else")
    said = run("sh", "-c", script, "run", "no such file.sqlite")
    check(said.returncode == 3 and "no such file.sqlite" in said.stderr, f"advise.def: arguments are lost: {said.stderr}")
    path = {"PATH": f"{place.parent}:/usr/bin:/bin"}
    test = run("sh", "-ec", "\n".join(sections["test"]), env=path)
    check(test.stdout.strip() == f"advise {VERSION}", f"advise.def: %test: {test.stdout}{test.stderr}")
    return "its scripts run"


def spack():
    """The recipe, with stand-ins for Spack's words: version, options of CMake, and a package for each library."""
    installed = []
    seen = {"version": [], "variant": [], "depends_on": [], "conflicts": [], "generator": [], "license": []}

    class Prefix(str):
        def join(self, name):
            return Prefix(f"{self}/{name}")

    class Package:
        pass

    class CMakePackage:
        # Each package that is depended on has a prefix.
        spec = type("Spec", (), {"__getitem__": lambda self, name: types.SimpleNamespace(prefix=Prefix(f"/spack/{name}"))})()

        def define(self, name, value):
            return f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"

        def define_from_variant(self, name, variant):
            check(variant in [name for name, _ in seen["variant"]], f"Spack: no variant {variant}")
            return f"-D{name}=VARIANT"

    words = types.ModuleType("spack.package")
    words.CMakePackage, words.Package = CMakePackage, Package
    words.install = lambda file, prefix: installed.append(file)
    for name, calls in seen.items():
        setattr(words, name, lambda what, calls=calls, **options: calls.append((what, options)))
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = words
    recipe = {}
    exec((PACKAGING / "spack/packages/advise/package.py").read_text(), recipe)  # noqa: S102
    check((VERSION, {}) in seen["version"], f"Spack: no version {VERSION}")
    check(f"advise@{VERSION}" in (PACKAGING / "spack/packages/advise/package.py").read_text(), "Spack: an old version is told")
    options = dict(option[2:].split("=") for option in recipe["Advise"]().cmake_args())
    cmake = "".join(path.read_text() for path in [SOURCE / "CMakeLists.txt", *(SOURCE / "engine").glob("*/CMakeLists.txt"),
                                                  *(SOURCE / "cmake").glob("*.cmake")])
    for name in options:
        check(re.search(rf"(?:option|set|find_file)\({name}\b", cmake), f"Spack: CMake knows no {name}")
    # What CMake looks for in Debian's folders only, the recipe names: files that its package `d3` installs.
    elsewhere = set(re.findall(r"find_file\((\w+) .*NO_DEFAULT_PATH", cmake))
    check(elsewhere <= set(options), f"Spack: nobody names {elsewhere - set(options)}")
    d3 = {}
    exec((PACKAGING / "spack/packages/d3/package.py").read_text(), d3)  # noqa: S102
    package = d3["D3"]()
    check(package.url_for_version("5.16.0") == f"file://{os.getcwd()}/d3-5.16.0.tgz", "Spack: D3 is looked for elsewhere")
    package.install(None, "/spack/d3")
    for name in elsewhere:
        check(options[name] in {f"/spack/d3/{pathlib.Path(file).name}" for file in installed}, f"Spack: {name} is not installed")
    packages = {re.split(r"[@ ]", what)[0] for what, _ in seen["depends_on"]}
    named_otherwise = {"isal": "isa-l", "expected": "tl-expected", "zlib1g": "zlib-api", "lua5.4": "lua", "sqlite3": "sqlite",
                       "nlohmann-json3": "nlohmann-json"}
    for line in (PACKAGING / "linked.txt").read_text().splitlines():
        library = line.split(" ")[0].removesuffix("-dev").removeprefix("lib")
        if line.startswith("#") or library in ("c6", "stdc++-12", "gcc-12", "node-d3"):
            continue  # of the compiler; charts are optional
        package = named_otherwise.get(library, library)
        check(package in packages, f"Spack: {line.split()[0]} is linked, and no package gives {package}")
    return "loads"


def easybuild(work):
    """The recipe that scripts/release.sh writes: source, checksum, sanity checks, on an installation that was packed."""
    name = f"advise-{VERSION}-linux-x86_64"
    made = run("cmake", "--install", BUILD, "--prefix", work / "packed" / name)
    check(made.returncode == 0, made.stderr)
    archive = work / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(work / "packed" / name, arcname=name)
    text = (PACKAGING / "easybuild/advise.eb.in").read_text()
    text = text.replace("@version@", VERSION).replace("@sha256@", hashlib.sha256(archive.read_bytes()).hexdigest())
    check("@" not in text, "EasyBuild: a place that nobody fills in")
    recipe = {"SYSTEM": "SYSTEM"}
    exec(text, recipe)  # noqa: S102
    for key in ("easyblock", "name", "version", "homepage", "description", "toolchain", "moduleclass"):
        check(recipe.get(key), f"EasyBuild: no {key}")
    check((recipe["easyblock"], recipe["toolchain"]) == ("Tarball", "SYSTEM"), "EasyBuild: it compiles something")
    sources = [source % {"name": recipe["name"], "version": recipe["version"]} for source in recipe["sources"]]
    check(sources == [archive.name], f"EasyBuild: {sources} is not what the release makes")
    check(recipe["checksums"] == [hashlib.sha256(archive.read_bytes()).hexdigest()], "EasyBuild: another checksum")
    # As the block `Tarball`: unpacked, without the one folder at the top.
    root = work / "software"
    with tarfile.open(archive) as tar:
        tar.extractall(root)
    root = root / name
    for file in recipe["sanity_check_paths"]["files"]:
        check((root / file).is_file(), f"EasyBuild: {file} is missing")
    for folder in recipe["sanity_check_paths"]["dirs"]:
        check(any((root / folder).iterdir()), f"EasyBuild: {folder} is empty")
    for command in recipe["sanity_check_commands"]:
        done = run("sh", "-c", command, env={"PATH": f"{root}/bin:/usr/bin:/bin"})
        check(done.returncode == 0, f"EasyBuild: {command}: {done.stderr}")
    return "installs"


def main():
    os.environ.pop("ADVISE_SHARE", None)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.environ["XDG_CONFIG_HOME"] = str(work / "none")
        for name, told in {"Dockerfile": dockerfile(work), "Apptainer": apptainer(work), "Spack": spack(),
                           "EasyBuild": easybuild(work)}.items():
            print(f"{name}: {told}")


main()
