#!/usr/bin/python3
"""hold.py INDEX MIB FILE [daemon]: holds memory of a simulated GPU as a CUDA process does (tests/fleet/gpu_memory.hpp),
writes its pid to FILE once it has it, and stays. daemon: behind two forks and in a session of its own."""
import fcntl
import os
import signal
import struct
import sys

F_OFD_SETLK, LISTED = 37, 1 << 30

index, mib, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if sys.argv[4:] == ["daemon"]:
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open("/dev/null", os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
control = os.open("/dev/nvidiactl", os.O_RDWR)
device = os.open("/dev/nvidia%d" % index, os.O_RDWR)
lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, os.getpid() << 32 | LISTED, mib, 0)
fcntl.fcntl(device, F_OFD_SETLK, lock)
with open(file + ".new", "w") as out:
    out.write("%d\n" % os.getpid())
os.rename(file + ".new", file)
signal.pause()
