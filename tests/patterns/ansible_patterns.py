"""Reads INVENTORY<tab>PATTERN, one a line, and prints for each which hosts Ansible's --limit selects: =HOST<tab>HOST,
or ! and what it says. The inventories are in the folder that is named."""
import os
import sys

os.environ["ANSIBLE_LOCALHOST_WARNING"] = "False"
os.environ["ANSIBLE_INVENTORY_UNPARSED_WARNING"] = "False"

from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.utils.display import Display

folder = sys.argv[1]
managers = {}
warnings = []
Display.warning = lambda self, text, formatted=False: warnings.append(text)

for line in sys.stdin:
    inventory, pattern = line.rstrip("\n").split("\t")
    if inventory not in managers:
        managers[inventory] = InventoryManager(DataLoader(), sources=[os.path.join(folder, inventory)])
    manager = managers[inventory]
    try:
        manager.subset(pattern)
        print("=" + "\t".join(sorted({host.name for host in manager.get_hosts("all")})))
    except AnsibleError as error:
        print("!" + " ".join(str(error).split()))
    manager.subset(None)
