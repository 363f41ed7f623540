"""Where things lie, and building what is measured besides the server."""
import os
import subprocess
import sys

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARTLET = os.path.join(os.path.dirname(HOME), ".build", "release", "martlet")
# All that is made here and may be thrown away: programs, certificates, prepared data.
WORK = os.path.join(HOME, ".build", "work")
SINK = os.path.join(WORK, "sink")
FLOOR = os.path.join(WORK, "floor")
LOAD = os.path.join(HOME, ".build", "release", "LoadGenerator")
CERTIFICATE = os.path.join(WORK, "certificate.pem")
KEY = os.path.join(WORK, "key.pem")

# The side that is measured has one core for itself, the sink the other.
MEASURED_CORE, SINK_CORE = 0, min(1, os.cpu_count() - 1)
BOTH_CORES = "0,1"


def on_core(core, command):
    return ["taskset", "--cpu-list", str(core), *command]


def everything():
    server()
    sink_and_generator()


def server():
    if not os.path.exists(MARTLET):
        sys.exit("Benchmarks: there is no release binary; run `make build`")


def sink_and_server():
    server()
    two_cores()
    sink()


def two_cores():
    if os.cpu_count() < 2:
        sys.exit("Benchmarks: two cores are needed, one for each side")


def sink_and_generator():
    two_cores()
    sink()
    floor()
    package = ["swift", "build", "--package-path", HOME, "-c", "release", "--static-swift-stdlib"]
    subprocess.run([*package, "--product", "LoadGenerator"], check=True, stdout=sys.stderr)


def sink():
    program(SINK, "Sink", "-lnghttp2")
    if not os.path.exists(KEY):
        make_certificate()


def floor():
    program(FLOOR, "Floor", "-lsqlite3")


def program(path, folder, *libraries):
    os.makedirs(WORK, exist_ok=True)
    folder = os.path.join(HOME, folder)
    sources = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".c")]
    options = ["-O2", "-march=native", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    libraries = [*libraries, "-lssl", "-lcrypto"]
    subprocess.run(["gcc", *options, "-o", path, *sources, *libraries], check=True)


def make_certificate():
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]
    subprocess.run(
        ["openssl", "req", "-x509", *kind, "-subj", "/CN=localhost", "-addext", names, "-keyout", KEY,
         "-out", CERTIFICATE],
        check=True, stderr=subprocess.DEVNULL)
