#!/usr/bin/python3
"""cronjob_test.py BUILD: packaging/kubernetes/cronjob.yaml as far as can be without Kubernetes: its shape, and its
command lines over simulated hosts, one after the other. Ends with 77 where that cannot be had."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def skip(why):
    print("skipped:", why)
    sys.exit(77)


try:
    import yaml
except ImportError:
    skip("needs python3-yaml")

HOSTS = 24


def expect(what, wanted, found):
    if wanted != found:
        sys.exit("WRONG: %s: wanted %r, found %r" % (what, wanted, found))


def check_shape(documents):
    expect("kinds", ["CronJob", "CronJob", "PersistentVolumeClaim"], [d["kind"] for d in documents])
    claim = documents[2]["metadata"]["name"]
    for document in documents[:2]:
        expect("apiVersion", "batch/v1", document["apiVersion"])
        expect("fields of a minute and so on", 5, len(document["spec"]["schedule"].split()))
        pod = document["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        if pod["restartPolicy"] not in ("Never", "OnFailure"):
            sys.exit("WRONG: a Job takes no restartPolicy " + pod["restartPolicy"])
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        expect("the claim", claim, volumes["reports"]["persistentVolumeClaim"]["claimName"])
        for container in pod["containers"]:
            mounts = {mount["name"] for mount in container["volumeMounts"]}
            expect("volumes that are mounted", set(volumes), mounts)
            expect("a shell's command", ["/bin/sh", "-c"], container["command"][:2])
    job = documents[0]["spec"]["jobTemplate"]["spec"]
    expect("completionMode", "Indexed", job["completionMode"])
    shards = int(re.search(r"--shard auto/(\d+)", command_of(documents[0])).group(1))
    expect("completions", shards, job["completions"])
    expect("parallelism", shards, job["parallelism"])
    return shards


def command_of(document):
    return document["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"][2]


def main():
    build = os.path.abspath(sys.argv[1])
    with open(SOURCE + "/packaging/kubernetes/cronjob.yaml", encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    shards = check_shape(documents)
    with tempfile.TemporaryDirectory() as folder:
        fleet = subprocess.Popen(
            [build + "/fleet/simfleet", folder + "/fleet", "--hosts", str(HOSTS), "--gpus", "2", "--port", "0"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        try:
            run_all(documents, shards, folder, build)
        finally:
            fleet.stdin.close()
            fleet.wait()


def run_all(documents, shards, folder, build):
    end = time.monotonic() + 40
    while not os.path.exists(folder + "/fleet/ready"):
        if time.monotonic() > end:
            sys.exit("WRONG: the fleet does not begin")
        time.sleep(0.02)
    os.mkdir(folder + "/inventory")
    os.mkdir(folder + "/ssh")
    os.mkdir(folder + "/reports")
    os.symlink(folder + "/fleet/inventory.yaml", folder + "/inventory/fleet.yaml")
    os.symlink(folder + "/fleet/id", folder + "/ssh/id")
    os.symlink(folder + "/fleet/known_hosts", folder + "/ssh/known_hosts")

    def run(document, index=None):
        text = re.sub(r"/(?=(inventory|ssh|reports)/)", folder + "/", command_of(document))
        environment = {"PATH": build + ":/usr/bin:/bin", "HOME": folder}
        if index is not None:
            environment["JOB_COMPLETION_INDEX"] = str(index)
        ended = subprocess.run(["/bin/sh", "-c", text], env=environment, stdin=subprocess.DEVNULL, timeout=120,
                               capture_output=True, text=True)
        return ended.returncode, ended.stdout + ended.stderr

    def verdicts():
        with open(folder + "/reports/fleet.json", encoding="utf-8") as file:
            return [host["verdict"] for host in json.load(file)["hosts"]]

    for index in range(shards):
        expect("index %d" % index, 0, run(documents[0], index)[0])
    expect("merging", 0, run(documents[1])[0])
    expect("hosts", ["clean"] * HOSTS, verdicts())
    expect("reports that are left", ["clean.txt", "fleet.json"], sorted(os.listdir(folder + "/reports")))

    for index in range(1, shards):
        run(documents[0], index)
    status, said = run(documents[1])
    expect("merging without the first shard", 3, status)
    expect("the first shard is named", True, "shard 1/%d has no report" % shards in said)
    missing = verdicts().count("unknown")
    expect("hosts that are known", HOSTS - missing, verdicts().count("clean"))
    expect("an index too far", 2, run(documents[0], shards)[0])
    expect("no index", 2, run(documents[0])[0])
    expect("no report at all", 2, run(documents[1])[0])
    print("as expected")


main()
