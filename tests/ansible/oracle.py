#!/usr/bin/python3
"""Inventories read by cleanslate and by Ansible: hosts, groups and settings must be the same.

Usage: oracle.py CLEANSLATE SOURCE_FOLDER    Ends with 77 where Ansible is not installed.
"""
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

os.environ["ANSIBLE_CONFIG"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ansible.cfg")

try:
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader
    from ansible.vars.manager import VariableManager
except ImportError:
    print("skipped: Ansible (ansible-core) is not installed")
    sys.exit(77)

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
HERE = os.path.join(SOURCE, "tests", "ansible")
CONFIG = os.path.join(HERE, "ansible.cfg")  # instead of whoever's runs this
TRUE, FALSE = ("true", "yes", "on", "y", "t", "1"), ("false", "no", "off", "n", "f", "0")


class Case:
    """One inventory of inventories.txt."""

    def __init__(self, name):
        self.name, self.files, self.paths, self.programs = name, {}, [], []
        self.real, self.differs, self.refused = False, None, None

    def header(self, line):
        word, _, rest = line.partition(" ")
        if word == "-i":
            self.paths += line.replace("-i ", "").split()
        elif word == "program":
            self.programs.append(rest)
        elif word == "real":
            self.real = True
        elif word == "differs":
            self.differs = rest
        elif word == "refused":
            key, _, text = rest.partition(" ")
            self.refused = (key, text)
        elif line:
            sys.exit(f"inventories.txt: {self.name}: what is '{line}'?")

    def write(self, folder):
        for path, text in self.files.items():
            whole = os.path.join(folder, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)
            if path in self.programs:
                os.chmod(whole, 0o755)
        return [os.path.join(folder, path) for path in self.paths or ["hosts.yml"]]


def read_cases():
    cases, file = [], None
    with open(os.path.join(HERE, "inventories.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("=== "):
                cases.append(Case(line[4:].strip()))
                file = None
            elif line.startswith("--- ") and cases:
                file = line[4:].strip()
                cases[-1].files[file] = ""
            elif file is not None:
                cases[-1].files[file] += line
            elif cases:
                cases[-1].header(line.strip())
    for case in cases:  # a blank line stands between two cases
        for path in case.files:
            case.files[path] = case.files[path].rstrip("\n") + "\n"
    return cases


def read_differences():
    with open(os.path.join(HERE, "differences.txt"), encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines if not line.startswith("#"))


def first(variables, *names):
    return next((variables[name] for name in names if variables.get(name) is not None), None)


def truth(value):
    word = str(value).strip().lower()
    return None if value is None else True if word in TRUE else False if word in FALSE else value


def number(value):
    return None if value is None else int(value)


def ssh_options(variables):
    """What ssh's command line says, as Ansible puts it together: the first of each counts."""
    words = shlex.split(variables.get("ansible_ssh_args") or "")
    check = truth(first(variables, "ansible_ssh_host_key_checking", "ansible_host_key_checking"))
    if check is False:
        words += ["-o", "StrictHostKeyChecking=no"]
    for option, value in (
        ("Port", first(variables, "ansible_ssh_port", "ansible_port")),
        ("IdentityFile", first(variables, "ansible_ssh_private_key_file", "ansible_private_key_file")),
        ("User", first(variables, "ansible_ssh_user", "ansible_user")),
    ):
        if value is not None:
            words += ["-o", f"{option}={value}"]
    for name in ("ansible_ssh_common_args", "ansible_ssh_extra_args"):
        words += shlex.split(variables.get(name) or "")
    said = {"identityfile": []}
    letters = {"p": "port", "l": "user", "i": "identityfile", "J": "proxyjump"}
    while words:
        word = words.pop(0)
        letter, rest = word[1], word[2:]
        if letter not in "plioJ":
            continue
        value = rest or words.pop(0)
        key = letters.get(letter)
        if key is None:
            key, value = re.fullmatch(r"(\w+)(?:\s*=\s*|\s+)(.*)", value).groups()
            key = key.lower()
        if key == "identityfile":
            said[key].append(value)
        else:
            said.setdefault(key, value)
    if "proxycommand" in said:
        said["proxyjump"] = shlex.split(said["proxycommand"])[-1]
    return said


def settings(name, variables, fill):
    variables = {key: fill(value) for key, value in variables.items()}
    said = ssh_options(variables)
    checks = {"no": "off", "yes": "strict", "ask": "strict", "accept-new": "accept-new", None: None}
    known = said.get("userknownhostsfile")
    return {
        "address": str(first(variables, "ansible_ssh_host", "ansible_host") or name),
        "port": number(said.get("port")),
        "user": said.get("user"),
        "identity_files": said["identityfile"],
        "proxy_jump": said.get("proxyjump") or variables.get("proxy_jump"),
        "known_hosts": known.split() if known else None,
        "host_key_check": checks[said.get("stricthostkeychecking")],
        "become": truth(variables.get("ansible_become")),
        "gpus": number(variables.get("gpus")),
        "max_used_mib": number(variables.get("max_used_mib")),
    }


def ansibles(paths):
    """Name of a host -> its groups and settings, as Ansible has them."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        loader = DataLoader()
        inventory = InventoryManager(loader=loader, sources=paths)
        manager = VariableManager(loader=loader, inventory=inventory)
        hosts = {}
        for host in inventory.get_hosts("all"):
            variables = manager.get_vars(host=host, include_hostvars=False, stage="all")

            def fill(value, host=host):
                if not isinstance(value, str):
                    return value
                value = re.sub(r"{{\s*inventory_hostname\s*}}", host.name, value)
                return re.sub(r"{{\s*inventory_hostname_short\s*}}", host.name.split(".")[0], value)

            groups = {group.name for group in host.get_groups()} | {"all"}
            hosts[host.name] = {"groups": sorted(groups), **settings(host.name, variables, fill)}
        return hosts


def ask(*arguments):
    environment = {**os.environ, "ANSIBLE_CONFIG": CONFIG}
    environment.pop("CLEANSLATE_INVENTORY", None)
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, check=False, env=environment, timeout=120
    )


def ours(paths):
    """The same as cleanslate has them, or why not."""
    named = [word for path in paths for word in ("-i", path)]
    ended = ask("hosts", *named, "--format", "json")
    if ended.returncode != 0:
        return None, ended.stderr
    hosts = {}
    for host in json.loads(ended.stdout)["hosts"]:
        first_key = [host["identity_file"]] if host["identity_file"] else []
        host["identity_files"] = first_key + host["more_identity_files"]
        wanted = ("groups", *settings("", {}, lambda value: value))
        hosts[host["name"]] = {key: host[key] for key in wanted}
    return hosts, ended.stderr


def unequal(case, left, right):
    lines = []
    for name in sorted(set(left) | set(right)):
        one, other = left.get(name), right.get(name)
        if one is None or other is None:
            lines.append(f"{case.name}: {name}: only {'cleanslate' if other is None else 'Ansible'} has it")
            continue
        lines += [
            f"{case.name}: {name}: {key}: cleanslate has {one[key]}, Ansible {other[key]}"
            for key in one
            if one[key] != other[key]
        ]
    return lines


def check(case, paths):
    """What is wrong with a case, in lines."""
    mine, error = ours(paths)
    if case.refused:
        if mine is not None:
            return [f"{case.name}: cleanslate does not refuse it"]
        return [] if case.refused[1] in error else [f"{case.name}: refused, but for another reason: {error}"]
    if mine is None:
        return [f"{case.name}: refused: {error}"]
    theirs = ansibles(paths)
    wrong = unequal(case, mine, theirs)
    if case.differs:
        return [] if wrong else [f"{case.name}: there is no difference"]
    if not theirs:
        wrong.append(f"{case.name}: Ansible reads no host")
    if case.real:  # the same through the program
        through, error = ours(["ansible:" + path for path in paths])
        wrong += unequal(case, through, theirs) if through is not None else [f"{case.name}: ansible: {error}"]
    return wrong


def main():
    cases, differences = read_cases(), read_differences()
    with open(os.path.join(SOURCE, "docs", "inventory-format.md"), encoding="utf-8") as file:
        told = " ".join(file.read().split())
    wrong = [f"docs/inventory-format.md does not say: {text}" for text in differences.values() if text not in told]
    used = {case.differs or case.refused[0] for case in cases if case.differs or case.refused}
    wrong += [f"no such difference: {key}" for key in used - set(differences)]
    wrong += [f"a difference without a case: {key}" for key in set(differences) - used]
    with tempfile.TemporaryDirectory() as root:
        for index, case in enumerate(cases):
            wrong += check(case, case.write(os.path.join(root, str(index))))
    for line in wrong:
        print(line)
    print(f"{len(cases)} inventories, {len(wrong)} things wrong")
    return 1 if wrong or len(cases) < 60 else 0


sys.exit(main())
