"""Reads node sets, one a line, and prints for each the names that ClusterShell unfolds it to, or what it says.

With --fold each line is names with blanks between, and what is printed is the node set.
"""
import sys

from ClusterShell.NodeSet import NodeSet, RESOLVER_NOGROUP

MOST = 5000

for line in sys.stdin:
    text = line.rstrip("\n")
    try:
        if "--fold" in sys.argv:
            nodes = NodeSet(resolver=RESOLVER_NOGROUP)
            for name in text.split(" "):
                nodes.add(name)
            print(nodes)
            continue
        nodes = NodeSet(text, resolver=RESOLVER_NOGROUP)
        names = list(nodes) if len(nodes) <= MOST else []
        print("=" + "\t".join(names) if names else "!too many or none")
    except Exception as error:  # whatever it says is an answer
        print("!" + " ".join(str(error).split()))
    sys.stdout.flush()
