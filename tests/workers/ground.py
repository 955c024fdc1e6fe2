"""The machines of a test of workers: sshd in namespaces of their own, a network that can be cut, and SLURM.

`inside` has given us namespaces, so nothing here has to be undone but the scratch folder:

    ROOT/bin            skilltune and the scripted agent of the test suite
    ROOT/coordinator    project, settings, cache and HOME of the coordinator: no worker has this folder
    ROOT/workers/NAME   a machine's own files, which the machine itself sees at ROOT/worker
    ROOT/shared         what all machines see, as a cluster's file system
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Each machine hides what it must not have, and has its own files where all machines have theirs.
ENTER = """
set -e
mount --rbind "$ROOT/workers/$NAME" "$ROOT/worker"
mount -t tmpfs tmpfs "$ROOT/coordinator"
mount -t tmpfs tmpfs "$REAL_HOME"
cd /
exec "$@"
"""

SSHD = """
ListenAddress {address}
Port {port}
HostKey {ssh}/host
AuthorizedKeysFile {ssh}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxSessions 100
MaxStartups 100
SetEnv {env}
"""

SSH_CONFIG = """
Host *
  User root
  IdentityFile {ssh}/user
  IdentitiesOnly yes
  BatchMode yes
  ConnectTimeout 5
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
  ControlMaster auto
  ControlPath {ssh}/m-%n
  ControlPersist 60
  ServerAliveInterval 2
  ServerAliveCountMax 3
"""

SLURM = """
ClusterName=ground
SlurmctldHost=ground(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
KillWait=5
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def arguments(about, more=lambda parser: None):
    """Reads the arguments that all tests take."""
    parser = argparse.ArgumentParser(description=about)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target")).resolve() / "debug"
    parser.add_argument("--binary", type=Path, default=target / "skilltune")
    parser.add_argument("--agent", type=Path, help="the scripted agent; by default beside the binary")
    parser.add_argument("--keep", action="store_true", help="keep the scratch folder")
    parser.add_argument("--seed", type=int, default=47)
    more(parser)
    read = parser.parse_args()
    read.agent = read.agent or read.binary.parent / "fake-agent"
    for program in (read.binary, read.agent):
        if not program.exists():
            parser.error(f"{program} is missing: cargo build --workspace --all-features")
    return read


class Ground:
    """The scratch folder, and the machines that were started in it."""

    def __init__(self, read):
        self.root = Path(tempfile.mkdtemp(prefix="workers-"))
        self.keep, self.random = read.keep, random.Random(read.seed)
        self.started, self.mounts, self.listeners, self.ports = [], [], {}, iter(range(2201, 2299))
        for folder in ("bin", "coordinator", "workers", "worker", "shared", "ssh"):
            (self.root / folder).mkdir()
        self.skilltune, self.agent = self.root / "bin/skilltune", self.root / "bin/fake-agent"
        shutil.copy(read.binary, self.skilltune)
        shutil.copy(read.agent, self.agent)
        self.ssh = self.root / "ssh"
        self.config = self.ssh / "config"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.kill()
            process.wait()
        for pid in list(pids()):
            # The processes of these namespaces are all ours: what a test has left, such as a master connection.
            if pid not in (1, os.getpid()):
                end(pid)
        for mount in self.mounts:
            subprocess.run(["umount", "--lazy", mount])
        if self.keep:
            print(f"kept: {self.root}")
        else:
            shutil.rmtree(self.root, ignore_errors=True)

    def start(self, argv, log, **more):
        """Starts a server, which ends with the ground."""
        with open(log, "ab") as out:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more)
        self.started.append(process)
        return process

    def machine(self, name, script, agents=True):
        """Writes the files of a machine: its settings and its scripted agent. Returns its HOME as the machine sees it."""
        own = self.root / "workers" / name
        (own / "home/.config/skilltune").mkdir(parents=True)
        (own / "calls.log").touch()
        script = {"log": str(self.root / "worker/calls.log"), **script}
        (own / "script.json").write_text(json.dumps(script))
        settings = self.agent_settings(self.root / "worker/script.json") if agents else ""
        (own / "home/.config/skilltune/skilltune.toml").write_text(settings)
        return self.root / "worker/home"

    def disk(self, folder, size):
        """Puts a disk of this size at a folder."""
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
        self.mounts.append(folder)

    def agent_settings(self, script):
        command = json.dumps([str(self.agent), "any", str(script)])
        return f"[agents.mine]\ncommand = {command}\n"

    def enter(self, name, argv, net=()):
        """Returns the command that runs `argv` on a machine, and its environment."""
        env = {**os.environ, "ROOT": str(self.root), "NAME": name, "REAL_HOME": os.path.expanduser("~root")}
        return [*net, "unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", *argv], env

    def sshd(self, name, script, agents=True, env=None, network=None, prepare=lambda own: None):
        """Starts a machine with an sshd, in a network of its own if it has one. Returns the command for a worker on it."""
        home = self.machine(name, script, agents)
        prepare(self.root / "workers" / name)
        if not self.config.exists():
            for key in ("host", "user"):
                subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.ssh / key], check=True)
            self.config.write_text(SSH_CONFIG.format(ssh=self.ssh))
        address, net = (network.inner, network.enter) if network else ("127.0.0.1", ())
        port = next(self.ports)
        env = " ".join(f"{key}={value}" for key, value in {"HOME": home, **(env or {})}.items())
        page = self.ssh / f"{name}.sshd"
        page.write_text(SSHD.format(address=address, port=port, ssh=self.ssh, env=env))
        old = self.config.read_text()
        self.config.write_text(f"Host {name}\n  HostName {address}\n  Port {port}\n{old}")
        argv, own = self.enter(name, ["/usr/sbin/sshd", "-D", "-e", "-f", page], net)
        self.listeners[name] = self.start(argv, self.ssh / f"{name}.log", env=own)
        until(lambda: self.answers(name), 20, f"sshd of {name} does not answer")
        return ["ssh", "-F", str(self.config), name, str(self.skilltune), "step", "--take", "-"]

    def answers(self, name):
        argv = ["ssh", "-F", self.config, name, "test", "!", "-e", self.root / "coordinator/project"]
        nothing = subprocess.DEVNULL
        return subprocess.run(argv, stdin=nothing, stdout=nothing, stderr=nothing).returncode == 0

    def sessions(self):
        """Returns the processes of sshd that serve a connection."""
        listeners = {process.pid for process in self.listeners.values()}
        return [pid for pid in pids() if parent(pid) in listeners]

    def workers(self):
        """Returns the workers that run now."""
        return [pid for pid in pids() if program(pid) == self.skilltune and b"--take" in argv_of(pid)]

    def agents(self, network=None):
        """Returns the agents that run now, on all machines or on those of one network."""
        def is_there(pid):
            return network is None or namespace(pid) == network.namespace()
        return [pid for pid in pids() if program(pid) == self.agent and is_there(pid)]

    def forget(self, name):
        """Empties the store of a machine: it would answer the calls of another run on the same input from there."""
        shutil.rmtree(self.root / "workers" / name / "home/.cache", ignore_errors=True)

    def calls(self, name):
        """Returns how many calls the agent of a machine has begun."""
        lines = (self.root / "workers" / name / "calls.log").read_text().splitlines()
        return sum(line.startswith("start ") for line in lines)


class Network:
    """A network with one machine, and a cable to it."""

    def __init__(self, name="far"):
        self.name, self.inner = name, "10.47.0.2"
        self.enter = ["ip", "netns", "exec", name]
        for line in (
            f"ip netns add {name}",
            f"ip link add cable0 type veth peer name cable1 netns {name}",
            "ip address add 10.47.0.1/30 dev cable0",
            "ip link set cable0 up",
            f"ip -n {name} address add {self.inner}/30 dev cable1",
            f"ip -n {name} link set cable1 up",
            f"ip -n {name} link set lo up",
        ):
            subprocess.run(line.split(), check=True)

    def cut(self):
        subprocess.run(["ip", "link", "set", "cable0", "down"], check=True)

    def mend(self):
        subprocess.run(["ip", "link", "set", "cable0", "up"], check=True)

    def namespace(self):
        return os.stat(f"/run/netns/{self.name}").st_ino


class Slurm:
    """SLURM with nodes of two processors each. They share one machine's files."""

    def __init__(self, ground, script, nodes=2):
        self.ground, self.place = ground, ground.root / "slurm"
        for folder in ("munge", "state"):
            (self.place / folder).mkdir(parents=True)
        for nth in range(1, nodes + 1):
            (self.place / f"spool-n{nth}").mkdir()
        self.home = ground.machine("slurm", script)
        self.page = self.place / "slurm.conf"
        node = "NodeName=n{0} NodeHostname=ground NodeAddr=127.0.0.1 Port={1} CPUs=2 RealMemory=4096 State=UNKNOWN"
        nodes = [node.format(nth, 6820 + nth) for nth in range(1, nodes + 1)]
        self.page.write_text(SLURM.format(place=self.place, nodes="\n".join(nodes)))
        key = self.place / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        munge = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{option}={self.place}/munge/{name}" for option, name in munge.items()]
        ground.start(["munged", "--force", "--foreground", *options], self.place / "munge/out")
        until((self.place / "munge/socket").exists, 20, "munged does not start")
        self.env = {"SLURM_CONF": str(self.page)}
        ground.start(["slurmctld", "-D", "-f", self.page], self.place / "slurmctld.out")
        for nth in range(1, len(nodes) + 1):
            argv, env = ground.enter("slurm", ["slurmd", "-D", "-N", f"n{nth}", "-f", self.page])
            ground.start(argv, self.place / f"slurmd-n{nth}.out", env=env)
        until(lambda: self.ask("sinfo", "-h", "-t", "idle", "-o", "%D") == str(len(nodes)), 60, "no idle nodes")

    def ask(self, *argv):
        return subprocess.run(argv, env={**os.environ, **self.env}, stdout=subprocess.PIPE, text=True).stdout.strip()

    def srun(self):
        """Returns the command for a worker. Without `--export` a job has the coordinator's HOME, which no node has."""
        export = f"--export=HOME={self.home},PATH=/usr/bin:/bin"
        job = ["srun", "--quiet", "--ntasks=1", "--mem=1G", "--chdir=/tmp", export]
        return [*job, str(self.ground.skilltune), "step", "--take", "-"]

    def set_node(self, node, state):
        reason = ["reason=test"] if state == "down" else []
        self.ask("scontrol", "update", f"nodename={node}", f"state={state}", *reason)

    def jobs(self, state):
        return len(self.ask("squeue", "-h", "-r", "-t", state, "-o", "%i").splitlines())


def pids():
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def stat_of(pid):
    """Returns the fields of a process after its name, or nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    except OSError:
        return None


def parent(pid):
    fields = stat_of(pid)
    return int(fields[1]) if fields else None


def program(pid):
    try:
        return Path(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return None


def argv_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def namespace(pid):
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino
    except OSError:
        return None


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def until(is_done, seconds, complaint):
    """Waits until something is done, and fails after that time."""
    limit = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > limit:
            sys.exit(f"FAILED: {complaint}")
        time.sleep(0.05)


class Report:
    """What a test has found: lines for people, and whether all is well."""

    def __init__(self):
        self.failed = False

    def say(self, what, value):
        print(f"{what}: {value}", flush=True)

    def must(self, what, is_well, value=""):
        self.failed |= not is_well
        print(f"{'ok' if is_well else 'FAILED'}: {what}{f': {value}' if value != '' else ''}", flush=True)

    def exit(self):
        sys.exit(1 if self.failed else 0)
