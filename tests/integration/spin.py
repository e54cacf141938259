# SPDX-License-Identifier: BSD-3-Clause
"""Make one thread of a process spin, and let it go on later: by ptrace, so the program has no hook for it.

The two bytes EB FE, "jump to myself", stand somewhere in any large program's code; the thread is sent there.
"""
import contextlib
import ctypes
import os

GETREGS, SETREGS, DETACH, SEIZE, INTERRUPT = 12, 13, 17, 0x4206, 0x4207
REGISTERS, ORIG_RAX, RIP = 27, 15, 16  # struct user_regs_struct of x86-64
WALL = 0x40000000
JUMP_TO_MYSELF = b'\xeb\xfe'

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, thread, data=None):
    if libc.ptrace(request, thread, None, data) == -1:
        raise OSError(ctypes.get_errno(), f'ptrace request {request}')


def find_jump(pid):
    """The address of a jump to itself in the process's code."""
    with open(f'/proc/{pid}/maps', encoding='utf-8') as maps, open(f'/proc/{pid}/mem', 'rb') as memory:
        for line in maps:
            area, rights = line.split()[:2]
            start, end = (int(text, 16) for text in area.split('-'))
            if 'x' not in rights or start >= 1 << 47:
                continue
            memory.seek(start)
            offset = memory.read(end - start).find(JUMP_TO_MYSELF)
            if offset >= 0:
                return start + offset
    raise AssertionError('no jump to itself anywhere in the code')


@contextlib.contextmanager
def stopped(thread):
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, WALL)
    yield
    ptrace(DETACH, thread)


@contextlib.contextmanager
def spinning(pid, thread):
    """While the body runs, the thread is at 100% and gets nothing done."""
    before = (ctypes.c_ulonglong * REGISTERS)()
    jump = find_jump(pid)
    with stopped(thread):
        ptrace(GETREGS, thread, ctypes.addressof(before))
        away = type(before)(*before)
        away[RIP] = jump
        away[ORIG_RAX] = ctypes.c_ulonglong(-1).value  # not in a system call: the kernel is to restart none
        ptrace(SETREGS, thread, ctypes.addressof(away))
    try:
        yield
    finally:
        with stopped(thread):
            ptrace(SETREGS, thread, ctypes.addressof(before))
